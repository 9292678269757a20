/**
 * What a changed manifest newly opens, asks about and closes, in plain words: read before signing
 * (M3).
 */

import type { Verdict } from '../../policy/order.ts'
import type { Key } from '../schema/key.ts'
import { schemaKeys } from '../schema/manifest.ts'
import type { Plain } from '../toml/tree.ts'
import { type Entry, LISTS, type ListWords, type ReachKind, texts } from './reach-diff-words.ts'
import { SETTING_WORDS, type SettingWords, settingSentence } from './setting-words.ts'

export type { ReachKind } from './reach-diff-words.ts'

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

/** Compares two canonical texts (`canonicalManifest`); null is the built-in defaults. */
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
  'capabilities.allow.read': ['read', 'reads'],
  'capabilities.allow.write': ['write', 'writes'],
  'capabilities.allow.commands': ['command', 'commands'],
}

function declaredChanges(old: Grants, now: Grants): ReachChange[] {
  return Object.entries(DECLARED).flatMap(([section, [kind, text]]): ReachChange[] => {
    const [was, is] = [old.declared.includes(section), now.declared.includes(section)]
    if (was === is || kind === 'command') return []
    return is
      ? [{ direction: 'closes', kind, subject: section, verdict: 'ask', text: `Other ${text} now ask first.` }]
      : [{ direction: 'opens', kind, subject: section, verdict: 'allow', text: `Other ${text} no longer ask first.` }]
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

function listChanges(list: ListWords, path: string, was: Plain | undefined, is: Plain | undefined): ReachChange[] {
  const [old, now] = [entries(list, was), entries(list, is)]
  const created: ReachChange[] = []
  const add = (direction: ReachChange['direction'], subject: string, verdict: Verdict | null, text: string) =>
    created.push({ direction, kind: list.kind, subject, verdict, text })
  const closing = list.effect === 'closes'
  // A list that was written and lost every entry (an unset variable) lets nothing through.
  if (isClosed(is)) add('closes', path, 'deny', `${list.what} is empty now, and lets nothing through.`)
  else if (isClosed(was)) add('opens', path, null, `${list.what} was empty and let nothing through; now it does.`)
  if (isClosed(is)) return created
  if (list.filter !== undefined && !isClosed(was) && (old.size === 0) !== (now.size === 0)) {
    const only = [...now.keys()].map(quote).join(', ')
    if (now.size === 0) add('opens', path, 'allow', `${list.filter} anything: the list of ${old.size} is gone.`)
    else add('closes', path, null, `${list.filter} nothing but ${only}.`)
    return created
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
  return created
}

function isClosed(value: Plain | undefined): boolean {
  return typeof value === 'object' && value !== null && 'closed' in value
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
    // Of two entries with one name neither hides the other.
    const more = [...texts(entry.files), ...texts(entry.args)]
    const name = String(entry[list.name] ?? Object.values(entry)[0] ?? '')
    found.set(more.length === 0 ? name : `${name} (${more.join(', ')})`, entry)
  }
  return found
}

function scalarChange(path: string, was: Plain | undefined, is: Plain | undefined): ReachChange[] {
  const key = KEYS.get(schemaPath(path))
  const fallback = (key?.default ?? null) as Plain
  const [old, now] = [was ?? fallback, is ?? fallback]
  // It applies whatever the user's cordon.toml contains, and without one nothing changes.
  if (JSON.stringify(old) === JSON.stringify(now)) {
    const text = `${path} is ${JSON.stringify(now)} as before, ${is === undefined ? 'no longer' : 'now'} whatever ~/.config/cordon/cordon.toml says.`
    return [{ direction: 'changes', kind: 'setting', subject: path, verdict: null, text }]
  }
  const { words, names } = wordsOf(path)
  const verdict = path.startsWith('permission.tools.') && typeof now === 'string' ? (now as Verdict) : null
  return [
    {
      direction: key === undefined ? 'changes' : direction(key, old, now),
      kind: path.startsWith('permission.tools.') ? 'tool' : 'setting',
      subject: path,
      verdict,
      text: settingSentence(words, names, old, now),
    },
  ]
}

/** Keys without a declared strictness whose values are ordered from strict to lenient. */
const LENIENT_UPWARDS =
  /^(?:permission\.(?:mode|tools\.\*|auto_accept)|agents\.\*\.(?:mode|trust_score|tools\.\*)|sandbox\.os\.command_fs)$/
const STRICT_WHEN_TRUE =
  /^(?:permission\.interactive|sandbox\.os\.command_mask_secrets|tools\.\*\.require_confirmation)$/

function direction(key: Key, old: Plain, now: Plain): ReachChange['direction'] {
  const step = (looser: boolean | null): ReachChange['direction'] =>
    looser === null ? 'changes' : looser ? 'opens' : 'closes'
  const path = PATHS.get(key) ?? ''
  if (/^mcp_servers\.\*\.(?:command|url)$/.test(path) && (old === null || now === null)) return step(now !== null)
  if (path.startsWith('mcp_servers.') && Array.isArray(old) && Array.isArray(now)) return wider({ old }, { old: now })
  if (typeof now === 'boolean') {
    if (key.strictness === 'true' || STRICT_WHEN_TRUE.test(path)) return step(!now)
    return step(key.strictness === 'false' || LENIENT_UPWARDS.test(path) ? now : null)
  }
  if (typeof now === 'number' && typeof old === 'number') {
    if (key.strictness === 'higher') return step(now < old)
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

/** The words of a setting, and the names for its stars. One without words is shown as written. */
function wordsOf(path: string): { readonly words: SettingWords; readonly names: readonly string[] } {
  const own = path.split('.')
  const starred = Object.keys(SETTING_WORDS).find((candidate) => {
    const parts = candidate.split('.')
    return parts.length === own.length && parts.every((part, index) => part === '*' || part === own[index])
  })
  if (starred === undefined) return { words: path, names: [] }
  const names = starred.split('.').flatMap((part, index) => (part === '*' ? [own[index]!] : []))
  return { words: SETTING_WORDS[starred]!, names }
}

function quote(subject: string): string {
  return JSON.stringify(subject)
}
