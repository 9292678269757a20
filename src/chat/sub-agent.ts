/** Sub-agents: child sessions with at most their parent's rights and budget. */

import { compareVerdicts } from '../policy/order.ts'
import type { CallPart } from '../providers/conversation.ts'
import type { Session } from '../session/session.ts'
import { Fault, messageOf } from '../system/fault.ts'
import type { ToolOutput } from '../tools/tool.ts'
import { Agent, type AgentEvent, type AgentTools, endText } from './agent.ts'
import type { Model } from './model.ts'
import type { Spent } from './transcript.ts'

export interface SubAgentParts {
  /** Opens a child's session. */
  readonly open: (id: string, agent: string) => Session
  readonly parent: Session
  readonly model: () => Model
  readonly system: (session: Session) => string
  readonly tools: (session: Session) => AgentTools
  /** Reports what the child does. */
  readonly report: (event: AgentEvent) => void
  /** Counts its usage for the parent. */
  readonly spend: (spent: Spent) => void
  /** Dollars left; undefined without a budget. */
  readonly left: () => number | undefined
}

const MAX_TURNS = 60

/** Runs tasks, each in its own session. */
export class SubAgents {
  readonly #parts: SubAgentParts
  #count = 0

  constructor(parts: SubAgentParts) {
    this.#parts = parts
  }

  async run({ prompt, agent }: { prompt: string; agent: string | null }, signal: AbortSignal): Promise<ToolOutput> {
    const { parent, model, system, tools, report, spend, left } = this.#parts
    const child = this.#open(agent ?? parent.agent)
    const loop = new Agent({
      tools: tools(child),
      model,
      system: () => system(child),
      transcript: { add: () => {}, compacted: () => {}, cleared: () => {} },
      report: (event) => {
        if (event.type === 'calling' || event.type === 'result') report(named(event))
      },
    })
    try {
      const budget = left()
      const end = await loop.turn(
        { role: 'user', parts: [{ type: 'text', text: prompt }] },
        { signal, maxTurns: MAX_TURNS, ...(budget !== undefined && { budget }) },
      )
      signal.throwIfAborted()
      if (end.reason === 'done') return { text: end.text || '[the sub-agent gave no answer]' }
      const why = end.reason === 'failed' ? messageOf(end.error) : endText(end)
      return { text: `The sub-agent did not finish: ${why}`, isError: true }
    } finally {
      spend(loop.spent)
      await child.close()
    }
  }

  /** Opens a child that may do at most what its parent may. */
  #open(agent: string): Session {
    const { open, parent } = this.#parts
    if (parent.agent === 'plan' && agent !== 'plan') throw freer(agent)
    const child = open(`${parent.id}-t${++this.#count}`, agent)
    try {
      const levels = new Map(parent.permissions().map(({ tool, level }) => [tool, level]))
      const more = child.permissions().some(({ tool, level }) => compareVerdicts(level, levels.get(tool) ?? 'deny') < 0)
      if (more || child.ring < parent.ring) throw freer(agent)
      return child
    } catch (error) {
      void child.close()
      throw error
    }
  }
}

function freer(agent: string): Fault {
  return new Fault('unknown-agent', `the agent "${agent}" may do more than you, so it cannot work for you`, {
    remedy: 'Omit "agent", or name "plan".',
  })
}

/** Distinguishes a child's calls from its parent's. */
function named(event: Extract<AgentEvent, { type: 'calling' | 'result' }>): AgentEvent {
  const call: CallPart = { ...event.call, name: `task › ${event.call.name}` }
  return { ...event, call }
}
