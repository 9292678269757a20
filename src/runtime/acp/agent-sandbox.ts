/** A stranger's agent in the sandbox: it reads what commands may, writes nothing of the project, and reaches the hosts it was granted. */

import type { Readable, Writable } from 'node:stream'
import { isInside } from '../../files/baseline.ts'
import type { Decision } from '../../policy/decision.ts'
import { messageOf } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { withBundleSecrets } from '../command/bundle-secrets.ts'
import { openBackend, openRunner, type RunOutcome, typedGrants } from '../command/open-runner.ts'
import { gatewayRecorder } from '../mcp/record.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { outcomeNotes } from '../session/outcome-notes.ts'

export interface AgentStreams {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly signal: AbortSignal
}

/** Runs the agent until it ends, and writes down that it ran and what it was stopped from; notes for a person. */
export async function runAgent(
  argv: readonly string[],
  loaded: LoadedPolicy,
  machine: Machine,
  streams: AgentStreams,
): Promise<{ readonly exitCode: number; readonly notes: readonly string[] }> {
  const granted = lasting(withoutWrites(withBundleSecrets(loaded, machine, argv)))
  const recorder = gatewayRecorder(loaded, machine, 'acp')
  const runner = openRunner(granted, machine, machineFiles, openBackend())
  const typed = typedGrants(granted, machine, argv)
  const reason = { code: 'granted', message: 'The person named this agent.' } as const
  const decision: Decision = { decision: 'allow', reason, rules: [], segments: [] }
  const call = { tool: 'acp_agent', input: { command: argv }, subject: argv.join(' '), decision, agent: 'acp' }
  const record = recorder.begin(call)
  let outcome: RunOutcome
  try {
    const { patterns, envVars, rules } = typed
    const request = { argv, cwd: loaded.root, patterns, envVars, rules, timeoutMs: Number.POSITIVE_INFINITY }
    outcome = await runner.run(request, streams)
  } catch (error) {
    const failed = { code: 'acp-agent', message: messageOf(error), remedy: null }
    recorder.end(record, { status: 'failed', decision, error: failed }, [])
    throw error
  } finally {
    await runner.close()
  }
  const { exitCode, cancelled } = outcome.result
  const output = { text: '', exitCode, isError: exitCode !== 0 && !cancelled }
  recorder.end(record, { status: 'done', decision, notes: [], output }, [outcome])
  recorder.close()
  return { exitCode, notes: outcomeNotes(outcome) }
}

/** What it changes in the project goes through its client, which is Cordon; grants outside, such as its own settings, stay. */
function withoutWrites(loaded: LoadedPolicy): LoadedPolicy {
  const { policy, root } = loaded
  const outside = policy.writes.allow.filter(({ pattern }) => !isInside(pattern.absolute, root))
  const additionalDirectories = policy.additionalDirectories
  return {
    ...loaded,
    policy: { ...policy, additionalDirectories, writes: { allow: outside, deny: policy.writes.deny, declared: true } },
  }
}

/** It lives as long as its editor: the time limit of commands is not about it. */
function lasting(loaded: LoadedPolicy): LoadedPolicy {
  const { limits } = loaded.sandbox
  const commandTimeout = { ...limits.commandTimeout, source: 'built-in' }
  return { ...loaded, sandbox: { ...loaded.sandbox, limits: { ...limits, commandTimeout } } }
}
