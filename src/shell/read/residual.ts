/** The residual scan: text that the parser took for data but that bash may still execute. */

import { forEachChild, type SyntaxNode } from 'unbash'

const OPENERS = /\$\(|`|[<>]\(|\$\[|\$\{[\s|]|\$"/
const HEREDOC_OPENERS = /\$\(|`|\$\[|\$\{/

/** Nodes whose inside is analysed (or checked) by itself. */
const SURFACED = new Set([
  'CommandExpansion',
  'ProcessSubstitution',
  'ArithmeticExpansion',
  'ArithmeticCommandExpansion',
])

/**
 * The offset of an opener (`$(`, a backtick, `<(` …) in the region that no node of the tree accounts for, or -1. Quotes
 * inside `${…}`, `$((…))` and subscripts do not protect what they hold in every context, so they are not trusted here.
 */
export function hiddenOpener(source: string, start: number, end: number, node: SyntaxNode): number {
  const text = source.slice(start, end)
  if (!OPENERS.test(text)) return -1
  const found = OPENERS.exec(mask(text, start, node, SURFACED))
  return found === null ? -1 : start + found.index
}

/** The offset of a `{` inside `${…}` that does not open an expansion, or -1. */
export function hiddenBrace(source: string, start: number, end: number, node: SyntaxNode): number {
  const text = source.slice(start, end)
  if (!text.includes('{')) return -1
  const at = mask(text, start, node, new Set([...SURFACED, 'ParameterExpansion'])).indexOf('{')
  return at === -1 ? -1 : start + at
}

/** The same for the body of an unquoted here-document, where a backslash does protect. */
export function hiddenHereDocOpener(source: string, start: number, end: number, node: SyntaxNode): number {
  const text = source.slice(start, end)
  if (!HEREDOC_OPENERS.test(text)) return -1
  const masked = mask(text, start, node, new Set([...SURFACED, 'ParameterExpansion']))
  const found = HEREDOC_OPENERS.exec(masked.replace(/\\[\\$`]/g, '__'))
  return found === null ? -1 : start + found.index
}

/** The same for literal text of a word: what is left after escapes must not open anything. */
export function hiddenInLiteral(text: string, quoted: boolean): boolean {
  if (!/[`$<>]/.test(text)) return false
  const bare = text.replace(/\\[\s\S]/g, '  ')
  return quoted ? /`|\$[\w({[@*#?!$-]/.test(bare) : /`|\$[\w({['"@*#?!$-]|[<>]\(/.test(bare)
}

function mask(text: string, start: number, node: SyntaxNode, surfaced: ReadonlySet<string>): string {
  let masked = text
  const visit = (child: SyntaxNode): void => {
    if (surfaced.has(child.type)) {
      const from = Math.max(0, child.pos - start)
      const to = Math.min(text.length, child.end - start)
      if (to > from) masked = masked.slice(0, from) + '_'.repeat(to - from) + masked.slice(to)
      return
    }
    forEachChild(child, visit)
  }
  forEachChild(node, visit)
  return masked
}
