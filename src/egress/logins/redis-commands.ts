/** Reads Redis commands: lists of length-prefixed texts, or a line. PURE. */

export type ReadCommand = { readonly words: readonly string[]; readonly used: number } | { readonly problem: string }

/** More than any login needs. */
const LONGEST = 16 * 1024
const MOST_WORDS = 10
/** A type, nine digits and the line end. */
const LONGEST_HEAD = 12

/** The first command of the bytes; null while incomplete. */
export function readCommand(bytes: Buffer): ReadCommand | null {
  const read = bytes[0] === 0x2a ? readList(bytes) : readLine(bytes)
  return read === null && bytes.length > LONGEST ? { problem: 'a line or a login of more than 16 KB' } : read
}

/**
 * Passes a client's commands on. Those named in `wanted` are read whole and passed to `exchange`.
 * Others are streamed at any length, in the server's framing. Throws the error of `refuse` for
 * invalid text.
 */
export function commandsThrough(
  wanted: ReadonlySet<string>,
  exchange: (words: readonly string[]) => Buffer | null,
  refuse: (problem: string) => Error,
): (chunk: Buffer) => Buffer {
  const longest = Math.max(...[...wanted].map((name) => name.length))
  let waiting: Buffer = Buffer.alloc(0)
  /** The words, and the bytes of one of them, still to come in the current command. */
  let words = 0
  let bytes = 0

  /** The bytes that pass unchanged, none while unknown; null for the start of a login. */
  function passing(from: Buffer): number | null {
    if (bytes > 0) {
      const some = Math.min(bytes, from.length)
      bytes -= some
      return some
    }
    if (words > 0) {
      const head = headAt(from, 0, '$')
      if (head === null) return 0
      words--
      bytes = head.number + 2
      return head.end
    }
    if (from[0] !== 0x2a) return lineLength(from)
    const head = headAt(from, 0, '*')
    if (head === null) return 0
    const first = head.number === 0 ? null : headAt(from, head.end, '$')
    if (head.number > 0 && first === null) return 0
    if (first !== null && first.number <= longest) {
      if (from.length < first.end + first.number) return 0
      if (wanted.has(from.toString('latin1', first.end, first.end + first.number).toUpperCase())) return null
    }
    words = head.number
    return head.end
  }

  /** Lines are short, so each is read whole. */
  function lineLength(from: Buffer): number | null {
    const read = readCommand(from)
    if (read === null) return 0
    if ('problem' in read) throw refuse(read.problem)
    return wanted.has(read.words[0]?.toUpperCase() ?? '') ? null : read.used
  }

  function headAt(from: Buffer, at: number, kind: '*' | '$'): { readonly number: number; readonly end: number } | null {
    const end = from.indexOf('\r\n', at, 'latin1')
    if (end < 0 && from.length - at < LONGEST_HEAD) return null
    const text = end < 0 ? '' : from.toString('latin1', at, Math.min(end, at + LONGEST_HEAD))
    const number = text.startsWith(kind) ? numberOf(text.slice(1)) : null
    if (number === null) throw refuse('an invalid length')
    return { number, end: end + 2 }
  }

  return (chunk) => {
    const given = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    const out: Buffer[] = []
    let from = 0
    let at = 0
    while (at < given.length) {
      const length = passing(given.subarray(at))
      if (length === 0) break
      if (length !== null) {
        at += length
        continue
      }
      const read = readCommand(given.subarray(at))
      if (read === null) break
      if ('problem' in read) throw refuse(read.problem)
      out.push(given.subarray(from, at), exchange(read.words) ?? given.subarray(at, at + read.used))
      at += read.used
      from = at
    }
    out.push(given.subarray(from, at))
    waiting = given.subarray(at)
    return Buffer.concat(out)
  }
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

/** An inline command; with quotes it could be read in more than one way. */
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
