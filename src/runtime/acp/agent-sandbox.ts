/** A stranger's agent in the sandbox: it reads what commands may, writes nothing of the project, and reaches the hosts it was granted. */

import type { Readable, Writable } from 'node:stream'
import { isInside } from '../../files/baseline.ts'
import type { PathRule } from '../../policy/policy.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { withBundleSecrets } from '../command/network/bundle-secrets.ts'
import { openBackend, openRunner, typedGrants } from '../command/open-runner.ts'
import { runTyped } from '../command/typed/run.ts'
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
  const granted = lasting(withoutWrites(withBundleSecrets(loaded, machine, argv)))
  const recorder = openRecord(loaded, machine, { by: 'gateway', name: 'acp' })
  const runner = openRunner(granted, machine, machineFiles, await openBackend(granted.sandbox, machine))
  const { patterns, grants, paths, envVars, rules } = typedGrants(granted, machine, argv)
  const request = {
    argv,
    cwd: loaded.root,
    patterns,
    grants,
    paths: outsideOf(paths, loaded.root),
    envVars,
    rules,
    timeoutMs: Number.POSITIVE_INFINITY,
  }
  try {
    const run = { loaded: granted, machine, files: machineFiles, runner, request, io, tool: 'acp_agent', recorder }
    const result = await runTyped(run)
    if ('denied' in result) throw new Fault('closed', result.denied.reason.message)
    return { exitCode: result.outcome.result.exitCode, notes: result.notes }
  } finally {
    await runner.close()
    recorder.close()
  }
}

/** What it changes in the project goes through its client, which is Cordon; grants outside, such as its own settings, stay. */
function withoutWrites(loaded: LoadedPolicy): LoadedPolicy {
  const { policy, root } = loaded
  const allow = outsideOf(policy.writes.allow, root)
  return { ...loaded, policy: { ...policy, writes: { allow, deny: policy.writes.deny, declared: true } } }
}

function outsideOf(rules: readonly PathRule[], root: string): readonly PathRule[] {
  return rules.filter(({ pattern }) => !isInside(pattern.absolute, root) && !isInside(root, pattern.absolute))
}

/** It lives as long as its editor: the time limit of commands is not about it. */
function lasting(loaded: LoadedPolicy): LoadedPolicy {
  const { limits } = loaded.sandbox
  const commandTimeout = { ...limits.commandTimeout, source: 'built-in' }
  return { ...loaded, sandbox: { ...loaded.sandbox, limits: { ...limits, commandTimeout } } }
}
