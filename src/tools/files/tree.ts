/** What lies below a directory, one entry at a time, as far as the policy shows it. */

import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { Ignore } from 'ignore'
import ignore from 'ignore'
import { secretShape } from '../../files/secret-shapes.ts'
import { hidesSomething, shownCharacters } from '../../scan/visible-text.ts'
import { Fault } from '../../system/fault.ts'
import type { CheckedPath, EntryType } from '../../system/guarded/guarded-files.ts'
import { InputError, type JudgedPath, type PathAccess, type ToolContext } from '../tool.ts'

export interface TreeEntry {
  readonly path: CheckedPath
  /** Below the directory the walk began at. */
  readonly relative: string
  readonly name: string
  readonly type: EntryType
}

export interface TreeOptions {
  /** Leave out what `.gitignore` files name, and the folders of version control. */
  readonly ignore: boolean
  /** Everything counts, also what a listing would not show. */
  readonly everything?: boolean
  /** False keeps the walk out of a directory. */
  readonly enter?: (entry: TreeEntry) => boolean
}

const VERSION_CONTROL: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', '.jj'])
const MAX_ENTRIES = 1_000_000
const MAX_DEPTH = 256
const PAUSE_EVERY = 512
const MAX_PEEK = 5000

/**
 * Walks a directory in the order of names, without following links. What may not be listed is left out, as is what may
 * not be read when listings are filtered. A directory that goes away or may not be opened meanwhile is passed over.
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

/** True when a listing may name this path, which was judged as one to list. */
export function isShown({ path, verdict }: JudgedPath, type: EntryType, context: ToolContext): boolean {
  if (verdict === 'deny') return false
  if (!context.filterListings) return true
  const found = context.judge('read', path).verdict
  // A directory that no grant covers as a whole may still be the way to something that one does.
  return found === 'allow' || (type === 'directory' && found === 'ask')
}

/** Whether a filtered listing names a directory: something below it may be read. One too large to tell is left out. */
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
 * Refuses an act on a directory when the policy is stricter about something below it than about the directory itself:
 * a yes to the whole is not a yes to the part. `as` is the directory whose rules count, when the tree is to be there.
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
    if (verdict === 'allow' || verdict === granted) continue
    throw new InputError(
      `${path} may not be ${access === 'read' ? 'read' : 'changed'}, though ${as} may; name the parts of ${root} that you mean instead`,
    )
  }
}

/**
 * Which files below a directory may be read, once reading the directory was allowed. Where a person had to say yes to
 * the directory, that yes covers the files for which the same would be asked, and never a secret among them.
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

/** The rules of one file, and the directory they hold below: empty for the top, else ending in a slash. */
interface IgnoreFile {
  readonly below: string
  readonly rules: Ignore
}

/** Longer files and lines are no one's handwriting, and each rule is an expression to be matched. */
const MAX_RULES = 2000
const MAX_LENGTH = 500

/** Parses a file that is in the directory `below`. */
export function parseIgnoreFile(text: string, below: string): IgnoreFile {
  const lines = text
    .split(/\r?\n/)
    .slice(0, MAX_RULES)
    .filter((line) => line.length <= MAX_LENGTH)
  return { below, rules: ignore({ allowRelativePaths: false }).add(lines) }
}

/** True when the nearest file that says anything says to pass it over. Files are given from the top down. */
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

/** The name as it is, or as a JSON string with escapes when it holds characters that are not shown as they are. */
export function visibleName(name: string): string {
  if (!hidesSomething(name)) return name
  const written = shownCharacters(name).map(({ source, escaped }) => (escaped ? jsonEscape(source) : jsonPlain(source)))
  return `"${written.join('')}"`
}

function jsonPlain(character: string): string {
  return JSON.stringify(character).slice(1, -1)
}

/** By code units, as JSON has it, so that a reader gets the name back. */
function jsonEscape(character: string): string {
  const short = jsonPlain(character)
  if (short !== character) return short
  return character.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
