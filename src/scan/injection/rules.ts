/** What text aimed at an agent looks like, as data: rules with weights, in groups of which only the heaviest counts. */

import type { InjectionRule } from './rule.ts'
import { AIM_RULES } from './rules-aims.ts'
import { ORDER_RULES } from './rules-orders.ts'
import { ROLE_RULES } from './rules-roles.ts'

export type { InjectionRule } from './rule.ts'

/** The score from which on a text counts as an injection. */
export const THRESHOLD = 0.4

export const INJECTION_RULES: readonly InjectionRule[] = [...ORDER_RULES, ...ROLE_RULES, ...AIM_RULES]
