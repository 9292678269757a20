/** Text of strangers for people's eyes: nothing in it can act on a terminal, hide, turn around or pile up. */

/** One character of a text as it may be shown. */
interface ShownCharacter {
  /** The character, or its escape. */
  readonly text: string
  readonly source: string
  /** Where the character is in the text. */
  readonly at: number
  readonly escaped: boolean
  /** A combining mark: it has no width. */
  readonly mark: boolean
}

/**
 * Characters that are never shown raw, as the inside of a character class for the `u` flag:
 * control, format, private, unassigned and lone surrogate characters; separators other than a plain
 * blank; characters that a font may omit (zero-width, bidi, tags, variation selectors, fillers);
 * and two symbols that look empty.
 */
export const HIDDEN_CHARACTERS: string = String.raw`\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\u{1d159}`

/** More marks than any script stacks on one letter would run into the rows above. */
const MAX_MARKS = 3

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\e', '\0': '\\0' }

interface Expressions {
  readonly hidden: RegExp
  readonly mark: RegExp
  readonly either: RegExp
}

let created: Expressions | null = null

/** Compiled on first use: most text is plain, and compiling takes as long as a decision. */
function expressions(): Expressions {
  created ??= {
    hidden: new RegExp(`[${HIDDEN_CHARACTERS}]`, 'u'),
    mark: /\p{M}/u,
    either: new RegExp(`[${HIDDEN_CHARACTERS}\\p{M}]`, 'u'),
  }
  return created
}

/** True if a character of the text is not shown as it is, marks aside. */
export function hidesSomething(text: string): boolean {
  return !/^[\x20-\x7e]*$/.test(text) && expressions().hidden.test(text)
}

/** A text, character by character, as it may be shown. */
export function shownCharacters(text: string): ShownCharacter[] {
  const { hidden, mark } = expressions()
  const shown: ShownCharacter[] = []
  let at = 0
  let marks = 0
  // A mark needs a letter of the text below it: it must not sit on what we write before it, or on an escape.
  let hasBase = false
  for (const source of text) {
    const isMark = mark.test(source)
    marks = isMark ? marks + 1 : 0
    const escaped: boolean = hidden.test(source) || (isMark && (!hasBase || marks > MAX_MARKS))
    const written = escaped ? (NAMED[source] ?? `\\u{${source.codePointAt(0)!.toString(16)}}`) : source
    shown.push({ text: written, source, at, escaped, mark: isMark && !escaped })
    hasBase = isMark ? hasBase : !escaped
    at += source.length
  }
  return shown
}

/** The text on one line, with a visible escape for everything that is not shown as it is. */
export function visible(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) || !expressions().either.test(text)) return text
  return shownCharacters(text)
    .map((character) => character.text)
    .join('')
}

/** The same for text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}
