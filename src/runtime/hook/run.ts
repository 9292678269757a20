/** Runs a command that a hook put into the sandbox: judged once more, with the grants of its own words, in the caller's place. */

import type { Decision } from '../../policy/decision.ts'
import { createRedactor } from '../../scan/redact/redact.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { openBackend } from '../command/open-runner.ts'
import { openCommands } from '../command/port.ts'
import { CommandRunner, type RunOutcome, type RunRequest } from '../command/runner.ts'
import { NO_REACH, placingPolicy } from '../session/policy.ts'
import { openHookJudge } from './judge.ts'
import { hookRecorder } from './record.ts'

export interface HookRun {
  readonly machine: Machine
  readonly files: Files
  readonly host: string
  readonly root: string
  readonly session: string | null
  readonly command: string
  readonly io: Parameters<CommandRunner['run']>[1]
}

export type HookRunResult =
  | { readonly exitCode: number; readonly notes: readonly string[] }
  | { readonly denied: string; readonly decision: Decision | null }

/** Runs it. An ask was answered in the host before it came here; a deny is never answered. */
export async function runHookCommand(request: HookRun): Promise<HookRunResult> {
  const { machine, files, host, root, session, command } = request
  const place = { machine, files, host, root, session, exact: true, cwd: machine.cwd, shell: true, inside: false }
  const opened = await openHookJudge(place)
  if ('closed' in opened) return { denied: opened.closed, decision: null }
  const { judge } = opened
  const judgement = judge.strictest([{ kind: 'tool', tool: 'bash', input: { command } }])!
  if (judgement.decision.decision === 'deny') {
    return { denied: judgement.decision.reason.message, decision: judgement.decision }
  }
  const backend = openBackend({ commands: 'one' })
  const commands = openCommands({
    placing: (reach) => placingPolicy(judge.loaded, judge.session, reach, null),
    openRunner: (loaded) => new CallersRunner(request.io, [loaded, machine, files, backend]),
    facts: () => judge.session,
    ownAddresses: machine.ownAddresses,
    home: machine.home,
    spillDirectory: machine.cacheDir,
  })
  const recorder = hookRecorder(judge.loaded, machine, host, session)
  const record = recorder.begin({
    tool: 'bash',
    input: { command },
    subject: command,
    decision: judgement.decision,
    agent: host,
  })
  try {
    const signal = request.io.signal ?? new AbortController().signal
    const options = { cwd: files.canonical(machine.cwd), timeoutMs: Number.POSITIVE_INFINITY, signal }
    const outcomes: RunOutcome[] = []
    const call = { reach: NO_REACH, heard: (outcome: RunOutcome) => void outcomes.push(outcome) }
    const { exitCode, notes } = await commands.forCall(call).run(command, options)
    const redact = createRedactor()
    const output = { text: '', exitCode, isError: exitCode !== 0 }
    recorder.end(record, { status: 'done', decision: judgement.decision, notes, output }, outcomes)
    return { exitCode, notes: notes.map((note) => redact.redact(note)) }
  } finally {
    await commands.close()
    recorder.close()
  }
}

/** A runner whose commands talk to the caller's own streams: the host reads them as if it had started the command itself. */
class CallersRunner extends CommandRunner {
  readonly #io: HookRun['io']

  constructor(io: HookRun['io'], parts: ConstructorParameters<typeof CommandRunner>) {
    super(...parts)
    this.#io = io
  }

  override run(request: RunRequest): Promise<RunOutcome> {
    return super.run(request, this.#io)
  }
}
