/** Converts hosts' command rules to denials of a policy. Only denials and asks count: an allow opens nothing. */

import type { CommandPattern, TextPattern } from '../../policy/command-pattern.ts'
import type { CommandDenial } from '../../policy/policy.ts'
import type { Verdict } from './rules.ts'

/** One rule of a host. */
export interface CommandWord {
  readonly verdict: Verdict
  /**
   * `words`: commands that begin with these words. `glob`: a text with wildcards; one at the end may follow a blank or
   * `:`. `regex`: a regular expression. `every`: all commands, which the host still sees in the wrapped one. `read`,
   * `write`: commands that do this to a glob's files.
   */
  readonly form: 'words' | 'glob' | 'regex' | 'every' | 'read' | 'write'
  readonly text: string
  readonly said: string
}

/** Replaces an unreadable rule: every command asks. */
export function unreadable(said: string): CommandWord {
  return { verdict: 'ask', form: 'glob', text: '*', said: `${said}, which cannot be read` }
}

/** The rules of a list; anything but a list of texts is unreadable. */
export function listed(value: unknown, name: string, word: (rule: string) => readonly CommandWord[]): CommandWord[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) return [unreadable(name)]
  return value.flatMap((rule: unknown) => (typeof rule === 'string' ? word(rule) : [unreadable(name)]))
}

/** The denials of one source; if the last match wins, a later weaker rule removes its part. */
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
  /** The pattern is wider than the rule, so it asks. */
  readonly asks: boolean
}

/** Patterns that match at least what the host's rule does. */
function patternsOf({ form, text, said }: CommandWord): readonly Meant[] {
  if (form === 'regex') return [byRegex(text, said)]
  // Command words have no quotes and no assignments, and operators are not among them.
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

/** What an allow removes from a denial if the last rule wins: never more than it says. */
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

/** The certain first words of a text. */
function wordsBefore(text: string): readonly string[] {
  return text.split(/[*?]/)[0]!.split(' ').filter(Boolean)
}
