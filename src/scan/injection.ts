/** Scans text for instructions aimed at an agent. A score, not a verdict on intent: docs/SCAN.md says what it cannot see. */

import { INJECTION_RULES, type InjectionRule, THRESHOLD } from './injection-rules.ts'
import { normalise, type Span, type View, type Views } from './normalise.ts'

export interface InjectionFinding {
  readonly rule: string
  /** The words that matched, as the agent reads them. */
  readonly excerpt: string
  readonly weight: number
  /** Where they come from in the text. */
  readonly span: Span
}

export interface InjectionScan {
  readonly injection: boolean
  /** From 0 to 1. */
  readonly score: number
  /** The heaviest first. */
  readonly findings: readonly InjectionFinding[]
}

/** Longer texts are read at both ends: what steers an agent stands where it is read first or last. */
const MAX_TEXT = 2_000_000
const MAX_EXCERPT = 160
/** What was hidden or encoded was meant to be missed by a person; a comment may only be one. */
const CONCEALED_BONUS: Readonly<Record<View['source'], number>> = {
  plain: 0,
  comment: 0.15,
  encoded: 0.25,
  hidden: 0.3,
}

/** Scans a text. Never throws, whatever the text is. */
export function scanText(text: string): InjectionScan {
  if (text.length > MAX_TEXT) return scanEnds(text)
  const views = normalise(text)
  const found: Found[] = []
  matchRules(views.lines, 'lines', vocabulary(views.lines.text), found)
  for (const view of [views.words, ...views.concealed]) matchRules(view, 'words', vocabulary(view.text), found)
  found.push(...hiddenText(views))
  const score = highestScore(found)
  return { injection: score >= THRESHOLD, score: Math.round(score * 1000) / 1000, findings: heaviestOfEach(found) }
}

interface Found extends InjectionFinding {
  readonly group: string
}

/** Signs this far apart have nothing to do with each other: a long manual holds one of everything. */
const REACH = 1500

/**
 * The highest score of any stretch of the text. Independent signs add up as doubts multiply, 1 - (1-a)(1-b)…, and of a
 * group only the heaviest counts.
 */
function highestScore(found: readonly Found[]): number {
  let highest = 0
  for (const { span } of found) {
    const doubts = new Map<string, number>()
    for (const other of found) {
      if (other.span.start > span.start + REACH || other.span.end < span.start) continue
      doubts.set(other.group, Math.min(1 - other.weight, doubts.get(other.group) ?? 1))
    }
    const doubt = [...doubts.values()].reduce((product, each) => product * each, 1)
    highest = Math.max(highest, 1 - doubt)
  }
  return highest
}

function heaviestOfEach(found: readonly Found[]): InjectionFinding[] {
  const heaviest = new Map<string, InjectionFinding>()
  for (const { rule, excerpt, weight, span } of found) {
    if ((heaviest.get(rule)?.weight ?? 0) < weight) heaviest.set(rule, { rule, excerpt, weight, span })
  }
  return [...heaviest.values()].sort((a, b) => b.weight - a.weight || a.span.start - b.span.start)
}

function scanEnds(text: string): InjectionScan {
  const half = MAX_TEXT / 2
  const tailAt = text.length - half
  const head = scanText(text.slice(0, half))
  const tail = scanText(text.slice(tailAt))
  const moved = tail.findings.map((finding) => ({
    ...finding,
    span: { start: finding.span.start + tailAt, end: finding.span.end + tailAt },
  }))
  return {
    injection: head.injection || tail.injection,
    score: Math.max(head.score, tail.score),
    findings: [...head.findings, ...moved],
  }
}

/** The different words of a text: far less to look through for hints than the text. */
function vocabulary(text: string): string {
  return text.length < 2000 ? text : [...new Set(text.split(/\s+/))].join(' ')
}

const MAX_MATCHES = 20

function matchRules(view: View, on: InjectionRule['on'], known: string, found: Found[]): void {
  for (const rule of INJECTION_RULES) {
    if (rule.on !== on || !rule.hints.every((set) => set.some((hint) => known.includes(hint)))) continue
    let count = 0
    for (const hit of view.text.matchAll(rule.pattern)) {
      if (++count > MAX_MATCHES) break
      const bonus = CONCEALED_BONUS[view.source]
      const weight = bonus === 0 ? rule.weight : Math.min(0.95, rule.weight + bonus)
      const span = view.span(hit.index, hit.index + hit[0].length)
      found.push({ group: rule.group, rule: rule.rule, excerpt: excerpt(hit[0]), weight, span })
    }
  }
}

/** Text that only a machine sees is suspicious before it is read. */
function* hiddenText(views: Views): Iterable<Found> {
  for (const view of views.concealed) {
    if (view.source !== 'hidden') continue
    const span = view.span(0, view.text.length)
    yield { group: 'hidden', rule: 'tag-characters', excerpt: excerpt(view.text), weight: 0.6, span }
  }
  const { length } = views.words.text
  const span = { start: 0, end: Math.max(1, length) }
  if (views.invisible >= 6 && views.invisible > length / 200) {
    const count = `${views.invisible} invisible characters inside words`
    yield { group: 'hidden', rule: 'invisible-characters', excerpt: count, weight: 0.3, span }
  }
  if (views.overrides > 0) {
    yield {
      group: 'hidden',
      rule: 'bidi-override',
      excerpt: `${views.overrides} text direction overrides`,
      weight: 0.25,
      span,
    }
  }
}

function excerpt(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT - 1)}…` : line
}
