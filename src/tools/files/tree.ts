/** Walks a directory as far as the policy shows it. */

import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Ignore } from 'ignore'
import ignore from 'ignore'
import { isBelowGit } from '../../files/git-links.ts'
import { secretShape } from '../../files/secret-shapes.ts'
import { hidesSomething, shownCharacters } from '../../scan/visible-text.ts'
import { Fault } from '../../system/fault.ts'
import type { CheckedPath, EntryType } from '../../system/guarded/guarded-files.ts'
import { InputError, type JudgedPath, type PathAccess, type ToolContext } from '../tool.ts'

export interface TreeEntry {
  readonly path: CheckedPath
  /** Below the walk's start. */
  readonly relative: string
  readonly name: string
  readonly type: EntryType
}

export interface TreeOptions {
  /** Skip files in `.gitignore` and folders of version control. */
  readonly ignore: boolean
  /** Includes what listings hide. */
  readonly everything?: boolean
  /** False skips a directory. */
  readonly enter?: (entry: TreeEntry) => boolean
}

const VERSION_CONTROL: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj'])
const MAX_ENTRIES = 1_000_000
const MAX_DEPTH = 256
const PAUSE_EVERY = 512
const MAX_PEEK = 5000

/**
 * Walks in the order of names without following links. Skips what may not be listed, with filtered
 * listings also what may not be read, and directories that disappear.
 */
export async function* walkTree(
  root: CheckedPath,
  context: ToolContext,
  options: TreeOptions,
): AsyncGenerator<TreeEntry> {
  const seen = { count: 0 }
  const rules = options.ignore ? readIgnoreFile(root, '', context) : []
  yield* walk(root, '', rules, 0, seen, context, options)
}

async function* walk(
  directory: CheckedPath,
  prefix: string,
  rules: readonly IgnoreFile[],
  depth: number,
  seen: { count: number },
  context: ToolContext,
  options: TreeOptions,
): AsyncGenerator<TreeEntry> {
  if (depth > MAX_DEPTH) throw new InputError(`${directory} lies more than ${MAX_DEPTH} directories deep; begin lower`)
  for (const { name, type } of listed(directory, depth, context)) {
    if (++seen.count > MAX_ENTRIES) throw new InputError(`more than ${MAX_ENTRIES} entries; give a narrower "path"`)
    if (seen.count % PAUSE_EVERY === 0) await setImmediate()
    context.signal.throwIfAborted()
    const relative = prefix + name
    if (options.ignore && (VERSION_CONTROL.has(name) || isIgnored(rules, relative, type === 'directory'))) continue
    const judged = context.judge('list', posix.join(directory, name))
    if (!options.everything && !isShown(judged, type, context)) continue
    const entry = { path: judged.path, relative, name, type }
    yield entry
    if (type !== 'directory' || !(options.enter?.(entry) ?? true)) continue
    const below = options.ignore ? [...rules, ...readIgnoreFile(entry.path, `${entry.relative}/`, context)] : rules
    yield* walk(entry.path, `${entry.relative}/`, below, depth + 1, seen, context, options)
  }
}

/** Whether a listing may name this path. */
export function isShown({ path, verdict }: JudgedPath, type: EntryType, context: ToolContext): boolean {
  if (verdict === 'deny') return false
  if (!context.filterListings) return true
  const found = context.judge('read', path).verdict
  // An ungranted directory may contain something granted.
  return found === 'allow' || (type === 'directory' && found === 'ask')
}

/** Whether a filtered listing names a directory: something below may be read. */
export async function holdsReadable(path: CheckedPath, context: ToolContext): Promise<boolean> {
  if (!context.filterListings || context.judge('read', path).verdict === 'allow') return true
  let seen = 0
  for await (const entry of walkTree(path, context, { ignore: false })) {
    if (entry.type !== 'directory') return true
    if (++seen > MAX_PEEK) return false
  }
  return false
}

/**
 * Refuses an action on a directory if the policy is stricter about something below: a yes to the
 * whole is not a yes to the part. `as`: the directory whose rules apply after a move.
 */
export async function requireWholeTree(
  access: PathAccess,
  root: CheckedPath,
  context: ToolContext,
  as: CheckedPath = root,
): Promise<void> {
  const granted = context.judge(access, as).verdict
  for await (const entry of walkTree(root, context, { ignore: false, everything: true })) {
    const { path, verdict } = context.judge(access, posix.join(as, entry.relative))
    if (entry.type === 'link' && isBelowGit(path) && !isBelowGit(entry.path))
      throw new InputError(`${entry.path} is a link, and git would write through it below ${as}; move it with bash`)
    if (verdict === 'allow' || verdict === granted) continue
    throw new InputError(
      `${path} may not be ${access === 'read' ? 'read' : 'changed'}, though ${as} may; name the parts of ${root} that you mean instead`,
    )
  }
}

/**
 * Which files below an allowed directory may be read. A person's yes covers files that would ask
 * for the same reason, never secrets.
 */
export function readableBelow(root: CheckedPath, context: ToolContext): (path: string) => boolean {
  const granted = context.judge('read', root).verdict
  return (path) => {
    const found = context.judge('read', path).verdict
    return found === 'allow' || (found === 'ask' && granted === 'ask' && secretShape(path) === null)
  }
}

function listed(directory: CheckedPath, depth: number, context: ToolContext) {
  try {
    return context.files.list(directory)
  } catch (error) {
    if (depth > 0 && error instanceof Fault) return []
    throw error
  }
}

function readIgnoreFile(directory: string, prefix: string, context: ToolContext): readonly IgnoreFile[] {
  const { path, verdict } = context.judge('read', posix.join(directory, '.gitignore'))
  if (verdict !== 'allow') return []
  try {
    return [parseIgnoreFile(context.files.read(path, 1024 * 1024).bytes.toString('utf8'), prefix)]
  } catch (error) {
    if (error instanceof Fault) return []
    throw error
  }
}

/** A file's rules, and the directory they apply to: empty, or ending in a slash. */
interface IgnoreFile {
  readonly below: string
  readonly rules: Ignore
}

/** Limits the rules, each of which is a regular expression. */
const MAX_RULES = 2000
const MAX_LENGTH = 500

/** Parses a file of the directory `below`. */
export function parseIgnoreFile(text: string, below: string): IgnoreFile {
  const lines = text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .filter((line) => line.length <= MAX_LENGTH)
  return { below, rules: ignore({ allowRelativePaths: false }).add(lines) }
}

/** The nearest matching rule decides. Files are given from the top down. */
export function isIgnored(files: readonly IgnoreFile[], relative: string, directory: boolean): boolean {
  for (let index = files.length - 1; index >= 0; index--) {
    const { below, rules } = files[index]!
    if (!relative.startsWith(below) || relative === below) continue
    const path = relative.slice(below.length)
    const { ignored, unignored } = rules.test(directory ? `${path}/` : path)
    if (ignored || unignored) return ignored
  }
  return false
}

/** The name, or a JSON string if it contains invisible characters. */
export function visibleName(name: string): string {
  if (!hidesSomething(name)) return name
  const written = shownCharacters(name).map(({ source, escaped }) => (escaped ? jsonEscape(source) : jsonPlain(source)))
  return `"${written.join('')}"`
}

function jsonPlain(character: string): string {
  return JSON.stringify(character).slice(1, -1)
}

/** Escapes code units as JSON does. */
function jsonEscape(character: string): string {
  const short = jsonPlain(character)
  if (short !== character) return short
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
