/** Command patterns: an argv prefix; `:*` allows any further words, `:kind` every change elsewhere of the kind that the words name. */

/** `"cargo build:*"` parsed. */
export interface CommandPattern {
  readonly text: string
  readonly words: readonly string[]
  /** True for `:*`: any further words. */
  readonly open: boolean
  /** True for `:kind`: the words are not argv, but name a kind of change elsewhere (`git push origin`). */
  readonly kind?: boolean
  /** A rule about the text of a command, such as agent hosts have; the words are those that the text begins with for certain. */
  readonly matches?: TextPattern
}

/** `git * main`, or a regular expression, compared with the text of one command. */
export type TextPattern = { readonly glob: string } | { readonly regex: RegExp }

const MAX_LENGTH = 1024

/** Parses a command pattern; single and double quotes keep blanks inside a word. */
export function parseCommandPattern(
  text: string,
): { readonly pattern: CommandPattern } | { readonly problem: string; readonly suggestion?: string } {
  if (text.length > MAX_LENGTH) return { problem: `a command pattern is at most ${MAX_LENGTH} characters` }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  if (/[\u0000-\u001f\u007f]/.test(text)) return { problem: 'a command pattern is one line without control characters' }
  const open = /\s*:\*\s*$/.test(text)
  const kind = /\S:kind\s*$/.test(text)
  const body = text.replace(open ? /\s*:\*\s*$/ : kind ? /:kind\s*$/ : /$^/, '')
  const words = splitWords(body)
  if (words === null) return { problem: 'a quote is not closed' }
  if (words.length === 0) {
    return {
      problem: 'a command pattern needs a program name; to open or close all commands set [permission.tools] bash',
    }
  }
  const wildcard = words.findIndex((word) => !word.quoted && /[*?]/.test(word.text))
  if (wildcard >= 0) {
    const literal = words.slice(0, wildcard).map((word) => word.text)
    return {
      problem: 'the only wildcard is ":*" at the end',
      ...(literal.length > 0 && { suggestion: `${literal.join(' ')}:*` }),
    }
  }
  const operator = words.find((word) => !word.quoted && /[|&;<>()$`\\]/.test(word.text))
  if (operator) {
    return { problem: `"${operator.text}" is shell syntax; a pattern names the words of one program` }
  }
  if (words[0]!.text === '') return { problem: 'the program name is empty' }
  return { pattern: { text, words: words.map((word) => word.text), open, ...(kind && { kind }) } }
}

function splitWords(text: string): { text: string; quoted: boolean }[] | null {
  const words: { text: string; quoted: boolean }[] = []
  let current: { text: string; quoted: boolean } | null = null
  let quote = ''
  for (const character of text) {
    if (quote !== '') {
      if (character === quote) quote = ''
      else current!.text += character
    } else if (character === '"' || character === "'") {
      current ??= { text: '', quoted: true }
      current.quoted = true
      quote = character
    } else if (character === ' ') {
      if (current) words.push(current)
      current = null
    } else {
      current ??= { text: '', quoted: false }
      current.text += character
    }
  }
  if (quote !== '') return null
  if (current) words.push(current)
  return words
}
