/** Styles of the chat. Other people's text is escaped before it is painted. */

import { visible } from '../../../scan/visible-text.ts'

export type ChatStyle =
  | 'bold'
  | 'dim'
  | 'italic'
  | 'underline'
  | 'red'
  | 'green'
  | 'yellow'
  | 'blue'
  | 'magenta'
  | 'cyan'

const CODES: Readonly<Record<ChatStyle, readonly [on: number, off: number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
}

/** Paints safe text. */
export type Paint = (style: ChatStyle, text: string) => string

export function painter(color: boolean): Paint {
  return (style, text) => {
    if (!color || text === '') return text
    const [on, off] = CODES[style]
    return `\u001b[${on}m${text}\u001b[${off}m`
  }
}

/**
 * Escapes a line for a terminal. Emoji joiners are dropped, since their escapes would help nobody.
 */
export function safe(line: string): string {
  return visible(
    line.replace(/\t/g, '    ').replace(/(?<=\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}])[\ufe0f\u200d]+/gu, ''),
  )
}
