/** Commands inside a project's skills and commands, which agents run outside every hook. */

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parseSettings, recordOf } from '../system/json.ts'
import type { Machine } from '../system/machine.ts'
import { createTrustStore, type TrustStatus, trustHash, trustStatus } from '../tools/custom/trust.ts'
import { filesBelow, foldersNamed, inlineCommands, MAX_ENTRIES, mentionedPaths } from './walk.ts'

export interface InlineCommands {
  /** The name derived from its path. */
  readonly own: string
  /** Names it may be called by, its own first; null if any name may be meant. */
  readonly names: readonly string[] | null
  readonly path: string
  readonly commands: readonly string[]
  /** Its front matter starts programs, which hosts run regardless of their settings. */
  readonly isArmed: boolean
  /** Files that its text mentions with `@`. */
  readonly mentions: readonly string[]
  readonly status: TrustStatus
  /** Why it could not be checked. It may then run anything and cannot be approved. */
  readonly unread: string | null
}

/** Where agents look in a project; Claude Code also in any folder. */
const FOLDERS: readonly string[] =
  '.claude/skills .claude/commands .claude/agents .opencode/command .opencode/commands .opencode/skill .opencode/skills .agents/skills .gemini/commands .qwen/commands .qwen/skills'.split(
    ' ',
  )
/** Settings files that contain commands. */
const SETTINGS: readonly string[] = [
  'opencode.json',
  'opencode.jsonc',
  '.opencode/opencode.json',
  '.opencode/opencode.jsonc',
]
const AGENTS: ReadonlySet<string> = new Set(FOLDERS.map((folder) => folder.split('/')[0]!))
const MAX_BYTES = 1024 * 1024

/** Project skills and commands that run something themselves, with their approval. */
export function inlineCommandFiles(
  root: string,
  machine: Machine,
  where: readonly string[] | 'anywhere',
): readonly InlineCommands[] {
  return commandFiles(root, machine, where).filter(({ commands, unread }) => commands.length > 0 || unread !== null)
}

/** All files of a project's skills and commands, and commands in its settings. */
export function commandFiles(
  root: string,
  machine: Machine,
  where: readonly string[] | 'anywhere',
): readonly InlineCommands[] {
  const tree = where === 'anywhere' ? foldersNamed(root, AGENTS) : null
  const folders = where === 'anywhere' ? [root] : where
  const places = tree?.found.flatMap(placesIn) ?? folders.flatMap((folder) => FOLDERS.map((name) => join(folder, name)))
  const walks = places.map((place) => ({ place, ...filesBelow(place, isText) }))
  const settings = folders.flatMap((folder) => SETTINGS.map((name) => join(folder, name)))
  const cut = [...(tree?.isCut ? [root] : []), ...walks.filter(({ isCut }) => isCut).map(({ place }) => place)]
  const found = [
    ...walks.flatMap(({ place, found: paths }) => paths.flatMap((path) => readFile(path, place))),
    ...settings.filter((path) => existsSync(path)).flatMap((path) => readFile(path, root)),
  ]
  const unknown = cut.map((path) =>
    unseenFile(path, `contains more than ${MAX_ENTRIES} files, or folders nested too deep, to check`),
  )
  if (!found.some(({ commands }) => commands.length > 0)) return [...found, ...unknown]
  const store = createTrustStore(machine.stateDir)
  const judged = found.map(({ hash, ...file }) => ({
    ...file,
    status: hash === null ? file.status : trustStatus(store.stored(keyOf(root, file.path)), hash),
  }))
  return [...judged, ...unknown]
}

/** Approves a skill's commands by the current bytes of its files; returns the file names. */
export function approveInline(root: string, machine: Machine, name: string, now: Date): readonly string[] {
  const files = inlineCommandFiles(root, machine, 'anywhere').filter(
    ({ names, path, unread }) => (names?.includes(name) || relative(root, path) === name) && unread === null,
  )
  const store = createTrustStore(machine.stateDir)
  return files.flatMap(({ path }) => {
    const bytes = readRegular(path)
    if (typeof bytes === 'string') return []
    store.trust(keyOf(root, path), trustHash(new Uint8Array(), bytes), now.toISOString())
    return [relative(root, path)]
  })
}

function keyOf(root: string, path: string): { readonly scope: string; readonly name: string } {
  return { scope: root, name: `inline:${relative(root, path)}` }
}

function placesIn(folder: string): readonly string[] {
  return FOLDERS.filter((place) => place.split('/')[0] === basename(folder).toLowerCase()).map((place) =>
    join(folder, '..', place),
  )
}

/** Only SKILL.md of a skill folder is expanded. */
function isText(path: string, place: string): boolean {
  if (!/\.(?:md|toml)$/i.test(path)) return false
  return !/skills?$/.test(place) || /^skill\.md$/i.test(basename(path)) || join(path, '..') === place
}

function readFile(path: string, place: string): readonly (InlineCommands & { readonly hash: string | null })[] {
  const bytes = readRegular(path)
  if (typeof bytes === 'string') return [{ ...unseenFile(path, bytes), hash: null }]
  const whole = new TextDecoder().decode(bytes)
  const settings = /\.jsonc?$/.test(path) ? settingsCommands(whole) : null
  const hash = trustHash(new Uint8Array(), bytes)
  const texts = settings ?? [[null, whole] as const]
  // Text of agents is neither run nor expanded.
  const isAgent = place.endsWith('/agents')
  return texts.map(([name, text]) => {
    const head = name === null ? headPrograms(text) : []
    return {
      own: name ?? ownName(path),
      names: name === null ? namesOf(path, place, text) : [name],
      path,
      commands: [...(isAgent ? [] : inlineCommands(text)), ...head],
      isArmed: head.length > 0,
      mentions: isAgent ? [] : mentionedPaths(text),
      status: 'no stored hash',
      unread: null,
      hash,
    }
  })
}

/** Commands in settings by name; settings that do not parse count as one. */
function settingsCommands(text: string): readonly (readonly [name: string, template: string])[] | null {
  try {
    const { command } = recordOf(parseSettings(text))
    return Object.entries(recordOf(command)).flatMap(([name, one]) => {
      const { template } = recordOf(one)
      return typeof template === 'string' ? [[name, template] as const] : []
    })
  } catch {
    return null
  }
}

function unseenFile(path: string, unread: string): InlineCommands {
  const known = { own: ownName(path), names: null, path, commands: [], isArmed: true, mentions: [] }
  return { ...known, status: 'no stored hash', unread }
}

/** A skill is named after its folder, a command after its file. */
function ownName(path: string): string {
  const file = basename(path)
  return /^skill\.md$/i.test(file) ? basename(join(path, '..')) : file.replace(/\.[^.]+$/, '')
}

/** Includes names with parent folders; the front matter may give another one. */
function namesOf(path: string, place: string, text: string): readonly string[] | null {
  const said = frontmatterName(text)
  if (said === 'unknown') return null
  const whole = relative(place, path)
    .replace(/(?:\/skill)?\.[^.]+$/i, '')
    .replaceAll('/', ':')
  return [...new Set([ownName(path), whole, ...(said === null ? [] : [said])])]
}

const HEAD = /^\ufeff?\s*---([^\n]*\n[\s\S]*?)(?:\n---|\n\.\.\.|$)/

/** Keys of the front matter that start programs; an unreadable key counts as one. */
function headPrograms(text: string): readonly string[] {
  const lines = (HEAD.exec(text)?.[1] ?? '').split('\n')
  const named = lines.flatMap((line) => /^\s*(["']?)(hooks|mcp[-_]?servers)\1\s*:/i.exec(line)?.[2] ?? [])
  const isHidden = lines.some((line) => /^\s*(?:["'][^"']*\\|[?{&*!<])/.test(line) || /^[^\s#:-][^:]*$/.test(line))
  if (named.length > 0) return named.map((key) => `${key} in its front matter`)
  return isHidden ? ['front matter that cannot be read'] : []
}

/** The name in the front matter; unknown for YAML beyond keys and plain values. */
function frontmatterName(text: string): string | null | 'unknown' {
  const head = HEAD.exec(text)?.[1]?.replace(/^[^\n]*\n/, '')
  if (head === undefined) return null
  const names = [...head.matchAll(/^[^\S\n]*["']?name["']?[^\S\n]*:(.*)$/gim)].map(([, value]) => value!.trim())
  const isPlain = head
    .split('\n')
    .every((line) => /^(?:[\w-]+\s*:|\s|#|-\s|$)/.test(line) && !/\\|<<|[&*]\w+\s*$/.test(line))
  const [name = null] = names
  if (!isPlain || names.length > 1) return 'unknown'
  if (name === null) return null
  return /^(["']?)([\w.:/ -]+)\1$/.exec(name)?.[2] ?? 'unknown'
}

/** Follows links as hosts do. Returns text if the file cannot be read. */
function readRegular(path: string): Uint8Array | string {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return 'cannot be read'
  }
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile()) return 'is not a regular file'
    return facts.size <= MAX_BYTES ? readFileSync(fd) : `is larger than ${MAX_BYTES} bytes, too large to check`
  } finally {
    closeSync(fd)
  }
}
