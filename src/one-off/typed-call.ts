/** Decides a typed command: written denials and modes apply, everything else runs. */

import { resolveCall } from '../call/decide/resolve-call.ts'
import { typedDecision, typedText } from '../confine/entitlement.ts'
import type { ToolCall } from '../policy/call.ts'
import type { Decision, PartDecision } from '../policy/decision.ts'
import { evaluate } from '../policy/evaluate/evaluate.ts'
import type { Policy } from '../policy/policy.ts'
import type { ReasonCode } from '../policy/reason.ts'
import type { AnsweredPolicy } from '../project/answers.ts'
import { analyze } from '../shell/walk/analyze.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { bashSyntaxError } from '../system/processes.ts'

/** A parsed typed command. */
export interface TypedCall {
  readonly command: string
  readonly call: ToolCall
}

/** Parses a command's words. */
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
 * Decides it. A written denial or the mode applies to everyone in the project. Built-in asks exist
 * for agents and do not apply: the person answered by typing. `server`: a program that serves an
 * agent, to which modes do not apply.
 */
export function decideTyped(
  { command, call }: TypedCall,
  { loaded, session }: AnsweredPolicy,
  server = false,
): Decision {
  const judged = evaluate(server ? withoutAgents(loaded.policy) : loaded.policy, session, call)
  const denied = judged.segments.find(isHeld)
  if (denied) return { ...judged, decision: 'deny', reason: denied.reason, rules: denied.rules }
  return judged.decision === 'allow' ? judged : typedDecision(command, judged)
}

function isHeld({ decision, reason, rules }: PartDecision): boolean {
  if (decision !== 'deny') return false
  return MODES.has(reason.code) || (WRITTEN.has(reason.code) && rules.some(({ source }) => source !== 'built-in'))
}

const MODES: ReadonlySet<ReasonCode> = new Set(['plan-mode', 'ring', 'level-deny'])

const WRITTEN: ReadonlySet<ReasonCode> = new Set([
  'denied-by-rule',
  'shell-policy',
  'shell-syntax-off',
  'host-denied',
  'outside-envelope',
  'flow',
])

/** Rules about agents, modes and tool levels do not apply to a server. */
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
