/** A case of one key: a manifest without it and one with it, and what differs on each surface where the key means something. */

import type { ManifestObject, ProbeCall, Surface } from './key-world.ts'

/** What is checked. */
export type Probe =
  /** The answer to a call. */
  | { readonly call: ProbeCall; readonly times?: number }
  /** A line `name=…` of what the probe script sees in its sandbox. */
  | { readonly sees: string }
  /** The output of a command; `fails` for a failing one. */
  | { readonly runs: readonly string[] }
  /** How many `#` a command could say. */
  | { readonly hashes: readonly string[] }
  /** The hosts that a command would have. */
  | { readonly hosts: string }
  /** Its own test, which names the key. */
  | { readonly test: string }

export type Outcomes = readonly [without: string, given: string]

export type KeyRow = Probe & {
  /** `security.pipes`, `capabilities.allow.commands.patterns[].prompt`. */
  readonly key: string
  readonly note: string
  readonly base?: ManifestObject
  readonly set?: ManifestObject
  readonly gives?: Outcomes
  /** Where its own surface has words for the same. */
  readonly says?: Partial<Record<Surface, Outcomes>>
  readonly on: readonly Surface[]
}
