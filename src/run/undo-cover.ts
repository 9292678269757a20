/**
 * Whether undo (F9) brings back what a command destroys here, and program starts are judged (S8): the init does both. What they were
 * seen not to cover asks, as it did before.
 */

import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { SessionFacts, ToolCall } from '../policy/call.ts'
import type { Decision } from '../policy/decision.ts'
import { evaluate } from '../policy/evaluate/evaluate.ts'
import type { Policy } from '../policy/policy.ts'
import { writeMade } from '../system/made-file.ts'
import { sha256 } from '../system/sha256.ts'
import { makeDirectories } from '../system/state.ts'

/** How long something that undo did not cover is asked about. */
const REMEMBERED_MS = 3_600_000

/** How long a project whose store is full is asked about: after that older calls may go. */
const FULL_MS = 24 * 3_600_000
const FULL = 'full'

/** Changes cannot be held on this machine at all. */
const NO_BROKER = 'no-broker'

/**
 * What undo covers by all that is known beforehand. It may be mistaken: a command that was allowed because of undo says so
 * (`Decision.relies`), its sandbox then changes nothing that it cannot keep, and what that was is noted here.
 */
export class UndoCover {
  readonly #folder: string
  readonly #stateDir: string
  readonly #devices = new Map<string, number | null>()

  constructor(stateDir: string) {
    this.#stateDir = stateDir
    this.#folder = join(stateDir, 'undo-gaps')
  }

  /** Decides a call, with undo where it covers what the call could destroy. */
  evaluate(policy: Policy, session: SessionFacts, call: ToolCall): Decision {
    const { undo, unkept, judged } = this.#covers(policy, session, call)
    const facts = { ...session, undo, unkept }
    const decision = evaluate(policy, facts, call)
    if (!judged || decision.decision !== 'ask' || policy.commands.deny.length === 0) return decision
    // What only a denial that it may hide asks about is judged when the program starts.
    const unasked = evaluate(policy, { ...facts, judged }, call)
    return unasked.decision === 'allow' ? { ...unasked, judged: true } : decision
  }

  /** Whether nothing says that programs are not judged here. */
  get judges(): boolean {
    return process.platform === 'linux' && !this.#isNoted(NO_BROKER)
  }

  /** Changes do not go through the init here. */
  noteNoBroker(): void {
    this.#note(NO_BROKER)
  }

  /** Something that this command wanted to change could not be kept. */
  noteUnkept(root: string, command: string): void {
    this.#note(nameOf(root, command))
  }

  /** More is kept for this project than may be: what it destroys asks, until older calls may go. */
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

  /** Hard links do not reach from one file system to another. */
  #deviceOf(path: string): number | null {
    const known = this.#devices.get(path)
    if (known !== undefined) return known
    const device = existingDevice(path)
    this.#devices.set(path, device)
    return device
  }

  /** What was noted within the hour of this machine and of this command; nothing has been on most machines. */
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

/** When a file was written last; null where there is none. */
function changedAt(path: string): number | null {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? null
  } catch {
    return null
  }
}

function nameOf(root: string, command: string): string {
  return sha256(`${root}\0${command}`)
}

/** The file system of a path, or of the folder in which it would be made. */
function existingDevice(path: string): number | null {
  try {
    const facts = statSync(path, { throwIfNoEntry: false })
    if (facts) return facts.dev
  } catch {
    return null
  }
  return path === dirname(path) ? null : existingDevice(dirname(path))
}
