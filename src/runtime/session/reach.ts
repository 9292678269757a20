/** What a yes opens for one call: the places outside and the hosts that were asked about. */

import type { Question } from '../../approval/approve.ts'
import { hostOfPart } from '../../approval/suggestion.ts'
import type { HostQuestion } from '../../egress/gate.ts'
import { parseHostPattern } from '../../hosts/pattern.ts'
import { type Decision, type PartDecision, soleDecision } from '../../policy/decision.ts'
import type { HostRule } from '../../policy/policy.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import type { Files } from '../../system/files.ts'
import type { CallReach } from './policy.ts'

/** The reach of a call that a person agreed to. */
export function reachOf(
  decision: Decision,
  facts: ShellFacts | null,
  resolve: (given: string) => string,
  files: Files,
): CallReach {
  const asks = decision.segments.filter((part) => part.decision === 'ask')
  const places = (kinds: readonly PartDecision['kind'][]) =>
    asks
      .filter((part) => part.reason.code === 'outside-roots' && kinds.includes(part.kind))
      .map((part) => resolve(part.text))
      .filter((path) => files.exists(path))
  const roots = places(['write'])
  return {
    roots,
    readOnly: places(['read', 'list']).filter((path) => !roots.includes(path)),
    hosts: asks.filter((part) => part.kind === 'host').flatMap((part) => hostRule(part, facts)),
  }
}

function hostRule(part: PartDecision, facts: ShellFacts | null): HostRule[] {
  const host = hostOfPart(part, facts)
  const parsed = host === null ? null : parseHostPattern(host, null)
  return parsed && 'pattern' in parsed ? [{ pattern: parsed.pattern, rule: 'answered', source: 'session' }] : []
}

/** The question of a running command about a host, as the prompt shows it. */
export function hostQuestion({ command, target }: HostQuestion): Pick<Question, 'tool' | 'subject' | 'decision'> {
  const host = target.port === 443 || target.port === 80 ? target.host : `${target.host}:${target.port}`
  const reason = {
    code: 'host-not-granted',
    message: `A running command reaches for ${host}, which no grant names.`,
  } as const
  return { tool: 'bash', subject: command, decision: soleDecision('ask', { kind: 'host', text: host }, reason) }
}
