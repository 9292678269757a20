/** Reads a command text: a gate of limits and characters, then a tree that is checked. */

import { forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash'
import type { Hazard, ShellRejection, SyntaxUse } from '../facts.ts'
import { TreeCheck } from './tree-check.ts'
import { refuse, UnreadableText } from './unreadable-text.ts'

/** A text whose every node is understood. */
export interface ParsedText {
  readonly script: ParsedScript
  readonly syntax: readonly SyntaxUse[]
  readonly hazards: readonly Hazard[]
  /** Run `bash -n`: the text is more than words, quotes, pipes, lists and simple expansions. */
  readonly needsSyntaxCheck: boolean
  /** Uses what other shells read differently. */
  readonly bashOnly: boolean
}

/** A text whose parse is trusted, or why it is not. */
export function parseText(source: string): ParsedText | ShellRejection {
  const refused = gate(source)
  if (refused !== null) return refused
  try {
    const script = parse(source)
    const { syntax, hazards, checks, bashOnly } = new TreeCheck(source).run(script)
    return { script, syntax, hazards, needsSyntaxCheck: checks || !plainSkeleton(source, script), bashOnly }
  } catch (error) {
    if (error instanceof UnreadableText) return error.rejection
    if (error instanceof RangeError) return refuse('too-complex', 'the command is nested too deeply', 0)
    throw error
  }
}

/** True when the text outside words is only blanks and single operators. */
function plainSkeleton(source: string, script: ParsedScript): boolean {
  const words: { pos: number; end: number }[] = []
  const collect = (node: SyntaxNode): void => {
    if (node.type === 'Word' || node.type === 'Assignment') words.push(node)
    else forEachChild(node, collect)
  }
  forEachChild(script, collect)
  words.sort((a, b) => a.pos - b.pos)
  let rest = ''
  let at = 0
  for (const word of words) {
    rest += `${source.slice(at, word.pos)}w`
    at = Math.max(at, word.end)
  }
  rest += source.slice(at)
  return /^[\sw;&|<>0-9-]*$/.test(rest) && !/(?:;|&|\|)[ \t]*(?:;|\|)|[&|][ \t]+&|&&&|^\s*[;&|]/.test(rest)
}

/** Longest command text, in bytes of UTF-8. */
export const MAX_BYTES = 16_384
/** Deepest nesting of any one kind of bracket. */
const MAX_DEPTH = 100
/** `$[` is deprecated and costs the parser a scan to the end each time. */
const MAX_OLD_ARITHMETIC = 64
const MAX_BRACES = 600

/** Characters that form no operator together with what follows or precedes a line continuation. */
const JOINS_BEFORE = /[\w./:=,@%+\-"'})\]~^\s]/
const JOINS_AFTER = /[\w./:=,@%+\-"'$*?\\~^\s]/

const PLAIN = /^[\n\t\x20-\x7e]*$/
// Emoji carry variation selectors (FE00–FE0F); other invisible or reordering characters are
// refused. Built on first use, because that takes as long as reading a command.
const deceptive = (): RegExp =>
  /\p{Cc}|\p{Cf}|\p{Cs}|\p{Zl}|\p{Zp}|(?! )\p{Zs}|\u2800|\u034f|\u115f|\u1160|\u17b4|\u17b5|[\u180b-\u180d]|\u180f|\u3164|\uffa0/gu

/** The rejection of a text that no parser should see, or null. */
function gate(source: string): ShellRejection | null {
  if (source.length > MAX_BYTES || byteLength(source) > MAX_BYTES) {
    return {
      code: 'too-long',
      message: `the command is longer than ${MAX_BYTES} bytes; put it into a script file or split it`,
      position: MAX_BYTES,
    }
  }
  return deceptiveCharacter(source) ?? danglingBackslash(source) ?? lineContinuation(source) ?? nesting(source)
}

/** Bytes of the text in UTF-8; a lone surrogate counts as three. */
function byteLength(source: string): number {
  if (PLAIN.test(source)) return source.length
  let bytes = 0
  for (let i = 0; i < source.length; i++) {
    const code = source.charCodeAt(i)
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code >= 0xd800 && code <= 0xdfff ? 2 : 3
  }
  return bytes
}

function deceptiveCharacter(source: string): ShellRejection | null {
  if (PLAIN.test(source)) return null
  for (const match of source.matchAll(deceptive())) {
    const code = match[0].codePointAt(0) ?? 0
    if (code === 10 || code === 9 || (code === 0x200d && joinsPictures(source, match.index))) continue
    const name = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
    return {
      code: 'bad-character',
      message: `the command contains the ${describe(code)} ${name} at position ${match.index}; write it without`,
      position: match.index,
    }
  }
  return null
}

/** A joiner between two pictures is part of one emoji, and hides nothing. */
function joinsPictures(source: string, at: number): boolean {
  const before = /\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?$/u.test(source.slice(Math.max(0, at - 6), at))
  return before && /^\p{Extended_Pictographic}/u.test(source.slice(at + 1, at + 3))
}

function describe(code: number): string {
  if (code === 0) return 'NUL character'
  if (code >= 0xd800 && code <= 0xdfff) return 'lone surrogate'
  if (code < 0xa0) return 'control character'
  return 'invisible or text-reordering character'
}

function danglingBackslash(source: string): ShellRejection | null {
  const run = /\\+$/.exec(source)
  if (run === null || run[0].length % 2 === 0) return null
  return {
    code: 'syntax',
    message: `the command ends in a backslash at position ${source.length - 1}; nothing follows it`,
    position: source.length - 1,
  }
}

/**
 * Bash removes a line continuation before it looks for tokens, so one between `$` and `{` changes
 * the meaning. It is accepted only between blanks and word characters, in single quotes, and after
 * an escaped dollar.
 */
function lineContinuation(source: string): ShellRejection | null {
  let at = source.indexOf('\\\n')
  if (at === -1) return null
  // Between backquotes a backslash is gone before the text is read.
  const escapes = !source.includes('`')
  const quoted = singleQuoted(source)
  for (; at !== -1; at = source.indexOf('\\\n', at + 1)) {
    if (backslashesBefore(source, at + 1) % 2 === 0 || quoted.has(at)) continue
    if (escapes && source[at - 1] === '$' && backslashesBefore(source, at - 1) % 2 === 1) continue
    const before = source[at - 1] ?? ' '
    const after = source[at + 2] ?? ' '
    const apart = /\s/.test(before) || /\s/.test(after)
    if (!apart && !(JOINS_BEFORE.test(before) && JOINS_AFTER.test(after))) return continuationRejection(at)
    if (/\$\{?[\w!#@*?-]*$/.test(source.slice(Math.max(0, at - 80), at))) return continuationRejection(at)
  }
  return null
}

function backslashesBefore(source: string, at: number): number {
  let count = 0
  while (source[at - 1 - count] === '\\') count++
  return count
}

/** What nests quotes in quotes, or has text that is not quoted as the rest is: there it cannot be known by counting. */
const NESTS = /[`#]|<<|\$[({['"]/

/** The backslashes inside single quotes; empty if the text is too complex to be sure. */
function singleQuoted(source: string): ReadonlySet<number> {
  const found = new Set<number>()
  if (!source.includes("'") || NESTS.test(source)) return found
  let quote = ''
  for (let at = 0; at < source.length; at++) {
    const character = source[at]!
    if (quote === "'") {
      if (character === '\\') found.add(at)
      else if (character === "'") quote = ''
    } else if (character === '\\') at++
    else if (quote === '"') quote = character === '"' ? '' : quote
    else if (character === "'" || character === '"') quote = character
  }
  return found
}

function continuationRejection(position: number): ShellRejection {
  return {
    code: 'unsupported-syntax',
    message: `the line continuation at position ${position} splits an operator or an expansion; join the lines`,
    position,
  }
}

function nesting(source: string): ShellRejection | null {
  let round = 0
  let curly = 0
  let square = 0
  let oldArithmetic = 0
  let braces = 0
  for (let i = 0; i < source.length; i++) {
    switch (source.charCodeAt(i)) {
      case 40:
        round++
        break
      case 41:
        if (round > 0) round--
        break
      case 123:
        curly++
        braces++
        break
      case 125:
        if (curly > 0) curly--
        break
      case 91:
        square++
        if (source.charCodeAt(i - 1) === 36) oldArithmetic++
        break
      case 93:
        if (square > 0) square--
        break
      default:
        continue
    }
    if (
      round > MAX_DEPTH ||
      curly > MAX_DEPTH ||
      square > MAX_DEPTH ||
      oldArithmetic > MAX_OLD_ARITHMETIC ||
      braces > MAX_BRACES
    ) {
      return {
        code: 'too-complex',
        message: `brackets are nested too deeply at position ${i}; split the command`,
        position: i,
      }
    }
  }
  return null
}
