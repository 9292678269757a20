/** The trust that an installation wrote into a host's files, recorded so that removal reverts exactly that. */

import { withoutValue, withValue } from '../../../agents/settings/jsonc-text.ts'
import { tomlValue, withoutTomlValue, withTomlValue } from '../../../agents/settings/toml-text.ts'
import { parseSettings } from '../../../system/json.ts'
import { OwnList } from '../../../system/own-list.ts'
import { openOwnDirectory } from '../../../system/state.ts'
import { isObject } from './host.ts'

/** One value in a file of the host. */
export interface TrustEntry {
  readonly agent: string
  readonly scope: string
  readonly root: string
  readonly path: string
  /** The table of a TOML file, or an object in a JSON file with JSON values; null for a top-level text. */
  readonly table: string | null
  readonly key: string
  readonly before: string | null
  readonly after: string
}

/** The record of one installation. */
export function trustOf(
  stateDir: string,
  { agent, scope, root }: Pick<TrustEntry, 'agent' | 'scope' | 'root'>,
): readonly TrustEntry[] {
  const own = TRUST.read(stateDir).filter((entry) => entry.agent === agent && entry.scope === scope)
  return scope === 'user' ? own : own.filter((entry) => entry.root === root)
}

/** Records written values; of a value written twice, the original. */
export function keepTrust(stateDir: string, added: readonly TrustEntry[]): void {
  if (added.length === 0) return
  TRUST.change(openOwnDirectory(stateDir), (entries) => {
    const known = (entry: TrustEntry): TrustEntry | undefined => entries.find((other) => isSame(other, entry))
    const merged = added.map((entry) => ({ ...entry, before: known(entry) ? known(entry)!.before : entry.before }))
    return [...entries.filter((entry) => !added.some((other) => isSame(other, entry))), ...merged]
  })
}

export function forgetTrust(stateDir: string, gone: readonly TrustEntry[]): void {
  if (gone.length > 0)
    TRUST.change(openOwnDirectory(stateDir), (entries) =>
      entries.filter((entry) => !gone.some((other) => isSame(other, entry))),
    )
}

/** The file's text without these entries, or null if empty; values changed since stay. */
export function withoutTrust(text: string, entries: readonly TrustEntry[]): string | null {
  const left = entries.reduce(without, text)
  return left !== text && /^(?:\{\s*\})?\s*$/.test(left) ? null : left
}

function without(text: string, { path, table, key, before, after }: TrustEntry): string {
  if (table !== null && path.endsWith('.json')) return withoutNested(text, table, key, before, after)
  if (table !== null) {
    if (tomlValue(text, table, key) !== after) return text
    return before === null ? withoutTomlValue(text, table, key) : withTomlValue(text, table, key, before)
  }
  const settings = parseSettings(text)
  if (!isObject(settings) || settings[key] !== after) return text
  return before === null ? withoutValue(text, [key], () => true) : withValue(text, [key], before)
}

function withoutNested(text: string, table: string, key: string, before: string | null, after: string): string {
  const settings = parseSettings(text)
  const known = isObject(settings) ? settings[table] : undefined
  if (!isObject(known) || JSON.stringify(known[key]) !== after) return text
  if (before === null) return withoutValue(text, [table, key], () => false)
  return withValue(text, [table, key], JSON.parse(before) as unknown)
}

function isSame(a: TrustEntry, b: TrustEntry): boolean {
  return a.path === b.path && a.table === b.table && a.key === b.key
}

function isEntry(value: unknown): boolean {
  if (!isObject(value)) return false
  const isText = (name: string): boolean => typeof value[name] === 'string'
  const isTextOrNull = (name: string): boolean => value[name] === null || isText(name)
  return ['agent', 'scope', 'root', 'path', 'key', 'after'].every(isText) && ['table', 'before'].every(isTextOrNull)
}

const TRUST = new OwnList<TrustEntry>(
  { file: 'agent-trust.json', lock: 'locks/agent-trust', field: 'entries', goesEmpty: true },
  isEntry,
)
