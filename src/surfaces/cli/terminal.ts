/** What the CLI writes to: colours only on a terminal, control characters of others never. */

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

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { env, stdout } = process
  const wanted = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  return {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    color: wanted || (stdout.isTTY === true && env.NO_COLOR === undefined && env.TERM !== 'dumb'),
    width: stdout.columns ?? 100,
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
