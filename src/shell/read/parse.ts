/** The second gate: the parser's tree is trusted only when every node is of a known type and nothing is left unexplained. */

import { forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash'
import type { Hazard, ShellRejection, SyntaxUse } from '../facts.ts'
import { gate } from './gate.ts'
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
