/** The one schema of `cordon.toml`: every section and key with type, default, sentence and requirement. */

import { GUARD_SECTIONS } from './guard.ts'
import type { Key, Section } from './key.ts'
import { MACHINE_SECTIONS } from './machine.ts'
import { REACH_SECTIONS, SECRETS } from './reach.ts'

export const SCHEMA_VERSION = 1

/** Keys above the first section. */
const TOP_LEVEL_KEYS: readonly Key[] = [
  {
    name: 'schema_version',
    type: { kind: 'integer', min: 1, max: SCHEMA_VERSION },
    default: null,
    doc: 'Required: the version of this format.',
    spec: 'M1',
    merge: 'later',
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
