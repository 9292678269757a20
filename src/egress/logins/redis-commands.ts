/** Commands of Redis as clients write them: lists of texts with their lengths, or a line. PURE. */

export type ReadCommand = { readonly words: readonly string[]; readonly used: number } | { readonly problem: string }

/** Before a login nobody has more to say. */
const LONGEST = 64 * 1024
const MOST_WORDS = 1_024

/** The first command of what came; null while it is not whole. */
export function readCommand(bytes: Buffer): ReadCommand | null {
  const read = bytes[0] === 0x2a ? readList(bytes) : readLine(bytes)
  return read === null && bytes.length > LONGEST ? { problem: 'a command of more than 64 KB before the login' } : read
}

function readList(bytes: Buffer): ReadCommand | null {
  const head = lineAt(bytes, 0)
  if (head === null) return null
  const count = numberOf(head.text.slice(1))
  if (count === null || count > MOST_WORDS) return { problem: 'a list of no known length' }
  const words: string[] = []
  let at = head.end
  while (words.length < count) {
    const line = lineAt(bytes, at)
    if (line === null) return null
    const length = line.text.startsWith('$') ? numberOf(line.text.slice(1)) : null
    if (length === null || length > LONGEST) return { problem: 'a text of no known length' }
    const end = line.end + length
    if (bytes.length < end + 2) return null
    if (bytes[end] !== 0x0d || bytes[end + 1] !== 0x0a) return { problem: 'a text that does not end where it says' }
    words.push(bytes.toString('latin1', line.end, end))
    at = end + 2
  }
  return { words, used: at }
}

/** As a person types it; with quotes in it, it could be read in more than one way. */
function readLine(bytes: Buffer): ReadCommand | null {
  const line = lineAt(bytes, 0)
  if (line === null) return null
  if (/["'\\]/.test(line.text)) return { problem: 'a line with quotes in it' }
  return { words: line.text.split(/\s+/).filter((word) => word !== ''), used: line.end }
}

export function writeCommand(words: readonly string[]): Buffer {
  const texts = words.map((word) => `$${Buffer.byteLength(word, 'latin1')}\r\n${word}\r\n`)
  return Buffer.from(`*${words.length}\r\n${texts.join('')}`, 'latin1')
}

function lineAt(bytes: Buffer, from: number): { readonly text: string; readonly end: number } | null {
  const end = bytes.indexOf(0x0a, from)
  return end < 0 ? null : { text: bytes.toString('latin1', from, end).replace(/\r$/, ''), end: end + 1 }
}

function numberOf(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null
}
