/** Two rules of one file that overlap: what is said of them. */

import type { Item } from '../schema/manifest.ts'
import type { Report } from '../toml/problem.ts'
import { quoteShort } from '../toml/tree.ts'

/** A rule with its pattern. */
export interface Parsed<E, P> {
  readonly item: Item<E>
  readonly pattern: P
}

/** Reports a grant that can never take effect, because a denial covers all of it. */
export function reportDenied(report: Report, item: Item, text: string, denial: Item, same: boolean): void {
  const what = quoteShort(text)
  report.error(item.at, item.rule, {
    code: same ? 'contradiction' : 'shadowed',
    message: same
      ? `${what} is both allowed and denied, and deny wins`
      : `${what} is allowed, but a deny covers all of it`,
    expected: 'a grant that can take effect',
    found: `${denial.rule} at ${denial.source}`,
    suggestion: 'delete the grant, or narrow the deny',
  })
}

/** Reports a rule that is there twice. */
export function reportDuplicate(report: Report, item: Item, text: string, first: Item): void {
  report.error(item.at, item.rule, {
    code: 'duplicate-rule',
    message: `${quoteShort(text)} is listed twice`,
    expected: 'each rule once',
    found: `${first.rule} at ${first.source}`,
    suggestion: 'delete one of them',
  })
}

/** Warns of a rule that a broader one makes pointless. */
export function warnShadowed(report: Report, item: Item, text: string, other: Item): void {
  report.warn(item.at, item.rule, {
    code: 'shadowed',
    message: `${quoteShort(text)} adds nothing: a broader rule covers it`,
    found: `${other.rule} at ${other.source}`,
    suggestion: 'delete the narrower rule, or the broader one',
  })
}
