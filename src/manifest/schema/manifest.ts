/** The schema of `cordon.toml`, and a manifest that loaded: typed values with their places. */

import type { Verdict } from '../../policy/order.ts'
import type { RuleRef, Sourced } from '../../policy/policy.ts'
import { GUARD_SECTIONS } from './guard.ts'
import type { Key, Section } from './key.ts'
import { MACHINE_SECTIONS } from './machine.ts'
import { REACH_SECTIONS, SECRETS } from './reach.ts'

/** A value of a list; `at` is its offset in the text, or -1. */
export interface Item<T = unknown> extends Sourced<T> {
  readonly at: number
}

/** One key that was written. */
export interface Setting extends RuleRef {
  readonly key: Key
  /** A scalar; of a list, its items. */
  readonly value: boolean | number | string | readonly Item[]
  readonly at: number
  /** True for a filter with no entries left: it stays closed, while a written empty one is open. */
  readonly closed?: boolean
}

export interface Manifest {
  /** How messages call the file; `manifest` for the object form. */
  readonly file: string
  /** By full path: `security.pipes`, `agents.reviewer.mode`. */
  readonly settings: ReadonlyMap<string, Setting>
  /** Tables that were written, even empty ones: `[capabilities.allow.read]` alone already means that reads ask. */
  readonly declared: ReadonlySet<string>
}

export interface HostEntry {
  readonly host: string
  readonly methods?: readonly Item<string>[]
  readonly paths?: readonly Item<string>[]
  readonly tls?: 'open' | 'pass'
  readonly ssh?: 'fetch' | 'push'
  readonly signs?: string
  readonly max_requests?: number
  readonly max_upload?: number
}

export interface McpToolEntry {
  readonly tool: string
  readonly level?: Verdict
  readonly args?: readonly Item<string>[]
}

export interface PathEntry {
  readonly path: string
  /** Own `files`, else the file's `default_files`; null when neither was written. */
  readonly files: readonly string[] | null
  readonly prompt?: boolean
}

export interface CommandEntry {
  readonly command: string
  readonly prompt?: boolean
  readonly paths?: readonly Item<string>[]
  readonly env_vars?: readonly Item<string>[]
  readonly domains?: readonly Item<HostEntry>[]
  readonly inherit_default_domains?: boolean
  readonly match?: readonly Item<string>[]
  readonly not_match?: readonly Item<string>[]
}

export interface BundleEntry {
  readonly tool: string
  readonly fetch?: boolean
  readonly install?: boolean
  readonly domains?: readonly Item<HostEntry>[]
  readonly default_domains?: boolean
  readonly wrappers?: readonly Item<string>[]
}

export interface SecretEntry {
  readonly name: string
  readonly source: string
  readonly hosts: readonly Item<string>[]
  readonly header?: string
  readonly query?: string
  readonly part?: 'whole' | 'password'
  readonly after?: string
  readonly as?: 'text' | 'file'
  readonly sign?: 'aws'
  readonly login?: 'postgres' | 'redis'
  readonly pass_headers?: readonly Item<string>[]
  readonly pass_parameters?: readonly Item<string>[]
}

/** The items of a list; none when it was not written. */
export function itemsOf<T>(manifest: Manifest, path: string): readonly Item<T>[] {
  const value = manifest.settings.get(path)?.value
  return Array.isArray(value) ? (value as readonly Item<T>[]) : []
}

/** The one schema of `cordon.toml`: every section and key with type, default, sentence and requirement. */
export const SCHEMA_VERSION = 1

/** Keys above the first section. */
const TOP_LEVEL_KEYS: readonly Key[] = [
  {
    name: 'schema_version',
    type: { kind: 'integer', min: 1, max: SCHEMA_VERSION },
    doc: 'Required: the version of this format.',
    spec: 'M1',
  },
  SECRETS,
]

export const SECTIONS: readonly Section[] = [...GUARD_SECTIONS, ...REACH_SECTIONS, ...MACHINE_SECTIONS]

/** The schema by names: what may be in a table. */
export interface SchemaTable {
  readonly keys: ReadonlyMap<string, Key>
  readonly tables: ReadonlyMap<string, SchemaTable>
  /** The section of this very table, where it is one and not only a way to others. */
  readonly section: Section | null
}

interface MutableTable {
  readonly keys: Map<string, Key>
  readonly tables: Map<string, MutableTable>
  section: Section | null
}

function newTable(): MutableTable {
  return { keys: new Map(), tables: new Map(), section: null }
}

function buildSchema(): SchemaTable {
  const root = newTable()
  for (const key of TOP_LEVEL_KEYS) root.keys.set(key.name, key)
  for (const section of SECTIONS) {
    let here = root
    for (const part of section.path.split('.')) {
      let next = here.tables.get(part)
      if (next === undefined) {
        next = newTable()
        here.tables.set(part, next)
      }
      here = next
    }
    here.section = section
    for (const key of section.keys) here.keys.set(key.name, key)
  }
  return root
}

/** The whole schema as a tree of tables. */
export const SCHEMA: SchemaTable = buildSchema()

/** Where a key of this name would belong, for a key that is in the wrong place: `security.pipes`. */
export function keyElsewhere(name: string): string | null {
  if (SCHEMA.keys.has(name)) return name
  for (const section of SECTIONS) {
    if (name !== '*' && section.keys.some((key) => key.name === name)) return `${section.path}.${name}`
  }
  return null
}

/** Every key with a default, by its full path; sections of free names have none. */
export function schemaKeys(): { readonly path: string; readonly key: Key }[] {
  const keys = TOP_LEVEL_KEYS.map((key) => ({ path: key.name, key }))
  const rest = SECTIONS.flatMap((section) => section.keys.map((key) => ({ path: `${section.path}.${key.name}`, key })))
  return [...keys, ...rest]
}
