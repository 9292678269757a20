/** A terminal on which all is JSON: texts without fields are gathered until the command ends. */

import { attempt } from '../../../system/fault.ts'
import type { Terminal } from '../../terminal/terminal.ts'
import { EXIT } from '../usage.ts'

/** `wraps`: what is printed is not an answer of Cordon's, even if it looks like JSON. */
export function jsonTerminal(
  terminal: Terminal,
  wraps: boolean,
): { readonly terminal: Terminal; readonly end: (exit: number) => void } {
  const texts: string[] = []
  const errors: string[] = []
  let passes: boolean | null = wraps ? false : null
  const out = (text: string): void => {
    passes ??= isJson(text)
    if (passes) terminal.out(text)
    else texts.push(text)
  }
  const err = (text: string): void => {
    errors.push(text)
    terminal.err(text)
  }
  const end = (exit: number): void => {
    if (passes) return
    const [, code = 'failed'] = /\[([\w-]+)\]\n/.exec(errors.join('')) ?? []
    const failed = passes === null && exit !== EXIT.ok
    if (failed) terminal.out(`${JSON.stringify({ error: errors.join('').trim(), code, remedy: null })}\n`)
    else if (passes === false)
      terminal.out(`${JSON.stringify({ ok: exit === EXIT.ok, exit, output: texts.join('') })}\n`)
  }
  return { terminal: { ...terminal, out, err }, end }
}

function isJson(text: string): boolean {
  const parses = (one: string): boolean => {
    return attempt(() => JSON.parse(one) !== undefined, false)
  }
  return parses(text) || text.trimEnd().split('\n').every(parses)
}
