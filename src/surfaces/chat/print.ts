/** `cordon chat -p`: one task without a prompt, for scripts and CI. Nobody is asked. */

import { type AgentEvent, endText, type TurnEnd } from '../../chat/agent.ts'
import { openAgentSession } from '../../chat/agent-session.ts'
import type { Mode } from '../../policy/policy.ts'
import { thisMachine } from '../../system/machine.ts'
import type { ChatOptions } from './start.ts'
import { type Denial, StreamJson } from './stream-json.ts'
import { safe } from './view/style.ts'

export type PrintForm = 'text' | 'json' | 'stream-json'

export interface PrintOutput {
  out(text: string): void
  err(text: string): void
}

/**
 * 0 done, 1 stopped by a limit or refused, 125 the model or the machine failed, 130 interrupted.
 */
const EXITS: Readonly<Record<TurnEnd['reason'], number>> = {
  done: 0,
  'max-turns': 1,
  budget: 1,
  length: 1,
  refused: 1,
  failed: 125,
  interrupted: 130,
}

export async function runPrint(
  text: string,
  options: ChatOptions & { readonly output: PrintForm },
  output: PrintOutput,
): Promise<number> {
  const calls: { tool: string; status: string }[] = []
  const denials: Denial[] = []
  let stream: StreamJson | null = null
  const report = (event: AgentEvent) => {
    if (event.type === 'result') calls.push({ tool: event.call.name, status: event.result?.status ?? 'malformed' })
    if (event.type === 'result' && (event.result?.status === 'denied' || event.result?.status === 'refused'))
      denials.push({ tool_name: event.call.name, tool_use_id: event.call.id, tool_input: event.call.input })
    stream?.flush()
    if (options.output !== 'text') return
    // The output may be a file: keep tabs.
    if (event.type === 'text')
      output.out(
        event.text
          .split(/([\n\t])/)
          .map((part) => (/^[\n\t]$/.test(part) ? part : safe(part)))
          .join(''),
      )
    if (event.type === 'answered') output.out('\n')
    if (event.type === 'calling') output.err(`● ${safe(event.call.name)}\n`)
    if (event.type === 'retry' || event.type === 'again') output.err(`${safe(event.problem)}; trying again\n`)
  }
  const { root, manifest, profile, model, fromEditor, resume, agent: agentName, mode, maxTurns, budget } = options
  const agent = await openAgentSession({
    machine: thisMachine(),
    project: root,
    fromEditor,
    report,
    ...(manifest === undefined && { gateway: root }),
    warn: (text) => output.err(`${safe(text)}\n`),
    ...(manifest !== undefined && { manifest: { file: manifest } }),
    ...(profile !== undefined && { profile }),
    ...(model !== undefined && { model }),
    ...(resume !== undefined && { resume }),
    ...(agentName !== undefined && { agent: agentName }),
    ...(mode !== undefined && { mode: mode as Mode }),
  })
  agent.budget = budget
  if (options.output === 'stream-json') stream = new StreamJson(agent, (line) => output.out(line))
  const abort = new AbortController()
  const stop = () => abort.abort()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop)
  try {
    for (const note of agent.notes) output.err(`note: ${safe(note)}\n`)
    for (const { name } of agent.untrusted) {
      output.err(`note: ${name} is left out until you approve it. Run cordon chat here once, and say yes to it.\n`)
    }
    const { parts, notes } = await agent.attach(text, abort.signal)
    for (const note of notes) output.err(`${safe(note)}\n`)
    const end = await agent.turn(
      { role: 'user', parts },
      { signal: abort.signal, ...(maxTurns !== undefined && { maxTurns }), ...(budget !== undefined && { budget }) },
    )
    const problem = endText(end)
    if (stream) stream.end(end, problem, denials)
    else if (options.output === 'json') {
      const { usage, cost, turns } = agent.agent.spent
      const said = end.reason === 'done' ? end.text : null
      output.out(
        `${JSON.stringify({ session: agent.id, end: end.reason, text: said, problem, calls, turns, usage, cost })}\n`,
      )
    } else if (problem !== null) output.err(`cordon: ${safe(problem)}\n`)
    return EXITS[end.reason]
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.removeListener(signal, stop)
    await agent.close()
  }
}
