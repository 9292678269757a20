/** What a changed manifest newly opens, asks about and closes, in plain words: read before signing (M3). */

import type { Verdict } from '../policy/verdict.ts'
import type { Plain } from './plain.ts'
import type { Key } from './schema/key.ts'
import { schemaKeys } from './schema.ts'

export type ReachKind = 'command' | 'read' | 'write' | 'directory' | 'host' | 'secret' | 'variable' | 'tool' | 'setting'

export interface ReachChange {
  /** `opens`: more is possible than before. `closes`: less. `changes`: neither is certain; look. */
  readonly direction: 'opens' | 'closes' | 'changes'
  readonly kind: ReachKind
  readonly subject: string
  /** What such a call comes out as now, where that is known. */
  readonly verdict: Verdict | null
  /** One sentence for a person. */
  readonly text: string
}

export interface ReachDiff {
  readonly opens: readonly ReachChange[]
  readonly closes: readonly ReachChange[]
  readonly changes: readonly ReachChange[]
  readonly same: boolean
}

interface Grants {
  readonly declared: readonly string[]
  readonly settings: Readonly<Record<string, Plain>>
}

/** Compares two canonical texts (`canonicalManifest`); `before` of null: nothing was signed, built-in defaults held. */
export function reachDiff(before: string | null, after: string): ReachDiff {
  const old = before === null ? { declared: [], settings: {} } : parseGrants(before)
  const now = parseGrants(after)
  const changes = [...declaredChanges(old, now), ...settingChanges(old, now)]
  const of = (direction: ReachChange['direction']) => changes.filter((change) => change.direction === direction)
  return { opens: of('opens'), closes: of('closes'), changes: of('changes'), same: changes.length === 0 }
}

function parseGrants(canonical: string): Grants {
  const value = JSON.parse(canonical) as Partial<Grants>
  return { declared: value.declared ?? [], settings: value.settings ?? {} }
}

const DECLARED: Readonly<Record<string, readonly [kind: ReachKind, text: string]>> = {
  'capabilities.allow.read': ['read', 'reads that no grant covers ask'],
  'capabilities.allow.write': ['write', 'writes that no grant covers ask'],
  'capabilities.allow.commands': ['command', 'commands that no grant covers ask'],
}

function declaredChanges(old: Grants, now: Grants): ReachChange[] {
  return Object.entries(DECLARED).flatMap(([section, [kind, text]]): ReachChange[] => {
    const [was, is] = [old.declared.includes(section), now.declared.includes(section)]
    if (was === is || kind === 'command') return []
    return is
      ? [{ direction: 'closes', kind, subject: section, verdict: 'ask', text: `From now on ${text}.` }]
      : [{ direction: 'opens', kind, subject: section, verdict: 'allow', text: `No longer holds: ${text}.` }]
  })
}

function settingChanges(old: Grants, now: Grants): ReachChange[] {
  const paths = [...new Set([...Object.keys(old.settings), ...Object.keys(now.settings)])].sort()
  return paths.flatMap((path) => {
    const [was, is] = [old.settings[path], now.settings[path]]
    if (path === 'schema_version' || JSON.stringify(was) === JSON.stringify(is)) return []
    const list = LISTS[schemaPath(path)]
    return list === undefined ? scalarChange(path, was, is) : listChanges(list, path, was, is)
  })
}

/** How a list of the manifest reads to a person. */
interface ListWords {
  readonly kind: ReachKind
  /** What an entry does: opens something, or closes it. */
  readonly effect: 'opens' | 'closes'
  /** The field that says which entry it is. */
  readonly name: string
  readonly added: (subject: string, entry: Entry) => string
  readonly removed: (subject: string, entry: Entry) => string
  /** A filter: empty means that everything passes. */
  readonly filter?: string
}

type Entry = Readonly<Record<string, Plain>>

const runs = (entry: Entry): string => {
  const parts = [
    words('reaches', hostNames(entry.domains)),
    words('sees the variables', texts(entry.env_vars)),
    words('works on', texts(entry.paths)),
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

const LISTS: Readonly<Record<string, ListWords>> = {
  'capabilities.allow.commands.patterns': {
    kind: 'command',
    effect: 'opens',
    name: 'command',
    added: (subject, entry) =>
      `The command ${subject} ${entry.prompt === true ? 'may run after asking' : 'runs without asking'}${runs(entry)}.`,
    removed: (subject) => `The command ${subject} is no longer granted: it asks.`,
  },
  'capabilities.deny.commands.patterns': {
    kind: 'command',
    effect: 'closes',
    name: 'command',
    added: (subject) => `The command ${subject} never runs.`,
    removed: (subject) => `The command ${subject} is no longer denied.`,
  },
  'capabilities.allow.read.paths': {
    kind: 'read',
    effect: 'opens',
    name: 'path',
    added: (subject, entry) => `${subject} may be read${entry.prompt === true ? ' after asking' : ' without asking'}.`,
    removed: (subject) => `${subject} is no longer granted for reading.`,
  },
  'capabilities.allow.write.paths': {
    kind: 'write',
    effect: 'opens',
    name: 'path',
    added: (subject, entry) =>
      `${subject} may be written${entry.prompt === true ? ' after asking' : ' without asking'}.`,
    removed: (subject) => `${subject} is no longer granted for writing.`,
  },
  'capabilities.deny.read.paths': {
    kind: 'read',
    effect: 'closes',
    name: 'path',
    added: (subject) => `${subject} is never read.`,
    removed: (subject) => `${subject} is no longer denied for reading.`,
  },
  'capabilities.deny.write.paths': {
    kind: 'write',
    effect: 'closes',
    name: 'path',
    added: (subject) => `${subject} is never written.`,
    removed: (subject) => `${subject} is no longer denied for writing.`,
  },
  'capabilities.allow.additional_directories': {
    kind: 'directory',
    effect: 'opens',
    name: 'path',
    added: (subject) => `The directory ${subject} counts as part of the project.`,
    removed: (subject) => `The directory ${subject} is outside of the project again.`,
  },
  'capabilities.allow.commands.default_domains': {
    kind: 'host',
    effect: 'opens',
    name: 'host',
    added: (subject) => `Every granted command may reach ${subject}.`,
    removed: (subject) => `Granted commands no longer reach ${subject} by default.`,
  },
  'capabilities.deny.commands.domains': {
    kind: 'host',
    effect: 'closes',
    name: 'host',
    added: (subject) => `No command reaches ${subject}.`,
    removed: (subject) => `${subject} is no longer denied to commands.`,
  },
  'security.deny_domains': {
    kind: 'host',
    effect: 'closes',
    name: 'host',
    added: (subject) => `Nothing reaches ${subject}.`,
    removed: (subject) => `${subject} is no longer denied.`,
  },
  'http.allowed_hosts': {
    kind: 'host',
    effect: 'opens',
    name: 'host',
    added: (subject) => `The web tools may reach ${subject}.`,
    removed: (subject) => `The web tools no longer reach ${subject}.`,
    filter: 'The web tools may reach',
  },
  'capabilities.allow.commands.default_env_vars': {
    kind: 'variable',
    effect: 'opens',
    name: 'name',
    added: (subject) => `Every granted command sees the variable ${subject}.`,
    removed: (subject) => `Granted commands no longer see the variable ${subject}.`,
  },
  'capabilities.deny.commands.env_vars': {
    kind: 'variable',
    effect: 'closes',
    name: 'name',
    added: (subject) => `No command sees the variable ${subject}.`,
    removed: (subject) => `The variable ${subject} is no longer kept from commands.`,
  },
  'sandbox.os.env_allowlist': {
    kind: 'variable',
    effect: 'opens',
    name: 'name',
    added: (subject) => `Every command sees the variable ${subject}.`,
    removed: (subject) => `Commands no longer see the variable ${subject}.`,
  },
  'sandbox.os.command_tools': {
    kind: 'tool',
    effect: 'opens',
    name: 'tool',
    added: (subject, entry) =>
      `The tool ${subject} gets its own files, caches and hosts (cordon bundles ${entry.tool} tells which).`,
    removed: (subject) => `The tool ${subject} loses its own files, caches and hosts.`,
  },
  secrets: {
    kind: 'secret',
    effect: 'opens',
    name: 'name',
    added: (subject, entry) =>
      `The secret ${subject} from ${String(entry.source)} is sent to ${texts(entry.hosts).join(', ')}.`,
    removed: (subject) => `The secret ${subject} is no longer sent anywhere.`,
  },
  'files.change_envelope': {
    kind: 'write',
    effect: 'opens',
    name: 'path',
    added: (subject) => `Writes under ${subject} are inside the change envelope.`,
    removed: (subject) => `Writes under ${subject} are outside of the change envelope.`,
    filter: 'Writes are allowed anywhere inside',
  },
  'shell_policy.deny': {
    kind: 'command',
    effect: 'closes',
    name: 'text',
    added: (subject) => `Commands that contain ${subject} never run.`,
    removed: (subject) => `Commands that contain ${subject} are no longer denied for it.`,
  },
  'shell_policy.allow': {
    kind: 'command',
    effect: 'opens',
    name: 'text',
    added: (subject) => `Commands that contain ${subject} pass the substring filter.`,
    removed: (subject) => `Commands need more than ${subject} to pass the substring filter.`,
    filter: 'Commands pass the substring filter with',
  },
}

function listChanges(list: ListWords, path: string, was: Plain | undefined, is: Plain | undefined): ReachChange[] {
  const [old, now] = [entries(list, was), entries(list, is)]
  const made: ReachChange[] = []
  const add = (direction: ReachChange['direction'], subject: string, verdict: Verdict | null, text: string) =>
    made.push({ direction, kind: list.kind, subject, verdict, text })
  const closing = list.effect === 'closes'
  if (list.filter !== undefined && (old.size === 0) !== (now.size === 0)) {
    const only = [...now.keys()].map(quote).join(', ')
    if (now.size === 0) add('opens', path, 'allow', `${list.filter} anything: the list of ${old.size} is gone.`)
    else add('closes', path, null, `${list.filter} nothing but ${only}.`)
    return made
  }
  for (const [subject, entry] of now) {
    const before = old.get(subject)
    if (before === undefined) {
      const verdict = closing ? 'deny' : entry.prompt === true ? 'ask' : 'allow'
      add(closing ? 'closes' : 'opens', subject, verdict, list.added(quote(subject), entry))
    } else if (JSON.stringify(before) !== JSON.stringify(entry)) add(...fieldChange(list, subject, before, entry))
  }
  for (const [subject, entry] of old) {
    if (now.has(subject)) continue
    add(closing ? 'opens' : 'closes', subject, closing ? null : 'ask', list.removed(quote(subject), entry))
  }
  return made
}

/** An entry that stayed but says something else: shown whole, since a field can open one thing and close another. */
function fieldChange(
  list: ListWords,
  subject: string,
  before: Entry,
  entry: Entry,
): [ReachChange['direction'], string, Verdict | null, string] {
  const asked = before.prompt === true
  const asks = entry.prompt === true
  const onlyPrompt = JSON.stringify({ ...before, prompt: false }) === JSON.stringify({ ...entry, prompt: false })
  const direction = onlyPrompt && asked !== asks ? (asks ? 'closes' : 'opens') : wider(before, entry)
  return [direction, subject, asks ? 'ask' : 'allow', `Changed: ${list.added(quote(subject), entry)}`]
}

function wider(before: Entry, entry: Entry): ReachChange['direction'] {
  let [more, less] = [false, false]
  for (const field of new Set([...Object.keys(before), ...Object.keys(entry)])) {
    const [old, now] = [items(before[field]), items(entry[field])]
    if (old === null || now === null) {
      if (JSON.stringify(before[field]) !== JSON.stringify(entry[field])) return 'changes'
      continue
    }
    // Names and methods narrow an entry: fewer of them means more of everything else.
    const narrows = field === 'files' || field === 'methods'
    if (narrows && (old.length === 0) !== (now.length === 0)) {
      if (now.length === 0) more = true
      else less = true
      continue
    }
    if (now.some((item) => !old.includes(item))) more = true
    if (old.some((item) => !now.includes(item))) less = true
  }
  return more && !less ? 'opens' : less && !more ? 'closes' : 'changes'
}

function items(value: Plain | undefined): string[] | null {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : null
}

function entries(list: ListWords, value: Plain | undefined): Map<string, Entry> {
  const found = new Map<string, Entry>()
  if (!Array.isArray(value)) return found
  for (const item of value as readonly Plain[]) {
    const entry: Entry =
      typeof item === 'object' && item !== null && !Array.isArray(item) ? (item as Entry) : { [list.name]: item }
    const files = texts(entry.files)
    const name = String(entry[list.name] ?? Object.values(entry)[0] ?? '')
    found.set(files.length === 0 ? name : `${name} (${files.join(', ')})`, entry)
  }
  return found
}

function scalarChange(path: string, was: Plain | undefined, is: Plain | undefined): ReachChange[] {
  const key = KEYS.get(schemaPath(path))
  const fallback = (key?.default ?? null) as Plain
  const [old, now] = [was ?? fallback, is ?? fallback]
  const unset = (value: Plain | undefined) => (value === undefined ? `${show(fallback)} (unset)` : show(value))
  const verdict = path.startsWith('permission.tools.') && typeof now === 'string' ? (now as Verdict) : null
  return [
    {
      direction: key === undefined ? 'changes' : direction(key, old, now),
      kind: path.startsWith('permission.tools.') ? 'tool' : 'setting',
      subject: path,
      verdict,
      text: `${path} was ${unset(was)} and is now ${unset(is)}.`,
    },
  ]
}

/** Keys without a declared strictness, whose order of values is still from strict to lenient. */
const LENIENT_UPWARDS =
  /^(?:permission\.(?:mode|tools\.\*|auto_accept)|agents\.\*\.(?:mode|trust_score|tools\.\*)|sandbox\.os\.command_fs)$/
const STRICT_WHEN_TRUE =
  /^(?:permission\.interactive|sandbox\.os\.command_mask_secrets|tools\.\*\.require_confirmation)$/

function direction(key: Key, old: Plain, now: Plain): ReachChange['direction'] {
  const step = (looser: boolean | null): ReachChange['direction'] =>
    looser === null ? 'changes' : looser ? 'opens' : 'closes'
  const path = PATHS.get(key) ?? ''
  if (typeof now === 'boolean') {
    if (key.strictness === 'true' || STRICT_WHEN_TRUE.test(path)) return step(!now)
    return step(key.strictness === 'false' || LENIENT_UPWARDS.test(path) ? now : null)
  }
  if (typeof now === 'number' && typeof old === 'number') {
    return step(key.strictness === 'lower' || LENIENT_UPWARDS.test(path) ? now > old : null)
  }
  if (key.type.kind === 'choice' && (key.strictness === 'choice-order' || LENIENT_UPWARDS.test(path))) {
    const [from, to] = [key.type.values.indexOf(String(old)), key.type.values.indexOf(String(now))]
    // Custom and auto may both open and close: only moves between comparable modes have a direction.
    return from < 0 || to < 0 ? 'changes' : step(to > from)
  }
  return 'changes'
}

const KEYS: ReadonlyMap<string, Key> = new Map(schemaKeys().map(({ path, key }) => [path, key]))
const PATHS: ReadonlyMap<Key, string> = new Map(schemaKeys().map(({ path, key }) => [key, path]))

/** `agents.reviewer.mode` is the schema's `agents.*.mode`. */
function schemaPath(path: string): string {
  if (KEYS.has(path) || LISTS[path] !== undefined) return path
  const parts = path.split('.')
  for (const starred of KEYS.keys()) {
    const names = starred.split('.')
    if (!starred.includes('*') || names.length !== parts.length) continue
    if (names.every((name, index) => name === '*' || name === parts[index])) return starred
  }
  return path
}

function show(value: Plain): string {
  return value === null ? 'unset' : JSON.stringify(value)
}

function quote(subject: string): string {
  return JSON.stringify(subject)
}

function texts(value: Plain | undefined): string[] {
  return Array.isArray(value) ? value.map((item) => String(item)) : []
}

function hostNames(value: Plain | undefined): string[] {
  if (!Array.isArray(value)) return []
  return value.map((item) => (typeof item === 'object' && item !== null ? String((item as Entry).host) : String(item)))
}

function words(verb: string, subjects: readonly string[]): string {
  return subjects.length === 0 ? '' : `${verb} ${subjects.join(', ')}`
}
