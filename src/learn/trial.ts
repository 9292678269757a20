/** One watched run of a command under one manifest, with undo. */

import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Writable } from 'node:stream'
import { confine } from '../confine/confinement.ts'
import type { HostQuestion } from '../egress/route/gate.ts'
import { explainMissing } from '../one-off/bundle-hint.ts'
import { hiddenProgram } from '../one-off/hidden-program.ts'
import { runConfined } from '../one-off/run-typed.ts'
import type { Decision } from '../policy/decision.ts'
import { withAnswers } from '../project/answers.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { openPolicy } from '../project/open.ts'
import { CommandRunner, openBackend, PASSED_SIGNALS } from '../run/open-backend.ts'
import { undoRules } from '../run/undo-rules.ts'
import { SandboxFault } from '../sandbox/backend.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { makeDirectories } from '../system/state.ts'
import { CallStore } from '../undo/call-store.ts'
import { undoCall } from '../undo/undo.ts'
import type { Observation } from './needs.ts'

export interface TrialParts {
  readonly command: readonly string[]
  readonly machine: Machine
  readonly files: Files
  /** Where the command's output goes; null: nowhere. */
  readonly output: Writable | null
  readonly timeoutMs: number
  /** Asked about each host; absent: nobody is asked. */
  readonly askHost?: (question: HostQuestion) => Promise<boolean | null>
  readonly askPort?: (port: number) => Promise<boolean>
}

export type TrialResult =
  | {
      readonly observation: Observation
      /** The run's changes; null if there are none, or undo does not cover them. */
      readonly call: string | null
      /** Whether the command saw a canonical path. */
      readonly isShown: (path: string) => boolean
      /** Whether undo covers all its changes. */
      readonly isHeld: boolean
    }
  | { readonly denied: Decision }

/** The policy of a text, as if it were the project's manifest. */
export async function policyOfText(
  text: string,
  { root }: LoadedPolicy,
  command: readonly string[],
  machine: Machine,
  files: Files,
): Promise<LoadedPolicy> {
  const folder = join(machine.stateDir, 'learn')
  makeDirectories(folder)
  const file = join(folder, `${randomBytes(8).toString('hex')}.toml`)
  files.writeText(file, text, { mode: 0o600, exclusive: true })
  try {
    const choice = { kind: 'file', file } as const
    const opened = await openPolicy({
      machine,
      files,
      root,
      choice,
      unsigned: 'refused',
      programs: command.slice(0, 1),
    })
    if ('loaded' in opened) return opened.loaded
    const first = 'problems' in opened ? opened.problems[0]?.message : undefined
    throw new Fault(
      'manifest',
      `what was learned does not load as a manifest${first === undefined ? '' : `: ${first}`}`,
    )
  } finally {
    rmSync(file, { force: true })
  }
}

/** Runs the command once. */
export async function tryOnce(loaded: LoadedPolicy, parts: TrialParts): Promise<TrialResult> {
  const { command, machine, files, output, askHost, askPort } = parts
  const backend = await openBackend(loaded.sandbox, { commands: 'one', stateDir: machine.stateDir })
  const ask = askHost ? { ask: askHost, asksAlways: true } : {}
  const runner = new CommandRunner(machine, files, backend, ask)
  const answered = await withAnswers(loaded, { machine, files, session: null, agent: null })
  const cwd = files.canonical(machine.cwd)
  const narrowing = [{ kind: 'time', ms: parts.timeoutMs, by: '--timeout' }] as const
  const isShown = runner.sees(confine(loaded, { command: { words: command }, cwd, by: 'person' }, narrowing))
  try {
    const stream = output ?? 'discard'
    const io = {
      stdin: 'none',
      stdout: stream,
      stderr: stream,
      forwardSignals: PASSED_SIGNALS,
      learns: true,
      onPort: askPort ?? (async () => false),
    } as const
    const result = await runConfined({ answered, machine, files, runner, argv: command, cwd, narrowing, io })
    if ('denied' in result) return result
    const { outcome } = result
    const { exitCode, sought, violations, unlisted } = outcome.result
    return {
      observation: {
        exitCode,
        sought: sought?.list ?? [],
        leftOut: sought?.leftOut ?? 0,
        egress: outcome.egress,
        violations,
        ports: unlisted,
      },
      call: outcome.changes?.call ?? null,
      isShown,
      isHeld: outcome.changes !== null,
    }
  } catch (error) {
    if (!(error instanceof SandboxFault) || error.code !== 'command-not-found') throw error
    const { home, env } = machine
    const found = hiddenProgram(command[0] ?? '', { cwd, home, path: env.PATH ?? '', files, isShown })
    if (found === null) {
      const exists = (path: string): boolean => files.exists(resolve(cwd, path))
      throw explainMissing(error, command, [], { path: env.PATH ?? '', exists, hidden: null })
    }
    const sought = [{ what: 'program', path: found.place } as const]
    const observation = { exitCode: NOT_FOUND, sought, leftOut: 0, egress: [], violations: [], ports: [] }
    return { observation, call: null, isShown, isHeld: true }
  } finally {
    await runner.close()
  }
}

const NOT_FOUND = 127

/** Restores a trial's changes. False if something could not be restored. */
export function restoreTrial(call: string | null, machine: Machine): boolean {
  if (call === null) return true
  const store = new CallStore(machine.stateDir)
  const kept = store.list().find((one) => one.id === call)
  if (kept === undefined) return false
  const { id, failed } = undoCall(store, undoRules(machine, store, kept), call)
  if (id === null || failed.length > 0) return false
  // A person should not see trials in undo.
  store.forget(call)
  store.forget(id)
  return true
}
