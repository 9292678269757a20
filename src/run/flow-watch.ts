/**
 * Follows labels while a command runs: what its session reads meanwhile must not leave through a
 * host that was allowed before. Each request is judged; of streams that Cordon does not read, each
 * new connection.
 */

import type { Confinement } from '../confine/confinement.ts'
import type { FlowWatch } from '../egress/route/gate.ts'
import { matchesHost } from '../hosts/pattern.ts'
import { flowMessage, flowRule, flowRules, isFollowed } from '../policy/evaluate/flows.ts'
import { isDataLabel } from '../policy/labels.ts'
import { takeStance } from '../policy/stance.ts'
import { type LabelPlace, readLabels } from '../project/session-labels.ts'
import type { Scope } from './port.ts'

export interface WatchedRun {
  readonly place: LabelPlace
  readonly scope: () => Scope
  readonly confinement: Confinement
  /** Labels that the decision about the run knew. */
  readonly followed: readonly string[]
}

export function watchFlows({ place, scope, confinement, followed }: WatchedRun): FlowWatch {
  const { allowed } = confinement.network.rules
  return ({ host, port }, agreed) => {
    const labels = readLabels(place)
    if (labels.size === 0) return null
    const { loaded, facts } = scope()
    const tools = [...loaded.policy.commands.toolDomains.values()].flat()
    const granted = (allowed ?? []).filter(({ pattern }) => matchesHost(pattern, host, port))
    // Tools fetch from these by name; what they change elsewhere is asked about when they start.
    if (granted.length > 0 && granted.every((rule) => tools.includes(rule))) return null
    const rules = flowRules(loaded.policy, facts)
    const { answersAsks, observes } = takeStance(loaded.policy, facts, 'bash')
    for (const [label, source] of labels) {
      if ((label === host && !isDataLabel(label)) || !isFollowed(label, rules)) continue
      const rule = flowRule(rules, label, { name: host, hosts: [] })
      if (rule === null || rule.level === 'allow') continue
      const isKnown = agreed.has(label) || (followed.includes(label) && granted.length > 0)
      if (rule.level === 'ask' && isKnown) continue
      if (rule.level === 'ask' && (observes || (answersAsks && rule.source === 'built-in'))) continue
      return { level: rule.level, label, message: flowMessage(label, source, host) }
    }
    return null
  }
}
