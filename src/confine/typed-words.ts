/**
 * Facts about a typed command without parsing it: its text, and whether any written rule could deny
 * it.
 */

import { type Decision, soleDecision } from '../policy/decision.ts'
import type { AnsweredPolicy } from '../project/answers.ts'

/** Quotes words so that a shell reads them back unchanged. */
export function typedText(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

/**
 * Whether a written rule or a mode could deny a typed command. Otherwise it is not parsed: loading
 * the parser takes a fifth of the time of `cordon run -- true`.
 */
export function canBeDenied({ loaded: { policy } }: AnsweredPolicy, server: boolean): boolean {
  const { commands, shellPolicy, envelope, reads, writes, http, flags } = policy
  const { mode, agent, agents, tools } = policy
  if (envelope !== null) return true
  if (!server && (mode.value === 'plan' || agent.value === 'plan' || agents.size + tools.size > 0)) return true
  const denials = [commands.deny, commands.deniedDomains, http.denied, reads.deny, writes.deny]
  const off = Object.values(flags).filter(({ value }) => value !== true && value !== 'all')
  return [...denials.flat(), ...shellPolicy.allow, ...shellPolicy.deny, ...off].some(
    ({ source }) => source !== 'built-in',
  )
}

/** The decision about a command that nothing denies. */
export function undeniable(command: string, grants: readonly string[]): Decision {
  const subject = { kind: 'command', text: command } as const
  if (grants.length > 0) return soleDecision('allow', subject, { code: 'granted', message: `${grants[0]} grants it.` })
  return typedDecision(command, null)
}

/** A typed command runs even if an agent would be asked about it or denied it. */
export function typedDecision(command: string, judged: Decision | null): Decision {
  const asked = judged?.decision === 'deny' ? 'would be denied it' : 'would be asked about it'
  const message = `It was typed; an agent ${asked}${judged ? `: ${judged.reason.message}` : '.'}`
  return soleDecision('allow', { kind: 'command', text: command }, { code: 'typed', message }, judged?.rules ?? [])
}

/** Quotes a word; plain words stay readable. */
function quoted(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) && !KEYWORDS.has(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'if then elif else fi time for in until while do done case esac coproc select function'.split(' '),
)

/** More words than this are data. */
const MOST_WORDS = 200

/** Words of a text that may name programs. A false match only shows a useless folder. */
export function programWords(text: string): readonly string[] {
  const words = text.split(/[\s;|&<>()"'`=]+/, MOST_WORDS).filter((word) => /^[\w~/][\w@.+~/-]*$/.test(word))
  return [...new Set(words)]
}
