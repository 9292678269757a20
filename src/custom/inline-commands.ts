/** Commands that are in the skills and commands which a project brings along for other agents: those run them outside every hook. */

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { parseSettings, recordOf } from '../system/json.ts'
import type { Machine } from '../system/machine.ts'
import { createTrustStore, type TrustStatus, trustHash, trustStatus } from '../tools/custom/trust.ts'
import { filesBelow, foldersNamed, inlineCommands, MAX_ENTRIES, mentionedPaths } from './walk.ts'

export interface InlineCommands {
  /** The name that its place gives it. */
  readonly own: string
  /** The names by which it may be called, its own first; null where that cannot be known, and every name may be its. */
  readonly names: readonly string[] | null
  readonly path: string
  readonly commands: readonly string[]
  /** Its head names programs too (hooks, servers), which a host starts whatever its settings say of commands in texts. */
  readonly isArmed: boolean
  /** Files that its text names with `@`. */
  readonly mentions: readonly string[]
  readonly status: TrustStatus
  /** Why it could not be checked: it may run anything, and cannot be approved. */
  readonly unread: string | null
}

/** Where Claude Code, opencode, Gemini CLI and Qwen Code look in a project, and for Claude Code in any folder of it. */
const FOLDERS: readonly string[] = [
  '.claude/skills',
  '.claude/commands',
  '.claude/agents',
  '.opencode/command',
  '.opencode/commands',
  '.opencode/skill',
  '.opencode/skills',
  '.agents/skills',
  '.gemini/commands',
  '.qwen/commands',
  '.qwen/skills',
]
/** Settings that hold commands themselves. */
const SETTINGS: readonly string[] = [
  'opencode.json',
  'opencode.jsonc',
  '.opencode/opencode.json',
  '.opencode/opencode.jsonc',
]
const AGENTS: ReadonlySet<string> = new Set(FOLDERS.map((folder) => folder.split('/')[0]!))
const MAX_BYTES = 1024 * 1024

/** Every file of a project's skills and commands that runs something by itself, with what was said of it. */
export function inlineCommandFiles(
  root: string,
  machine: Machine,
  where: readonly string[] | 'anywhere',
): readonly InlineCommands[] {
  return commandFiles(root, machine, where).filter(({ commands, unread }) => commands.length > 0 || unread !== null)
}

/** Every file of a project's skills and commands, and every command in its settings. */
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
    ...walks.flatMap(({ place, found: paths }) => paths.flatMap((path) => lookAt(path, place))),
    ...settings.filter((path) => existsSync(path)).flatMap((path) => lookAt(path, root)),
  ]
  const unknown = cut.map((path) =>
    unseenFile(path, `holds more than ${MAX_ENTRIES}files, or folders nested too deep, to be looked at`),
  )
  if (!found.some(({ commands }) => commands.length > 0)) return [...found, ...unknown]
  const store = createTrustStore(machine.stateDir)
  const judged = found.map(({ hash, ...file }) => ({
    ...file,
    status: hash === null ? file.status : trustStatus(store.stored(keyOf(root, file.path)), hash),
  }))
  return [...judged, ...unknown]
}

/** Approves the commands of a skill, by its name or its file, with the bytes that its files have now; the names of the files. */
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

/** Of a skill's folder only the skill itself is expanded, not what it refers to. */
function isText(path: string, place: string): boolean {
  if (!/\.(?:md|toml)$/i.test(path)) return false
  return !/skills?$/.test(place) || /^skill\.md$/i.test(basename(path)) || join(path, '..') === place
}

function lookAt(path: string, place: string): readonly (InlineCommands & { readonly hash: string | null })[] {
  const bytes = readRegular(path)
  if (typeof bytes === 'string') return [{ ...unseenFile(path, bytes), hash: null }]
  const whole = new TextDecoder().decode(bytes)
  const settings = /\.jsonc?$/.test(path) ? settingsCommands(whole) : null
  const hash = trustHash(new Uint8Array(), bytes)
  const texts = settings ?? [[null, whole] as const]
  // What is in an agent's text is neither run nor put in.
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

/** The commands in settings by their names; settings that cannot be understood are what they are. */
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

/** A skill has the name of its folder, a command that of its file. */
function ownName(path: string): string {
  const file = basename(path)
  return /^skill\.md$/i.test(file) ? basename(join(path, '..')) : file.replace(/\.[^.]+$/, '')
}

/** With those of the folders above it; and either may say another one. */
function namesOf(path: string, place: string, text: string): readonly string[] | null {
  const said = frontmatterName(text)
  if (said === 'unknown') return null
  const whole = relative(place, path)
    .replace(/(?:\/skill)?\.[^.]+$/i, '')
    .replaceAll('/', ':')
  return [...new Set([ownName(path), whole, ...(said === null ? [] : [said])])]
}

const HEAD = /^\ufeff?\s*---([^\n]*\n[\s\S]*?)(?:\n---|\n\.\.\.|$)/

/** What in a head has the host start programs; a key that cannot be read may be such a one. */
function headPrograms(text: string): readonly string[] {
  const lines = (HEAD.exec(text)?.[1] ?? '').split('\n')
  const named = lines.flatMap((line) => /^\s*(["']?)(hooks|mcp[-_]?servers)\1\s*:/i.exec(line)?.[2] ?? [])
  const isHidden = lines.some((line) => /^\s*(?:["'][^"']*\\|[?{&*!<])/.test(line) || /^[^\s#:-][^:]*$/.test(line))
  if (named.length > 0) return named.map((key) => `${key} in its head`)
  return isHidden ? ['a head that cannot be read'] : []
}

/** The name in the head of a file; unknown where its YAML is more than keys and plain values. */
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

/** Links are followed: the host follows them too. Why it cannot be read, else. */
function readRegular(path: string): Uint8Array | string {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return 'cannot be read'
  }
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile()) return 'is no regular file'
    return facts.size <= MAX_BYTES ? readFileSync(fd) : `is larger than ${MAX_BYTES} bytes, too large to be looked at`
  } finally {
    closeSync(fd)
  }
}
