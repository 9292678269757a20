/**
 * Scans text for instructions aimed at an agent. A score, not a verdict on intent:
 * docs/guides/scan.md lists its limits.
 */

import { type HintHits, HintSearch, occurs, type Part, stretches, type Way } from '../hints/automaton.ts'
import { readSentences } from './features.ts'
import HINTS from './hints.json' with { type: 'json' }
import { normalise, type Span, type View, type Views } from './normalise.ts'
import type { InjectionRule } from './rule.ts'
import { AIM_RULES } from './rules-aims.ts'
import { ORDER_RULES } from './rules-orders.ts'
import { ROLE_RULES } from './rules-roles.ts'
import { BIAS, LIMIT, NOTHING, UNIT, WEIGHTS } from './weights.generated.ts'

interface InjectionFinding {
  readonly rule: string
  /** The words that matched, as the agent reads them. */
  readonly excerpt: string
  readonly weight: number
  /** Where they come from in the text. */
  readonly span: Span
}

interface InjectionScan {
  readonly injection: boolean
  readonly score: number
  /** The heaviest first. */
  readonly findings: readonly InjectionFinding[]
}

/** Of longer texts both ends are read: instructions work best at the beginning or the end. */
const MAX_TEXT = 2_000_000
const MAX_EXCERPT = 160
/** Hidden or encoded text was meant to be missed; a comment may be ordinary. */
const CONCEALED_BONUS: Readonly<Record<View['source'], number>> = {
  plain: 0,
  comment: 0.15,
  encoded: 0.25,
  hidden: 0.3,
}

/**
 * Scans a text. Never throws. In guidance, which is written to instruct, only the rules' attacks
 * count: to the classifier "always answer in French" reads like one.
 */
export function scanText(text: string, isGuidance = false): InjectionScan {
  if (text.length > MAX_TEXT) return scanEnds(text, isGuidance)
  if (isGuidance) return scanByRules(text)
  const views = normalise(text)
  return judged([...matches(views), ...classified(views)])
}

/** The result of the rules without the classifier, which is trained on what they miss. */
export function scanByRules(text: string): InjectionScan {
  return judged(matches(normalise(text)))
}

function judged(found: readonly Sign[]): InjectionScan {
  const score = highestScore(found)
  return { injection: score >= THRESHOLD, score: Math.round(score * 1000) / 1000, findings: heaviestOfEach(found) }
}

/** Everything that the rules find. */
function matches(views: Views): readonly Sign[] {
  const found: Sign[] = []
  hinted ??= hintedRules()
  const hits = hinted.search.find(views.words.text)
  matchLines(views.lines, hits, found, hinted)
  matchWords(views.words, hits, found, hinted)
  for (const view of views.concealed) matchWords(view, hinted.search.find(view.text), found, hinted)
  found.push(...hiddenText(views))
  return found
}

/** The findings of the classifier, in the text as written and in hidden or encoded parts. */
function* classified({ lines, concealed }: Views): Iterable<Sign> {
  for (const view of [lines, ...concealed]) {
    for (const { start, end, weight } of suspiciousSentences(view.text)) {
      const span = view.span(start, end)
      yield {
        group: 'classifier',
        rule: 'reads-like-an-order',
        excerpt: excerpt(view.text.slice(start, end)),
        weight,
        span,
      }
    }
  }
}

interface Sign extends InjectionFinding {
  readonly group: string
}

/** Signs this far apart are unrelated: a long manual contains some of everything. */
const REACH = 1500

/**
 * The highest score of any stretch of the text. Independent signs combine as 1 - (1-a)(1-b)…, and
 * of a group only the heaviest counts. One pass, because a hostile text has thousands.
 */
function highestScore(found: readonly Sign[]): number {
  const coming = [...found].sort((a, b) => a.span.start - b.span.start)
  const going = [...found].sort((a, b) => a.span.end - b.span.end)
  const inReach = new Map<string, Map<number, number>>()
  const count = ({ group, weight }: Sign, change: 1 | -1) => {
    const weights = inReach.get(group) ?? new Map<number, number>()
    weights.set(weight, (weights.get(weight) ?? 0) + change)
    inReach.set(group, weights)
  }
  let highest = 0
  let came = 0
  let gone = 0
  for (const { span } of coming) {
    while (came < coming.length && coming[came]!.span.start <= span.start + REACH) count(coming[came++]!, 1)
    while (gone < going.length && going[gone]!.span.end < span.start) count(going[gone++]!, -1)
    let doubt = 1
    for (const weights of inReach.values()) {
      let heaviest = 0
      for (const [weight, present] of weights) if (present > 0 && weight > heaviest) heaviest = weight
      doubt *= 1 - heaviest
    }
    highest = Math.max(highest, 1 - doubt)
  }
  return highest
}

function heaviestOfEach(found: readonly Sign[]): InjectionFinding[] {
  const heaviest = new Map<string, InjectionFinding>()
  for (const { rule, excerpt, weight, span } of found) {
    if ((heaviest.get(rule)?.weight ?? 0) < weight) heaviest.set(rule, { rule, excerpt, weight, span })
  }
  return [...heaviest.values()].sort((a, b) => b.weight - a.weight || a.span.start - b.span.start)
}

function scanEnds(text: string, isGuidance: boolean): InjectionScan {
  const half = MAX_TEXT / 2
  const tailAt = text.length - half
  const head = scanText(text.slice(0, half), isGuidance)
  const tail = scanText(text.slice(tailAt), isGuidance)
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

const MAX_MATCHES = 20

/** Of each rule: over how many words it reaches, and its ways to match: hints in words, and signs; a set a line, with tabs. */
type Hints = { readonly reach: number; readonly ways: readonly (readonly [words: string, signs: string])[] }
export const INJECTION_HINTS: Readonly<Record<string, Hints>> = HINTS as unknown as Readonly<Record<string, Hints>>

/** A rule with what hints at it. */
interface HintedRule {
  readonly rule: InjectionRule
  readonly reach: number
  readonly ways: readonly Way[]
  /** For each way, sets of texts other than words, of each of which one occurs as well. */
  readonly signs: readonly (readonly (readonly string[])[])[]
}

interface HintedRules {
  readonly lines: readonly HintedRule[]
  readonly words: readonly HintedRule[]
  readonly search: HintSearch
}

let hinted: HintedRules | null = null

/** Built at the first scan: most processes never scan anything. */
function hintedRules(): HintedRules {
  const read = INJECTION_RULES.map((rule) => {
    const { reach, ways } = INJECTION_HINTS[rule.rule]!
    return { rule, reach, words: ways.map(([words]) => setsOf(words)), signs: ways.map(([, signs]) => setsOf(signs)) }
  })
  const search = new HintSearch(read.flatMap(({ words }) => words.flat(2)))
  const all = read.map(({ words, ...known }) => ({
    ...known,
    ways: words.map((way) => way.map((set) => search.set(set))),
  }))
  return {
    lines: all.filter(({ rule }) => rule.on === 'lines'),
    words: all.filter(({ rule }) => rule.on === 'words'),
    search,
  }
}

function setsOf(written: string): readonly (readonly string[])[] {
  return written === '' ? [] : written.split('\n').map((set) => set.split('\t'))
}

/** Hints at a line occur in its words too. */
function matchLines(view: View, words: HintHits, found: Sign[], { lines }: HintedRules): void {
  const isThere = (sign: string) => view.text.includes(sign)
  for (const { rule, ways, signs } of lines) {
    const possible = ways.some((way, index) => occurs(words, [way]) && signs[index]!.every((set) => set.some(isThere)))
    if (possible) matchRule(rule, view, [[0, view.text.length]], found)
  }
}

function matchWords(view: View, hits: HintHits, found: Sign[], { words }: HintedRules): void {
  for (const { rule, ways, reach } of words) {
    if (occurs(hits, ways)) matchRule(rule, view, stretches(hits, ways, reach), found)
  }
}

/** No pattern on words reaches over three blanks. */
const APART = '   '

/** V8 prepares a pattern to be interpreted when its first text is shorter than this, and that takes it thrice as long. */
const COMPILED_FROM = 1000
const used = new WeakSet<RegExp>()

/** Finds a rule in parts of a view. A part ends between words, so that what matches in it matches in the whole. */
function matchRule(rule: InjectionRule, view: View, parts: readonly Part[], found: Sign[]): void {
  const { pattern } = rule
  const bonus = CONCEALED_BONUS[view.source]
  const weight = bonus === 0 ? rule.weight : Math.min(0.95, rule.weight + bonus)
  const joined = parts.map(([from, to]) => view.text.slice(from, to)).join(APART)
  const text = rule.on === 'lines' || used.has(pattern) ? joined : joined.padEnd(COMPILED_FROM)
  used.add(pattern)
  let part = 0
  let begins = 0
  pattern.lastIndex = 0
  for (let count = 0; count < MAX_MATCHES; count++) {
    const hit = pattern.exec(text)
    if (hit === null) return
    for (let [from, to] = parts[part]!; hit.index >= begins + to - from; [from, to] = parts[part]!) {
      begins += to - from + APART.length
      part++
    }
    const start = parts[part]![0] + hit.index - begins
    const span = view.span(start, start + hit[0].length)
    found.push({ group: rule.group, rule: rule.rule, excerpt: excerpt(hit[0]), weight, span })
  }
}

/** Text that only a machine sees is suspicious before it is read. */
function* hiddenText(views: Views): Iterable<Sign> {
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

/** A sentence that reads like an order to an agent. */
interface SuspiciousSentence {
  readonly start: number
  readonly end: number
  /** From the threshold of a hit on, up to 0.9. */
  readonly weight: number
}

const LEAST = 0.45
const MOST = 0.9
const MAX_SENTENCES = 20

/** The sentences of a text, in lower case, that read like instructions to an agent. */
export function suspiciousSentences(text: string): readonly SuspiciousSentence[] {
  const found: SuspiciousSentence[] = []
  readSentences(text, (start, end, features, count) => {
    let sum = 0
    for (let at = 0; at < count; at++) sum += WEIGHTS.charCodeAt(features[at]!)
    const score = BIAS + ((sum - NOTHING * count) * UNIT) / Math.sqrt(count)
    if (score <= LIMIT || found.length >= MAX_SENTENCES) return
    found.push({ start, end, weight: Math.min(MOST, LEAST + (score - LIMIT) / 10) })
  })
  return found
}

/** The score from which on a text counts as an injection. */
const THRESHOLD = 0.4

export const INJECTION_RULES: readonly InjectionRule[] = [...ORDER_RULES, ...ROLE_RULES, ...AIM_RULES]
