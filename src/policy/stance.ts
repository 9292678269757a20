/** The stance of a session towards one tool: mode, agent, ring and level, before any part of a call is checked. */

import type { SessionFacts } from './call.ts'
import type { Reason } from './decision.ts'
import type { Verdict } from './order.ts'
import { type AgentRule, type Mode, type Policy, type RuleRef, ref, type Sourced } from './policy.ts'
import { type ToolKind, toolKind } from './tool-kind.ts'

/** A verdict with its reason and rules, before it is bound to a part. */
export interface Ruling {
  readonly decision: Verdict
  readonly reason: Reason
  readonly rules: readonly RuleRef[]
  readonly firm?: boolean
  readonly relies?: 'undo'
}

export interface Stance {
  readonly tool: string
  readonly kind: ToolKind
  readonly mode: Sourced<Mode>
  /** Step 1: the tool may not be used at all. */
  readonly denial: Ruling | null
  /** Step 3: an explicit level; null if none is set. */
  readonly explicit: Ruling | null
  /** Step 4: the level of P1. */
  readonly builtIn: Verdict
  /** The rule that answers remaining asks (auto mode, auto_accept), or null. */
  readonly answersAsks: RuleRef | null
  /** The rule by which asks are recorded and not asked (P11), or null. */
  readonly observes: RuleRef | null
}

/** The trust score of an agent that the manifest says nothing about (P8). */
export const DEFAULT_TRUST_SCORE = 0.7

/** Rings (P8): 1 and 2 may write and run, 3 may read and list only. */
export function ringOf(trustScore: number): 1 | 2 | 3 {
  if (trustScore >= 0.8) return 1
  return trustScore >= 0.6 ? 2 : 3
}

/**
 * Computes the session's stance towards a tool. `ownOnly`: it only handles what it started before,
 * which plan mode allows.
 */
export function takeStance(policy: Policy, session: SessionFacts, tool: string, ownOnly = false): Stance {
  const { kind, level: builtIn, boxed = false } = toolKind(tool)
  const agentName = session.agent ?? policy.agent.value
  const agent = policy.agents.get(agentName) ?? null
  const mode: Sourced<Mode> = session.mode
    ? { value: session.mode, rule: '/mode', source: 'session' }
    : (agent?.mode ?? policy.mode)
  const level = session.levels.get(tool) ?? agent?.tools.get(tool) ?? policy.tools.get(tool) ?? null
  return {
    tool,
    kind,
    mode,
    builtIn,
    denial:
      breakerDenial(session) ??
      ringDenial(agentName, agent, kind) ??
      (ownOnly ? null : planDenial(mode, agentName, session, policy, kind)) ??
      anyLevelDenial(tool, session, agent, policy),
    explicit: level ? levelRuling(tool, level) : modeLevel(mode, kind, boxed),
    answersAsks: askAnswer(mode, policy),
    observes: policy.observe ?? null,
  }
}

// A deny from any layer remains, so a later allow of another layer does not lift it.
function anyLevelDenial(tool: string, session: SessionFacts, agent: AgentRule | null, policy: Policy): Ruling | null {
  const found = [session.levels, agent?.tools, policy.tools].map((levels) => levels?.get(tool))
  const deny = found.find((level) => level?.value === 'deny')
  return deny ? levelRuling(tool, deny) : null
}

function breakerDenial(session: SessionFacts): Ruling | null {
  if (session.breakerOpenFor === null) return null
  const seconds = Math.ceil(session.breakerOpenFor)
  return {
    decision: 'deny',
    reason: {
      code: 'breaker',
      message: `Too many calls of this agent failed or were denied in a row, so its circuit breaker is open for ${seconds} s more.`,
      remedy: 'Wait, then try one call that is sure to be allowed; think about what the last denials said.',
    },
    rules: [{ rule: 'rings.breaker', source: 'built-in' }],
  }
}

function ringDenial(name: string, agent: AgentRule | null, kind: ToolKind): Ruling | null {
  const score = agent?.trustScore ?? { value: DEFAULT_TRUST_SCORE, rule: 'trust_score', source: 'built-in' }
  if (ringOf(score.value) < 3 || (kind !== 'write' && kind !== 'command' && kind !== 'network')) return null
  return {
    decision: 'deny',
    reason: {
      code: 'ring',
      message: `The agent "${name}" has a trust score of ${score.value}, which puts it in ring 3: it may read and list, not write, run commands or use the network.`,
      remedy: 'Read and list files instead, or ask the user to raise the agent’s trust_score to 0.6 or more.',
    },
    rules: [ref(score)],
  }
}

function planDenial(
  mode: Sourced<Mode>,
  agent: string,
  session: SessionFacts,
  policy: Policy,
  kind: ToolKind,
): Ruling | null {
  if (kind !== 'write' && kind !== 'command') return null
  if (mode.value !== 'plan' && agent !== 'plan') return null
  const byMode = mode.value === 'plan'
  const agentRule = session.agent ? { rule: '/agent', source: 'session' } : ref(policy.agent)
  return {
    decision: 'deny',
    reason: {
      code: 'plan-mode',
      message: `${byMode ? 'Plan mode' : 'The plan agent'} is read-only: nothing is written and no command runs.`,
      remedy: `Read, list and search instead, and present a plan; the user can switch with ${byMode ? '/mode' : '/agent build'}.`,
    },
    rules: [byMode ? ref(mode) : agentRule],
  }
}

function levelRuling(tool: string, level: Sourced<Verdict>): Ruling {
  const code = level.value === 'allow' ? 'level-allow' : level.value === 'ask' ? 'level-ask' : 'level-deny'
  const remedy =
    level.value === 'deny'
      ? { remedy: `Do without ${tool}, or ask the user to change its level at ${level.source}.` }
      : {}
  return {
    decision: level.value,
    reason: { code, message: `The level of ${tool} is "${level.value}".`, ...remedy },
    rules: [ref(level)],
  }
}

function modeLevel(mode: Sourced<Mode>, kind: ToolKind, boxed: boolean): Ruling | null {
  // P10: code without the project and the network stays inside the box as inline code of a command does.
  const level = boxed && mode.value === 'contained' ? 'allow' : MODE_LEVELS[mode.value]?.[kind]
  if (level === undefined) return null
  const code = level === 'allow' ? (mode.value === 'contained' ? 'contained' : 'level-allow') : 'level-ask'
  const what = kind === 'write' ? 'edits' : kind === 'command' ? 'commands' : 'this'
  return {
    decision: level,
    reason: {
      code,
      message:
        level === 'ask'
          ? `Mode "${mode.value}" asks before ${what}.`
          : `Mode "${mode.value}" lets ${what} run by itself.`,
    },
    rules: [ref(mode)],
  }
}

/** The levels of P2: modes not listed here follow the code. */
const MODE_LEVELS: Partial<Record<Mode, Partial<Record<ToolKind, Verdict>>>> = {
  default: { write: 'ask', command: 'ask' },
  auto_accept: { write: 'allow', command: 'ask' },
  contained: { read: 'allow', list: 'allow', write: 'allow' },
}

function askAnswer(mode: Sourced<Mode>, policy: Policy): RuleRef | null {
  if (mode.value === 'auto') return ref(mode)
  return mode.value === 'custom' && policy.autoAccept.value ? ref(policy.autoAccept) : null
}
