/** Redacts a text that arrives in pieces: whole lines come out, key blocks carry over. */

import { endsInPublicBlock, isKeyBlockLine } from './blocks.ts'
import { MASK } from './mask.ts'

export interface RedactionStream {
  /** Takes a piece and returns the text that is certain by now. */
  push(piece: string): string
  /** Gives back the rest. */
  end(): string
}

/** A line longer than this is let go in parts. */
const MAX_LINE = 1 << 20
/** A key block that was cut into pieces is followed for this many lines. */
const MAX_BLOCK_LINES = 400

/**
 * A stream around a function that redacts whole lines; it learns whether they begin within a
 * certificate or public key.
 */
export function redactionStream(redact: (text: string, inPublicBlock: boolean) => string): RedactionStream {
  let rest = ''
  let inPublicBlock = false
  let blockLines = 0
  const lines = (text: string): string => {
    let out = ''
    let from = 0
    while (blockLines > 0 && from < text.length) {
      const newline = text.indexOf('\n', from)
      const stop = newline < 0 ? text.length : newline
      const line = text.slice(from, stop)
      if (!isKeyBlockLine(line)) {
        blockLines = 0
        break
      }
      blockLines = /-----END/.test(line) ? 0 : blockLines - 1
      out += line.trim() === '' || line.includes('-----END') ? line : MASK
      if (newline >= 0) out += '\n'
      from = stop + 1
    }
    const body = text.slice(from)
    if (opensKeyBlock(body)) blockLines = MAX_BLOCK_LINES
    const redacted = redact(body, inPublicBlock)
    inPublicBlock = endsInPublicBlock(body, inPublicBlock)
    return out + redacted
  }
  return {
    push(piece) {
      rest += piece
      const cut = rest.lastIndexOf('\n') + 1
      const ready = rest.slice(0, cut)
      rest = rest.slice(cut)
      if (rest.length <= MAX_LINE) return ready === '' ? '' : lines(ready)
      const stop = breakBefore(rest, MAX_LINE)
      const part = rest.slice(0, stop)
      rest = rest.slice(stop)
      return lines(ready + part)
    },
    end() {
      const last = rest
      rest = ''
      return last === '' ? '' : lines(last)
    },
  }
}

/** The last blank before `limit`, where no token is cut; in a line without any, the limit. */
function breakBefore(text: string, limit: number): number {
  for (let at = limit; at > limit - 65536; at--) if (text.charCodeAt(at) <= 32) return at
  return limit
}

function opensKeyBlock(text: string): boolean {
  if (!text.includes('-----BEGIN ')) return false
  const begin = text.lastIndexOf('-----BEGIN ')
  return begin >= 0 && /PRIVATE KEY/.test(text.slice(begin, begin + 60)) && text.indexOf('-----END', begin) < 0
}
