/** The parts of the schema: sections, keys, types, and how layers of one key merge. */

import { VERDICTS } from '../../policy/order.ts'
import { MODES } from '../../policy/policy.ts'

/** Requirements on a text beyond its type; `format.ts` checks each. */
export type Format =
  | 'agent'
  | 'basename'
  | 'bundle'
  | 'ca-file'
  | 'command'
  | 'denied-host'
  | 'directory'
  | 'env'
  | 'env-name'
  | 'flow'
  | 'header'
  | 'header-source'
  | 'host'
  | 'method'
  | 'module'
  | 'pass-name'
  | 'parent-proxy'
  | 'path'
  | 'query'
  | 'secret-source'
  | 'substring'
  | 'tool'
  | 'url-path'
  | 'signing-key'
  | 'web-address'

export type ValueType =
  | { readonly kind: 'boolean' }
  | { readonly kind: 'integer'; readonly min: number; readonly max: number }
  | { readonly kind: 'number'; readonly min: number; readonly max: number }
  | { readonly kind: 'text'; readonly format: Format | null }
  /** Values from the strictest to the most lenient, where that order means something. */
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  /** Bytes: an integer, or a text such as "512 MiB". */
  | { readonly kind: 'size' }
  /** Seconds: a number, or a text such as "90s", "5m", "1h". */
  | { readonly kind: 'seconds' }
  | { readonly kind: 'list'; readonly of: ValueType; readonly nonEmpty?: boolean }
  /** A table, or a bare text as its field `short`. */
  | { readonly kind: 'entry'; readonly short: string | null; readonly fields: readonly Field[] }

/** One field of a table in a list. */
export interface Field {
  readonly name: string
  readonly type: ValueType
  readonly doc: string
  readonly required?: boolean
}

/**
 * How the layers of a key merge. `later`: the later value. `concat`: all of them (grants and
 * denials). `meet`: a filter, which a later layer can only narrow. `deny-wins`: a level, where
 * deny wins from any layer.
 */
type Merge = 'later' | 'concat' | 'meet' | 'deny-wins'

/** Which value is stricter; a project can only make such keys stricter (M2). */
type Strictness = 'true' | 'false' | 'lower' | 'higher' | 'choice-order' | 'union' | 'meet'

export interface Key {
  readonly name: string
  /** Of a key `*`: what its names are; a tool by default. */
  readonly names?: Format
  readonly type: ValueType
  /** The value if unset; absent for "nothing". */
  readonly default?: boolean | number | string | readonly string[]
  readonly doc: string
  readonly spec: string
  /** Default `later`. */
  readonly merge?: Merge
  readonly strictness?: Strictness
  /** The stricter value if only an organisation binds: a project may change the user's (X8). */
  readonly organisation?: 'true' | 'false' | 'choice-order'
  /** About the person's machine: a project's value is ignored. */
  readonly personal?: true
  /** A project can only make it stricter than the default, unless another layer sets it as well. */
  readonly tightens?: true
}

export interface Section {
  /** `security`, `agents.*`: a star is a name that the author chooses. */
  readonly path: string
  readonly doc: string
  readonly spec: string
  /** A piece of TOML that loads on its own below `schema_version = 1`. */
  readonly example: string
  /** A key named `*` takes any name. */
  readonly keys: readonly Key[]
}

export const BOOLEAN: ValueType = { kind: 'boolean' }
export const SIZE: ValueType = { kind: 'size' }
export const SECONDS: ValueType = { kind: 'seconds' }

export function text(format: Format | null = null): ValueType {
  return { kind: 'text', format }
}

export function choice(...values: readonly string[]): ValueType {
  return { kind: 'choice', values }
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): ValueType {
  return { kind: 'integer', min, max }
}

export function listOf(of: ValueType): ValueType {
  return { kind: 'list', of }
}

/** The three levels of a tool, strictest first. */
export const LEVEL: ValueType = choice(...VERDICTS)

export const MODE: ValueType = choice(...MODES)

/** Of a person's own layer alone (P11): the mode of the other layers stays, and nothing is asked. */
export const OBSERVE = 'observe'
export const MODE_OR_OBSERVE: ValueType = choice(...MODES, OBSERVE)
