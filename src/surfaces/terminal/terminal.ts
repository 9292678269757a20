/** What the CLI writes to: colours only on a terminal, control characters of others never. */

import { fstatSync, statSync, writeSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { Fault } from '../../system/fault.ts'

export { visible, visibleLines } from '../../scan/visible-text.ts'

/** Exit codes of the program. */
export const EXIT = { ok: 0, failed: 1, usage: 2, ask: 3, deny: 4, fault: 125, refused: 126, notFound: 127 } as const

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

/**
 * The terminal of this process. Written to directly, and checked only when colours or the width matter: making
 * `process.stdout` costs 2 ms of every start, and asking whether it is a terminal 5 ms.
 */
export function processTerminal(): Terminal {
  const { env } = process
  const encode = createEncoder()
  let terminal: boolean | null = null
  const isTerminal = (): boolean => {
    terminal ??= isTerminalDevice(1)
    return terminal
  }
  return {
    out: (text) => writeAll(1, encode(text)),
    err: (text) => writeAll(2, encode(wrapNotices(text, () => (isTerminalDevice(2) ? columnsOf() : null)))),
    get color() {
      if (env.NO_COLOR) return false
      if ([env.FORCE_COLOR, env.CLICOLOR_FORCE].some((wish) => wish && wish !== '0')) return true
      // What goes to the other one must not meet a file with colours in it.
      return env.TERM !== 'dumb' && isTerminal() && isTerminalDevice(2)
    },
    get width() {
      return isTerminal() ? (process.stdout.columns ?? 100) : 100
    },
  }
}

/** Whether a descriptor of this process is a terminal; cheaper than making `process.stdin` to ask. */
export function isTerminalDevice(fd: number): boolean {
  try {
    const facts = fstatSync(fd)
    if (!facts.isCharacterDevice() || facts.rdev === statSync('/dev/null').rdev) return false
    return process.getBuiltinModule('node:tty').isatty(fd)
  } catch {
    return false
  }
}

const columnsOf = (): number => process.stderr.columns ?? 100

/** A line of Cordon's own, or the remedy below it. */
const NOTICE = /^(?:cordon:| {2}\S)/
/** Shorter lines fit every terminal. */
const FITS = 60

/** Breaks notices between words for a terminal of so many columns; null without a terminal. */
export function wrapNotices(text: string, columns: () => number | null): string {
  if (text.length <= FITS || !NOTICE.test(stripVTControlCharacters(text))) return text
  const width = columns()
  if (width === null || width <= FITS / 2) return text
  return text
    .split('\n')
    .map((line) => (shownLength(line) <= width ? line : wrapLine(line, width)))
    .join('\n')
}

function wrapLine(line: string, width: number): string {
  const rows: string[] = []
  let row = ''
  for (const piece of pieces(line)) {
    if (row !== '' && shownLength(row) + 1 + shownLength(piece) > width) {
      rows.push(row)
      row = ''
    }
    if (row !== '') row = `${row} ${piece}`
    else row = rows.length === 0 && !line.startsWith(' ') ? piece : `  ${piece}`
  }
  return [...rows, row].join('\n')
}

/** A command of at most so many words is kept together. */
const COMMAND_WORDS = 8

/** Words; a command and a text in backticks are one, so that what a person copies has no line break. */
function pieces(line: string): string[] {
  const found: string[] = []
  let open: 'command' | 'quoted' | null = null
  let left = 0
  for (const word of line.trim().split(' ')) {
    if (open === null) found.push(word)
    else found[found.length - 1] += ` ${word}`
    const isTick = word.split('`').length % 2 === 0
    if (open === 'quoted') open = isTick ? null : open
    else if (isTick) open = 'quoted'
    else if (open === 'command') open = --left === 0 || /[,;:)…][.,;]?$/.test(word) ? null : open
    else if (/^\(?(?:cordon|mkdir|export)$/.test(word)) [open, left] = ['command', COMMAND_WORDS]
  }
  return found
}

function shownLength(text: string): number {
  return stripVTControlCharacters(text).length
}

const LONG = 16_384
const SIGPIPE = 13

/** Long output comes in pieces of about one size, and each uses the memory of the one before. */
function createEncoder(): (text: string) => Uint8Array {
  const encoder = new TextEncoder()
  let space = new Uint8Array(0)
  return (text) => {
    if (text.length < LONG) return Buffer.from(text)
    if (space.length < text.length * 3) space = new Uint8Array(text.length * 3)
    return space.subarray(0, encoder.encodeInto(text, space).written)
  }
}

/** Writes all of it, however long the reader takes. */
export function writeAll(fd: number, whole: Uint8Array): void {
  let bytes = whole
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(fd, bytes))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null
      // A reader that goes away (`cordon … | head`) is not an error of ours, and ends us as it ends others: not with the
      // 0 that means allow. A full pipe only needs a moment.
      if (code === 'EPIPE') process.exit(128 + SIGPIPE)
      if (code !== 'EAGAIN')
        throw new Fault('output-unwritable', `the output cannot be written (${code})`, { cause: error })
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/**
 * What its own command left: an unfinished sequence, hidden or coloured text, another set of characters, insert mode, no
 * wrapping, a picture that is buffered, no cursor, reports of the mouse. Nothing here moves the cursor.
 */
const RESET: string = [
  '\u0018\u001b[0m\u000f\u001b(B\u001b[4l\u001b[?7h\u001b[?2026l\u001b[?25h',
  '\u001b[?1000l\u001b[?1002l\u001b[?1003l\u001b[?1006l\u001b[?1004l\u001b[?2004l',
].join('')
/** The colours of text and ground, which may become equal. The console of Linux does not know these and would show them. */
const RESET_COLOURS = '\u001b]104\u001b\\\u001b]110\u001b\\\u001b]111\u001b\\'

/** Makes what is said next readable, whatever a command did to the terminal. */
export function resetTerminal(terminal: Terminal): void {
  if (isTerminalDevice(2)) terminal.err(RESET + (process.env.TERM === 'linux' ? '' : RESET_COLOURS))
}

/** Prints a value for programs; returns the exit code of success. */
export function printJson({ out }: Pick<Terminal, 'out'>, value: unknown): number {
  out(`${JSON.stringify(value)}\n`)
  return EXIT.ok
}

/** Paints text, if this terminal has colours. */
export function paint(terminal: Terminal, style: Style, text: string): string {
  if (!terminal.color || text === '') return text
  const [on, off] = CODES[style]
  return `\u001b[${on}m${text}\u001b[${off}m`
}
