/** A stranger's agent in the sandbox: it reads what commands may, writes nothing of the project, and reaches the hosts it was granted. */

import { runConfined } from '../../one-off/run-typed.ts'
import { withAnswers } from '../../project/answers.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import type { RunIo } from '../../run/runner.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'

/** Runs the agent until it ends, recorded like everything that the person starts; a deny rule applies to it. Notes for a person. */
export async function runAgent(
  argv: readonly string[],
  loaded: LoadedPolicy,
  machine: Machine,
  io: RunIo,
): Promise<{ readonly exitCode: number; readonly notes: readonly string[] }> {
  const result = await runConfined({
    answered: await withAnswers(loaded, { machine, files: machineFiles, session: null, agent: null }),
    machine,
    files: machineFiles,
    argv,
    cwd: loaded.root,
    // What it changes in the project goes through its client, which is Cordon; grants outside, such as its settings, stay.
    narrowing: [{ kind: 'keys', env: machine.env }, { kind: 'read-only', places: 'roots' }, { kind: 'long-lived' }],
    io,
    tool: 'acp_agent',
    record: { by: 'gateway', name: 'acp' },
  })
  if ('denied' in result) throw new Fault('closed', result.denied.reason.message)
  return { exitCode: result.outcome.result.exitCode, notes: result.notes }
}
