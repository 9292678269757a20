/** What becomes of a decision: an allow runs, a deny does not, and an ask goes to a person if one may be asked. */

import type { Decision } from './decision.ts'
import { type Policy, type RuleRef, ref } from './policy.ts'

/** `refuse` is not a deny: nobody was there to be asked, or asking is off. */
export type Settlement =
  | { readonly outcome: 'run' }
  | { readonly outcome: 'deny' }
  | { readonly outcome: 'prompt' }
  | { readonly outcome: 'refuse'; readonly message: string; readonly rules: readonly RuleRef[] }

/** Settles a decision for a session that has a prompter, or has none. */
export function settle(decision: Decision, policy: Policy, prompter: boolean): Settlement {
  if (decision.decision === 'allow') return { outcome: 'run' }
  if (decision.decision === 'deny') return { outcome: 'deny' }
  if (!policy.runtimeGrants.value) {
    return refusal(
      'security.runtime_grants is false: only what the signed manifest grants may run',
      policy.runtimeGrants,
    )
  }
  if (policy.observe) return refusal('observe mode asks nothing, and it does not answer this itself', policy.observe)
  if (!policy.interactive.value) {
    return refusal('permission.interactive is false: no questions are asked', policy.interactive)
  }
  if (!prompter) return refusal('it needs approval from a person, and there is no one to ask', null)
  return { outcome: 'prompt' }
}

function refusal(message: string, rule: RuleRef | null): Settlement {
  return { outcome: 'refuse', message, rules: rule ? [ref(rule)] : [] }
}
