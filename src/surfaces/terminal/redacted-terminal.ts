/** A terminal that shows no secret: what Cordon itself prints goes through the one redactor, JSON string by string (A2). */

import { createRedactor } from '../../scan/redact/redact.ts'
import type { Terminal } from './terminal.ts'

/** A text of ours as it may be shown. The redactor is created with the first one: most runs say nothing. */
export function redacted(text: string): string {
  return createRedactor().redact(text)
}

/** The terminal behind the redactor. `verbatim`: what goes out is for a program and no word of ours, only complaints are. */
export function redactedTerminal(terminal: Terminal, verbatim: boolean): Terminal {
  return {
    out: verbatim ? terminal.out : (text) => terminal.out(redactedOutput(text)),
    err: (text) => terminal.err(redacted(text)),
    get color() {
      return terminal.color
    },
    get width() {
      return terminal.width
    },
  }
}

/** JSON stays JSON: a mask never reaches over the end of a string. */
function redactedOutput(text: string): string {
  if (!/^[[{]/.test(text)) return redacted(text)
  try {
    const indent = /^[[{]\n( +)/.exec(text)?.[1]
    const json = JSON.stringify(
      JSON.parse(text),
      (_, field) => (typeof field === 'string' ? redacted(field) : field),
      indent,
    )
    return text.endsWith('\n') ? `${json}\n` : json
  } catch {
    return redacted(text)
  }
}
