/** What is known of a typed command without reading it: its words as one text, and whether any written rule could deny it. */

import { type Decision, soleDecision } from '../policy/decision.ts'
import type { AnsweredPolicy } from '../project/answers.ts'

/** The words as one text that a shell would read as the same words. */
export function typedText(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

/**
 * Whether something can deny a typed command: a rule that somebody wrote, or the mode of the agent. Without it every one runs, so
 * that it need not be read: loading what reads it takes `cordon run -- true` a fifth of its time.
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

/** The decision about a command that nothing denies: by its grant, else because it was typed. */
export function undeniable(command: string, grants: readonly string[]): Decision {
  const subject = { kind: 'command', text: command } as const
  if (grants.length > 0) return soleDecision('allow', subject, { code: 'granted', message: `${grants[0]} grants it.` })
  return typedDecision(command, null)
}

/** What an agent would be asked about, or what is built in against agents, runs because the person typed it. */
export function typedDecision(command: string, judged: Decision | null): Decision {
  const asked = judged?.decision === 'deny' ? 'would be denied it' : 'would be asked about it'
  const message = `It was typed; an agent ${asked}${judged ? `: ${judged.reason.message}` : '.'}`
  return soleDecision('allow', { kind: 'command', text: command }, { code: 'typed', message }, judged?.rules ?? [])
}

/** One word, whatever it holds; plain words stay as they are, so that a person recognises them. */
function quoted(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) && !KEYWORDS.has(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`
}

/** Words that a shell reads as its own grammar. */
const KEYWORDS: ReadonlySet<string> = new Set(
  'if then elif else fi time for in until while do done case esac coproc select function'.split(' '),
)

/** More words than this are data. */
const MOST_WORDS = 200

/** The words of a text that may name programs: a word too many shows a folder of programs that is of no use. */
export function programWords(text: string): readonly string[] {
  const words = text.split(/[\s;|&<>()"'`=]+/, MOST_WORDS).filter((word) => /^[\w~/][\w@.+~/-]*$/.test(word))
  return [...new Set(words)]
}
