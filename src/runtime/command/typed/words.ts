/** What is known of a typed command without reading it: its words as one text, and whether any written rule could deny it. */

import { type Decision, soleDecision } from '../../../policy/decision.ts'
import type { Policy } from '../../../policy/policy.ts'

/** The words as one text that a shell would read as the same words. */
export function typedText(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

/**
 * Whether somebody wrote a rule that can deny. Without one every typed command runs, so that it need not be read: loading
 * what reads it takes `cordon run -- true` a fifth of its time.
 */
export function hasWrittenDenials({ commands, shellPolicy, envelope, reads, writes, http }: Policy): boolean {
  const denials = [commands.deny, commands.deniedDomains, http.denied, reads.deny, writes.deny, envelope ?? []]
  const texts = [...shellPolicy.allow, ...shellPolicy.deny]
  return envelope !== null || [...denials.flat(), ...texts].some(({ source }) => source !== 'built-in')
}

/** The decision about a command that no written rule can deny. */
export function undeniable(command: string, grants: readonly string[]): Decision {
  const subject = { kind: 'command', text: command } as const
  if (grants.length > 0) return soleDecision('allow', subject, { code: 'granted', message: `${grants[0]} grants it.` })
  return soleDecision('ask', subject, { code: 'level-ask', message: 'An agent would be asked about it.' })
}

/** One word, whatever it holds; plain words stay as they are, so that a person recognises them. */
function quoted(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) && !KEYWORDS.has(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`
}

/** Words that a shell reads as its own grammar. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'if then elif else fi time for in until while do done case esac coproc select function'.split(' '),
)
