/** Compares what bash executed with what the analysis said would be. */

import type { CommandFact, ShellAnalysis, Word } from '../../src/shell/facts.ts'

/**
 * How the facts account for a command: `exact` every program with its full argv; `dynamic` some argument was not known;
 * `marked` the facts say that more may run; `rejected` the text is refused; `missed` something ran that no one predicted.
 */
export type Outcome = 'exact' | 'dynamic' | 'marked' | 'rejected' | 'missed'

export interface Comparison {
  readonly outcome: Outcome
  /** The argv that was not predicted. */
  readonly missed: readonly string[] | null
}

/** Hazards that say outright that the words after them may mean something else. */
const UNKNOWABLE = new Set([
  'alias',
  'arithmetic-eval',
  'command-lookup',
  'dynamic-assignment',
  'dynamic-name',
  'env-changes-program',
  'eval',
  'exported-function',
  'function-removed',
  'hook',
  'maybe-function',
  'nameref',
  'prompt-transform',
  'script-from-input',
  'shell-option',
  'source',
  'transform',
])

export function compare(analysis: ShellAnalysis, executed: readonly (readonly string[])[]): Comparison {
  if ('rejection' in analysis) return { outcome: 'rejected', missed: null }
  const { commands, hazards } = analysis.facts
  const marked =
    hazards.some((hazard) => UNKNOWABLE.has(hazard.code)) ||
    commands.some(
      (command) => command.unwrapped === 'some' || command.hazards.some((hazard) => UNKNOWABLE.has(hazard.code)),
    )
  let outcome: Outcome = 'exact'
  for (const argv of executed) {
    const found = bestMatch(commands, argv)
    if (found === null && !marked) return { outcome: 'missed', missed: argv }
    if (found === null) outcome = 'marked'
    else if (found === 'dynamic' && outcome === 'exact') outcome = 'dynamic'
  }
  return { outcome, missed: null }
}

function bestMatch(commands: readonly CommandFact[], argv: readonly string[]): 'exact' | 'dynamic' | null {
  let best: 'dynamic' | null = null
  for (const command of commands) {
    if (command.argv.length === 0 || !matches(command.argv, argv)) continue
    if (command.argv.every((word) => word.values !== null)) return 'exact'
    best = 'dynamic'
  }
  return best
}

/** True when the words can become this argv. */
export function matches(words: readonly Word[], argv: readonly string[]): boolean {
  let reachable = new Set([0])
  for (const word of words) {
    const next = new Set<number>()
    for (const at of reachable) {
      if (word.splits) for (let end = at; end <= argv.length; end++) next.add(end)
      else if (at < argv.length && accepts(word, argv[at] as string)) next.add(at + 1)
    }
    reachable = next
  }
  return reachable.has(argv.length)
}

function accepts(word: Word, value: string): boolean {
  return word.values === null ? value.startsWith(word.prefix) : word.values.includes(value)
}
