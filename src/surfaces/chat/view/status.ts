/** The status line: mode, agent, sandbox, tokens, cost. */

import type { AgentSession } from '../../../chat/agent-session.ts'

/** Dollars, with as many places as say something. */
export function spentText(cost: number | null): string {
  if (cost === null) return '$?'
  return `$${cost === 0 || cost >= 0.1 ? cost.toFixed(2) : cost.toPrecision(2)}`
}

function count(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  return tokens < 1_000_000 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`
}

/** What holds at this moment. */
export function statusText(agent: AgentSession, doing: string | null): string {
  const { usage, cost } = agent.agent.spent
  const { enforced, directory } = agent.session.sandbox()
  const own = directory === agent.cordon.root ? 'sandbox' : enforced ? 'own sandbox' : 'own sandbox at the first write'
  const tokens = usage.input + usage.cacheRead + usage.cacheWrite + usage.output
  return [
    ...(doing === null ? [] : [doing]),
    agent.session.agent,
    agent.session.mode,
    own,
    agent.model.name,
    `${count(tokens)} tokens, ${Math.round(agent.agent.fullness * 100)}%`,
    spentText(cost),
  ].join(' · ')
}
