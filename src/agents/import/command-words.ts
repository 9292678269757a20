/** Rules of agent hosts about commands, as denials of a policy. Only what they deny or ask is taken: an allow opens nothing. */

import type { CommandPattern, TextPattern } from '../../policy/command-pattern.ts'
import type { CommandDenial } from '../../policy/policy.ts'
import type { Verdict } from './rules.ts'

/** One rule as the host has it. */
export interface CommandWord {
  readonly verdict: Verdict
  /**
   * `words`: commands that begin with these words. `glob`: a text with wildcards, of which one at the end may follow a blank or `:`.
   * `regex`: a regular expression. `every`: all commands, which the host itself still sees in the wrapped one. `read`, `write`: commands
   * that do this to the files of a glob.
   */
  readonly form: 'words' | 'glob' | 'regex' | 'every' | 'read' | 'write'
  readonly text: string
  /** As the person wrote it. */
  readonly said: string
}

/** What stands for a rule that cannot be understood: every command asks. */
export function unreadable(said: string): CommandWord {
  return { verdict: 'ask', form: 'glob', text: '*', said: `${said}, which cannot be read` }
}

/** The rules of a list; what is not a list of texts cannot be understood. */
export function listed(value: unknown, name: string, word: (rule: string) => readonly CommandWord[]): CommandWord[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return [unreadable(name)]
  return value.flatMap((rule: unknown) => (typeof rule === 'string' ? word(rule) : [unreadable(name)]))
}

/** The denials of one file, or of what else holds rules; where the last that matches wins, a later one that is weaker takes its own out. */
export function denialsOf(words: readonly CommandWord[], source: string, lastWins: boolean): readonly CommandDenial[] {
  return words.flatMap((word, at): readonly CommandDenial[] => {
    if (word.verdict === 'allow' || !isAboutCommands(word)) return []
    const weaker = lastWins ? words.slice(at + 1).filter(({ verdict }) => isWeaker(verdict, word.verdict)) : []
    const except = weaker.flatMap(exemption)
    return patternsOf(word).map(({ pattern, asks }) => ({
      pattern,
      prompt: false,
      paths: [],
      envVars: [],
      domains: [],
      inheritDefaultDomains: true,
      rule: word.said,
      source,
      ...((asks || word.verdict === 'ask') && { asks: true }),
      ...(except.length > 0 && { except }),
    }))
  })
}

function isAboutCommands({ form }: CommandWord): boolean {
  return form === 'words' || form === 'glob' || form === 'regex'
}

function isWeaker(one: Verdict, other: Verdict): boolean {
  return one !== other && (one === 'allow' || other === 'deny')
}

interface Meant {
  readonly pattern: CommandPattern
  /** It is wider than what was written, so it asks. */
  readonly asks: boolean
}

/** What a rule matches: at least all that its host means. */
function patternsOf({ form, text, said }: CommandWord): readonly Meant[] {
  if (form === 'regex') return [byRegex(text, said)]
  // A command's own words come without quotes and without what is set for it; what joins commands is not among them.
  const plain = text
    .replace(/["'\\]/g, '')
    .trim()
    .replace(/\s+/g, ' ')
  const cut = plain.replace(/^(?:\w+=\S* )+/, '').replace(/\s*[|&;<>`$()].*$/s, '')
  const asks = /[|&;<>`$()]/.test(plain)
  const [, begin = cut, tail = form === 'words' || asks ? ' *' : ''] = /^(.*?)(:\*|\s\*|\*)$/s.exec(cut) ?? []
  if (begin === '' || begin === '*') return [{ pattern: textPattern({ glob: '*' }, said, []), asks }]
  const words = wordsBefore(begin)
  const isPlain = !/[*?]/.test(begin)
  const open: readonly Meant[] = isPlain && tail !== '' ? [{ pattern: { text: said, words, open: true }, asks }] : []
  if (isPlain && (tail === ':*' || tail === ' *')) return open
  const globs = tail === '*' ? [`${begin}*`] : tail === '' ? [begin] : [begin, `${begin} *`]
  return [...open, ...globs.map((glob) => ({ pattern: textPattern({ glob }, said, words), asks }))]
}

/** What an allow takes out of a denial, where the host lets the last rule win: no more than it says. */
function exemption(word: CommandWord): readonly CommandPattern[] {
  if (word.form === 'every') return [textPattern({ glob: '*' }, word.said, [])]
  return patternsOf(word).flatMap(({ pattern, asks }) => (asks ? [] : [pattern]))
}

function byRegex(text: string, said: string): Meant {
  try {
    return { pattern: textPattern({ regex: new RegExp(text) }, said, []), asks: false }
  } catch {
    return { pattern: textPattern({ glob: '*' }, `${said}, which cannot be read`, []), asks: true }
  }
}

function textPattern(matches: TextPattern, text: string, words: readonly string[]): CommandPattern {
  return { text, words, open: true, matches }
}

/** The words that a text begins with for certain. */
function wordsBefore(text: string): readonly string[] {
  return text.split(/[*?]/)[0]!.split(' ').filter(Boolean)
}
