/** What the CLI writes to: colours only on a terminal, control characters of others never. */

import { fstatSync, writeSync } from 'node:fs'

export interface Terminal {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly color: boolean
  readonly width: number
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'underline'

const CODES: Record<Style, [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

/** The terminal of this process. Written to directly: making `process.stdout` costs 2 ms of every start. */
export function processTerminal(): Terminal {
  const { env } = process
  const isTerminal = isCharacterDevice(1)
  const wanted = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  return {
    out: (text) => writeAll(1, text),
    err: (text) => writeAll(2, text),
    color: wanted || (isTerminal && env.NO_COLOR === undefined && env.TERM !== 'dumb'),
    width: isTerminal ? (process.stdout.columns ?? 100) : 100,
  }
}

function isCharacterDevice(fd: number): boolean {
  try {
    return fstatSync(fd).isCharacterDevice() && process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    return false
  }
}

function writeAll(fd: number, text: string): void {
  let bytes: Uint8Array = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null
      // A reader that goes away (`cordon … | head`) is not an error of ours; a full pipe only needs a moment.
      if (code === 'EPIPE') process.exit(0)
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/** Paints text, if this terminal has colours. */
export function paint(terminal: Terminal, style: Style, text: string): string {
  if (!terminal.color || text === '') return text
  const [on, off] = CODES[style]
  return `\u001b[${on}m${text}\u001b[${off}m`
}

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\u115f\u1160\u3164\uffa0]|\p{Variation_Selector}/gu

/** Makes text of strangers safe to show on one line: control, bidi and invisible characters become visible escapes. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) =>
    character === '\n' ? '\\n' : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
}

/** The same for text of several lines. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n')
}
