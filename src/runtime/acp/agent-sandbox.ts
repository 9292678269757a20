/** A stranger's agent in the sandbox: it reads what commands may, writes nothing of the project, and reaches the hosts it was granted. */

import type { Readable, Writable } from 'node:stream'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { CommandRunner, openBackend } from '../command/open-runner.ts'
import { runTyped } from '../command/typed/run.ts'
import { confine } from '../confine/confinement.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { openRecord } from '../record/open.ts'

export interface AgentStreams {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly signal: AbortSignal
}

/** Runs the agent until it ends, recorded like everything that the person starts; a deny rule holds for it. Notes for a person. */
export async function runAgent(
  argv: readonly string[],
  loaded: LoadedPolicy,
  machine: Machine,
  io: AgentStreams,
): Promise<{ readonly exitCode: number; readonly notes: readonly string[] }> {
  const recorder = openRecord(loaded, machine, { by: 'gateway', name: 'acp' })
  const runner = new CommandRunner(machine, machineFiles, await openBackend(loaded.sandbox, machine))
  // What it changes in the project goes through its client, which is Cordon; grants outside, such as its settings, stay.
  const confinement = confine(loaded, { command: { words: argv }, cwd: loaded.root }, [
    { kind: 'keys', env: machine.env },
    { kind: 'read-only', places: 'roots' },
    { kind: 'long-lived' },
  ])
  try {
    const run = { loaded, machine, files: machineFiles, runner, argv, confinement, io, tool: 'acp_agent', recorder }
    const result = await runTyped(run)
    if ('denied' in result) throw new Fault('closed', result.denied.reason.message)
    return { exitCode: result.outcome.result.exitCode, notes: result.notes }
  } finally {
    await runner.close()
    recorder.close()
  }
}
