/** A manifest that loaded: every value typed by the schema, every value with the place it was written at. */

import type { RuleRef, Sourced } from '../../policy/policy.ts'
import type { Verdict } from '../../policy/verdict.ts'
import type { Key } from './key.ts'

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
  /** True for a filter of which nothing is left: it stays closed, where an empty one that was written is open. */
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
