/** A problem of a manifest: where, what was expected and found, and what was probably meant. */

import type { RuleRef } from '../../policy/policy.ts'
import { visible } from '../../scan/visible-text.ts'
import type { Position } from './tree.ts'

type ProblemCode =
  | 'bad-command'
  | 'bad-host'
  | 'bad-path'
  | 'bad-value'
  | 'broad-grant'
  | 'contradiction'
  | 'dangerous-setting'
  | 'duplicate-key'
  | 'duplicate-rule'
  | 'empty'
  | 'example-failed'
  | 'examples-unchecked'
  | 'layer-ignored'
  | 'missing-key'
  | 'narrow-denial'
  | 'not-text'
  | 'refused-grant'
  | 'schema-version'
  | 'shadowed'
  | 'syntax'
  | 'too-large'
  | 'unknown-key'
  | 'unset-variable'
  | 'unused'
  | 'wrong-type'

export interface Problem {
  readonly severity: 'error' | 'warning'
  readonly code: ProblemCode
  readonly file: string
  /** Null in the object form, where the key is the place. */
  readonly line: number | null
  readonly column: number | null
  /** `capabilities.allow.commands.patterns[3]`; empty for the file as a whole. */
  readonly key: string
  readonly message: string
  readonly expected: string | null
  readonly found: string | null
  /** What to write instead, in a few words. */
  readonly suggestion: string | null
}

/** The finding of a check about a value; the report adds the place. */
export interface Finding {
  readonly code: ProblemCode
  readonly message: string
  readonly expected?: string
  readonly found?: string
  readonly suggestion?: string | null
}

/** A reader has enough after this many, and a hostile file has cost enough. */
const MAX_PROBLEMS = 100

/** A key is shown on a line; a longer one is an attempt to hide something. */
const MAX_KEY = 200

/** Collects problems and warnings of one file, and names places in it. */
export class Report {
  readonly file: string
  readonly problems: Problem[] = []
  readonly warnings: Problem[] = []
  readonly #place: ((at: number) => Position) | null

  constructor(file: string, place: ((at: number) => Position) | null) {
    this.file = file
    this.#place = place
  }

  /** `cordon.toml:12:3`, or `manifest:capabilities.allow.read` without a text. */
  source(at: number, key: string): string {
    if (this.#place === null || at < 0) return `${this.file}:${key}`
    const { line, column } = this.#place(at)
    return `${this.file}:${line}:${column}`
  }

  error(at: number, key: string, finding: Finding): void {
    if (this.problems.length < MAX_PROBLEMS) this.problems.push(this.#problem('error', at, key, finding))
  }

  warn(at: number, key: string, finding: Finding): void {
    if (this.warnings.length < MAX_PROBLEMS) this.warnings.push(this.#problem('warning', at, key, finding))
  }

  #problem(severity: Problem['severity'], at: number, key: string, finding: Finding): Problem {
    const position = this.#place === null || at < 0 ? null : this.#place(at)
    return complete(severity, this.file, position, key, finding)
  }
}

/** A problem with a value that already knows its origin, such as one of several layers. */
export function problemAt(severity: Problem['severity'], at: RuleRef, finding: Finding): Problem {
  const place = /^(.*):([0-9]+):([0-9]+)$/.exec(at.source)
  const position = place === null ? null : { line: Number(place[2]), column: Number(place[3]) }
  // In the object form the source ends in the rule, which `key` already contains.
  const file = place?.[1] ?? at.source.split(':')[0]!
  return complete(severity, file, position, at.rule, finding)
}

function complete(
  severity: Problem['severity'],
  file: string,
  position: Position | null,
  key: string,
  finding: Finding,
): Problem {
  return {
    severity,
    code: finding.code,
    file,
    line: position?.line ?? null,
    column: position?.column ?? null,
    key: key.length > MAX_KEY ? `${key.slice(0, MAX_KEY)}...` : key,
    message: finding.message,
    expected: finding.expected ?? null,
    found: finding.found ?? null,
    suggestion: finding.suggestion ?? null,
  }
}

/** A problem on lines for a terminal; nothing in it can move the cursor. */
export function renderProblem(problem: Problem): string {
  const place = problem.line === null ? problem.key : `${problem.line}:${problem.column}`
  const where = place === '' ? problem.file : `${problem.file}:${place}`
  const key = problem.key === '' || problem.line === null ? '' : `${problem.key}: `
  const lines = [`${where}: ${problem.severity}: ${key}${problem.message}`]
  if (problem.expected !== null) lines.push(`  expected ${problem.expected}`)
  if (problem.found !== null) lines.push(`  found    ${problem.found}`)
  if (problem.suggestion !== null) lines.push(`  ${problem.suggestion}`)
  return lines.map(visible).join('\n')
}
