/** Decides a command that the person typed: no agent asks for it, so written denials hold and everything else runs. */

import type { ToolCall } from '../../../policy/call.ts'
import { type Decision, type PartDecision, soleDecision } from '../../../policy/decision.ts'
import { evaluate } from '../../../policy/evaluate.ts'
import type { Policy } from '../../../policy/policy.ts'
import type { ReasonCode } from '../../../policy/reason.ts'
import { analyze } from '../../../shell/analyze.ts'
import { bashSyntaxError } from '../../../system/bash.ts'
import type { Files } from '../../../system/files.ts'
import type { Machine } from '../../../system/machine.ts'
import { newSession } from '../../decide/check-call.ts'
import { resolveCall } from '../../decide/resolve-call.ts'
import { extendPolicy } from '../../policy/extend.ts'
import type { LoadedPolicy } from '../../policy/load.ts'
import { readBrief } from '../../session/discovery-brief.ts'
import { SessionState } from '../../session/state.ts'
import { typedText } from './words.ts'

/** A typed command as it was read. */
export interface TypedCall {
  readonly command: string
  readonly call: ToolCall
}

/** Reads the words of a command. */
export function readTyped(argv: readonly string[], cwd: string, machine: Machine, files: Files): TypedCall {
  const command = typedText(argv)
  const call = resolveCall(
    'bash',
    { command },
    {
      cwd,
      home: machine.home,
      roots: [cwd],
      temporary: null,
      foreignCharset: false,
      canonical: files.canonical,
      isLink: files.isLink,
      analyze,
      syntaxError: bashSyntaxError,
      ownAddresses: machine.ownAddresses,
    },
  )
  return { command, call }
}

/**
 * Decides it. A rule that somebody wrote holds for everybody in the project; what is built in is there for agents, whose
 * commands nobody reads before they run, and asks here at most. The person has answered by typing.
 */
export function decideTyped({ command, call }: TypedCall, loaded: LoadedPolicy, machine: Machine): Decision {
  const decision = evaluate(withoutAgents(loaded.policy), newSession(loaded, machine), call)
  if (decision.decision !== 'deny') return decision
  const held = decision.segments.find(isWrittenDenial)
  if (held) return { ...decision, reason: held.reason, rules: held.rules }
  return soleDecision('ask', { kind: 'command', text: command }, decision.reason, decision.rules)
}

function isWrittenDenial({ decision, reason, rules }: PartDecision): boolean {
  return decision === 'deny' && WRITTEN.has(reason.code) && rules.some(({ source }) => source !== 'built-in')
}

const WRITTEN: ReadonlySet<ReasonCode> = new Set(['denied-by-rule', 'shell-policy', 'host-denied', 'outside-envelope'])

/** The policy with the discovery brief (F3), which holds for whatever runs in the project. */
export function withBrief(loaded: LoadedPolicy, machine: Machine, files: Files): LoadedPolicy {
  const brief = loaded.session.discoveryBrief
  if (brief === null) return loaded
  const state = new SessionState(null, newSession(loaded, machine))
  state.widenEnvelope(readBrief(brief, files), 'discovery brief', { root: loaded.root, home: machine.home }, true)
  return extendPolicy(loaded, { envelope: state.envelope() })
}

/** What is said of agents, their modes and the levels of their tools is not about the person. */
function withoutAgents(policy: Policy): Policy {
  const { source } = policy.mode
  return {
    ...policy,
    mode: { ...policy.mode, value: 'custom' },
    agent: { value: 'build', rule: 'typed', source },
    agents: new Map<string, never>(),
    tools: new Map<string, never>(),
    autoAccept: { ...policy.autoAccept, value: false },
  }
}
