/** Labels of what a session has read, and rules for where labelled data may go. PURE. */

import type { Verdict } from './order.ts'
import type { RuleRef } from './policy.ts'

/** Labels of data that Cordon itself sees. Any other label is the host or server that answered. */
export const DATA_LABELS = ['secret', 'outside', 'neighbour', 'instructions'] as const
export type DataLabel = (typeof DATA_LABELS)[number]

export function isDataLabel(label: string): label is DataLabel {
  return DATA_LABELS.some((one) => one === label)
}

/** The labels of a session, each with its first source: a file, a page, a tool. */
export type Labels = ReadonlyMap<string, string>

export const NO_LABELS: Labels = new Map()

/** `"outside -> *.github.com" = "deny"`. */
export interface FlowRule extends RuleRef {
  readonly from: string
  readonly to: string
  readonly level: Verdict
}

/** Files that outlive a call, as a receiver. */
export const FILES = 'files'

/** `LABEL -> RECEIVER`; null for any other text. */
export function readFlow(text: string): { readonly from: string; readonly to: string } | null {
  const [, from, to] = /^([\x21-\x7e]+) -> ([\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)$/.exec(text) ?? []
  return from === undefined || to === undefined ? null : { from, to }
}
