/** What a runner is asked: one command, with what its grants give it. */

import type { EgressRules } from '../../egress/rules.ts'
import type { Decision } from '../../policy/decision.ts'
import type { PathRule } from '../../policy/policy.ts'
import type { LaunchIo } from '../../sandbox/backend.ts'
import type { TerminalSize } from '../../sandbox/plan.ts'

export interface RunRequest {
  readonly argv: readonly string[]
  /** Canonical. */
  readonly cwd: string
  /** The words of the patterns that grant the command: they decide which bundles come along. */
  readonly patterns: readonly (readonly string[])[]
  /** The patterns that grant the command, as they are written; for the record. */
  readonly grants: readonly string[]
  /** What the grants carry along: shown, and writable. */
  readonly paths: readonly PathRule[]
  /** Names of variables that the grants declare. */
  readonly envVars: readonly string[]
  /** Hosts that the command may reach; without any it has no network. */
  readonly rules: EgressRules
  /** A time limit in place of the built-in one; one that the manifest sets still holds. */
  readonly timeoutMs?: number
  readonly terminal?: TerminalSize
  /** Told of every port on which it listens, and with `asksHosts` asked about every host: somebody is there to answer. */
  readonly tellsPorts?: boolean
  readonly asksHosts?: boolean
  /** What it looks for in vain is told with the result (`cordon learn`). */
  readonly learns?: boolean
  /** Why nobody was asked: nothing is changed that cannot be kept, and with `undo` it does not run where nothing is kept. */
  readonly relies?: Decision['relies']
  /** Whose command it is, for undo. */
  readonly session?: string
}

export interface RunIo extends LaunchIo {
  /** Told at once what a person may want to know while the command runs: where its server is to be found. */
  readonly onNotice?: (line: string) => void
}

/** Whether the command is to reach anything outside. */
export function hasWayOut({ rules, asksHosts }: RunRequest): boolean {
  return rules.allowed === null || rules.allowed.length > 0 || asksHosts === true
}

/** At a terminal somebody can agree to a port, which then has to be handed out. */
export function asksPorts({ tellsPorts, terminal }: RunRequest): boolean {
  return tellsPorts === true && terminal !== undefined
}
