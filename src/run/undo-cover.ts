/**
 * Decides whether undo (F9) restores what a command destroys here, and whether program starts are
 * judged (S8): the init does both. Known gaps make such calls ask.
 */

import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionFacts, ToolCall } from '../policy/call.ts'
import type { Decision } from '../policy/decision.ts'
import { evaluate } from '../policy/evaluate/evaluate.ts'
import type { Policy } from '../policy/policy.ts'
import { sha256 } from '../system/addon.ts'
import { attempt } from '../system/fault.ts'
import { writeMade } from '../system/made-file.ts'
import { makeDirectories } from '../system/state.ts'

/** How long calls ask after undo had a gap. */
const REMEMBERED_MS = 3_600_000

/** How long calls ask after the project's store was full: older calls may be pruned by then. */
const FULL_MS = 24 * 3_600_000
const FULL = 'full'

/** The init cannot perform changes on this machine. */
const NO_BROKER = 'no-broker'

/**
 * Predicts what undo covers. A wrong prediction is safe: a command that was allowed because of undo
 * says so (`Decision.relies`), so its sandbox refuses changes that it cannot keep, and the gap is
 * noted here.
 */
export class UndoCover {
  readonly #folder: string
  readonly #stateDir: string
  readonly #devices = new Map<string, number | null>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
    this.#folder = join(stateDir, 'undo-gaps')
  }

  /** Decides a call, counting on undo for what it covers. */
  evaluate(policy: Policy, session: SessionFacts, call: ToolCall): Decision {
    const { undo, unkept, judged } = this.#covers(policy, session, call)
    const facts = { ...session, undo, unkept }
    const decision = evaluate(policy, facts, call)
    if (!judged || decision.decision !== 'ask' || policy.commands.deny.length === 0) return decision
    // A denial that the call may hide is judged when the program starts.
    const unasked = evaluate(policy, { ...facts, judged }, call)
    return unasked.decision === 'allow' ? { ...unasked, judged: true } : decision
  }

  /** Whether program starts are judged here, as far as known. */
  get judges(): boolean {
    return process.platform === 'linux' && !this.#isNoted(NO_BROKER)
  }

  /** Notes that the init does not perform changes here. */
  noteNoBroker(): void {
    this.#note(NO_BROKER)
  }

  /** Notes a change of this command that could not be kept. */
  noteUnkept(root: string, command: string): void {
    this.#note(nameOf(root, command))
  }

  /** Notes a full store: destructive calls ask until older calls may be pruned. */
  noteFull(root: string): void {
    this.#note(nameOf(root, FULL))
  }

  #covers(
    { root, additionalDirectories }: Policy,
    session: SessionFacts,
    { shell }: ToolCall,
  ): { readonly undo: boolean; readonly unkept: boolean; readonly judged: boolean } {
    if (process.platform !== 'linux') return { undo: false, unkept: false, judged: false }
    const gaps = this.#gapsOf(root, shell?.command ?? '')
    const judged = shell !== null && !gaps.machine
    if (gaps.command) return { undo: false, unkept: true, judged }
    const own = this.#deviceOf(this.#stateDir)
    const roots = [root, ...additionalDirectories.map(({ value }) => value), ...session.roots]
    const isNear = own !== null && roots.every((one) => this.#deviceOf(one) === own)
    return { undo: isNear && !gaps.machine, unkept: false, judged }
  }

  /** Hard links cannot cross file systems. */
  #deviceOf(path: string): number | null {
    const known = this.#devices.get(path)
    if (known !== undefined) return known
    const device = existingDevice(path)
    this.#devices.set(path, device)
    return device
  }

  /** The gaps of this machine and this command within the hour; most machines have none. */
  #gapsOf(root: string, command: string): { readonly machine: boolean; readonly command: boolean } {
    if (changedAt(this.#folder) === null) return { machine: false, command: false }
    const machine = this.#isNoted(NO_BROKER) || this.#isNoted(nameOf(root, FULL), FULL_MS)
    return { machine, command: this.#isNoted(nameOf(root, command)) }
  }

  #isNoted(name: string, age = REMEMBERED_MS): boolean {
    return (changedAt(join(this.#folder, name)) ?? 0) >= Date.now() - age
  }

  #note(name: string): void {
    makeDirectories(this.#folder)
    writeMade(join(this.#folder, name), '')
  }
}

/** The time of a file's last write; null without one. */
function changedAt(path: string): number | null {
  return attempt(() => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null, null)
}

function nameOf(root: string, command: string): string {
  return sha256(`${root}\0${command}`)
}

/** The file system of a path, or of its nearest existing folder. */
function existingDevice(path: string): number | null {
  try {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts) return facts.dev
  } catch {
    return null
  }
  return path === dirname(path) ? null : existingDevice(dirname(path))
}
