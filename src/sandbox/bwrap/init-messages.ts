/** PURE. The bytes of what sandbox/protocol.ts lists: messages of the init, words to it, and records. */

import { encodePath } from '../../files/path-bytes.ts'
import type { SoughtKind } from '../plan.ts'
import { MESSAGES, NUMBERS, RECORDS, type RecordName, WORDS } from '../protocol.ts'

/** A message from cordon-init. */
export type InitMessage =
  | { readonly kind: 'failed'; readonly step: number; readonly errno: number; readonly index: number }
  | { readonly kind: 'gate' }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'memory'; readonly mebibytes: number; readonly ended: 'process' | 'all' }
  | { readonly kind: 'processes' }
  /** A name that does not exist inside, or a connection that was refused there; so many bytes of it follow, in whole messages. */
  | { readonly kind: 'asked'; readonly what: 'name' | 'connection'; readonly bytes: number; readonly port: number }
  /** Something was looked for in vain, or run; so many bytes of its path follow, in whole messages. Null: so many were left out. */
  | { readonly kind: 'left'; readonly bytes: number }
  /** A program start that waits to be decided; so many bytes about it follow. */
  | { readonly kind: 'start'; readonly number: number; readonly bytes: number }
  /** A program that differed from the judged one and was killed; its words follow. */
  | { readonly kind: 'unjudged'; readonly bytes: number }
  /** A program that ran; so many bytes of its name and words follow. Null: so many were left out. */
  | { readonly kind: 'program'; readonly pid: number | null; readonly parent: number; readonly bytes: number }
  /** A program that connects to the proxy; so many bytes about it follow. `parent` is 0 for none. */
  | { readonly kind: 'caller'; readonly number: number; readonly parent: number; readonly bytes: number }
  | { readonly kind: 'sought'; readonly what: SoughtKind | null; readonly bytes: number; readonly count: number }
  | { readonly kind: 'ready'; readonly watched: boolean }
  | { readonly kind: 'mask'; readonly index: number; readonly event: 'opened' | 'lifted' }
  | { readonly kind: 'refused'; readonly count: number; readonly errno: number; readonly change: number }
  /** `listed`: it is one of the plan's `servers`. */
  | { readonly kind: 'server'; readonly port: number; readonly listening: boolean; readonly listed: boolean }
  | { readonly kind: 'stopped'; readonly signal: number }
  | { readonly kind: 'unconnected'; readonly id: number; readonly errno: number }
  | { readonly kind: 'ended'; readonly code: number | null; readonly signal: number | null }

export const MESSAGE_BYTES = 16

/** In the order of `sought` in the table. */
const SOUGHT_KINDS: readonly SoughtKind[] = ['lookup', 'change', 'program', 'run']

const KINDS = new Map(
  Object.entries(MESSAGES).map(([kind, letter]) => [letter.charCodeAt(0), kind as InitMessage['kind']]),
)

/** Parses one message of 16 bytes; null for one that does not exist. */
export function parseMessage(bytes: Uint8Array): InitMessage | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, MESSAGE_BYTES)
  const [a, b, c] = [view.getUint32(4, true), view.getUint32(8, true), view.getUint32(12, true)]
  const kind = KINDS.get(view.getUint32(0, true) & 0xff)
  switch (kind) {
    case 'failed':
      return { kind, step: a, errno: b, index: c }
    case 'memory':
      return { kind, mebibytes: a, ended: b === 1 ? 'all' : 'process' }
    case 'gate':
    case 'timeout':
    case 'processes':
      return { kind }
    case 'asked':
      return { kind, what: a === 0 ? 'name' : 'connection', bytes: b, port: c }
    case 'left':
      return { kind, bytes: b }
    case 'start':
      return { kind, number: a, bytes: b }
    case 'unjudged':
      return { kind, bytes: b }
    case 'program':
      return { kind, pid: a === 0 ? null : a, parent: c, bytes: b }
    case 'caller':
      return { kind, number: a, parent: c, bytes: b }
    case 'sought':
      return { kind, what: SOUGHT_KINDS[a - 1] ?? null, bytes: b, count: c }
    case 'ready':
      return { kind, watched: a === 1 }
    case 'mask':
      return { kind, index: a, event: b === 1 ? 'lifted' : 'opened' }
    case 'refused':
      return { kind, count: a, errno: b, change: c }
    case 'server':
      return { kind, port: a, listening: b === 1, listed: c === 0 }
    case 'stopped':
      return { kind, signal: a }
    case 'unconnected':
      return { kind, id: a, errno: b }
    case 'ended':
      return a === 0 ? { kind, code: b, signal: null } : { kind, code: null, signal: b }
    default:
      return null
  }
}

/** A word to cordon-init. */
export function wordMessage(word: keyof typeof WORDS, a = 0, b = 0, c = 0): Uint8Array {
  return numbers(6, (view) => {
    view.setUint8(0, WORDS[word].charCodeAt(0))
    view.setUint8(1, a)
    view.setUint16(2, b, true)
    view.setUint16(4, c, true)
  })
}

/** The answer to a program start. */
export function judgedMessage(number: number, allowed: boolean): Uint8Array {
  return wordMessage('judged', allowed ? 0 : 1, number & 0xffff, number >>> 16)
}

const MAGIC = 'CORDON1\n'
const MAX_BYTES = NUMBERS.max.SETUP

const encoder = new TextEncoder()

/** Gathers records; `finish` ends them and puts their size in front. */
export class SetupWriter {
  readonly #chunks: Uint8Array[] = []
  #size = 0

  record(name: RecordName, ...parts: Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const head = new Uint8Array(5)
    head[0] = RECORDS[name].charCodeAt(0)
    new DataView(head.buffer).setUint32(1, length, true)
    for (const chunk of [head, ...parts]) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
    }
  }

  finish(): Uint8Array {
    this.record('end')
    if (this.#size > MAX_BYTES)
      throw new RangeError(`the setup message takes ${this.#size} bytes, at most ${MAX_BYTES} are possible`)
    const bytes = new Uint8Array(MAGIC.length + 4 + this.#size)
    bytes.set(encoder.encode(MAGIC))
    new DataView(bytes.buffer).setUint32(MAGIC.length, this.#size, true)
    let at = MAGIC.length + 4
    for (const chunk of this.#chunks) {
      bytes.set(chunk, at)
      at += chunk.length
    }
    return bytes
  }
}

/** A text as it is handed to the kernel, ended by a NUL. */
export function text(value: string, what: string): Uint8Array {
  if (value.includes('\0'))
    throw new RangeError(`${what} contains a NUL character, which no Linux path, argument or variable can`)
  return encoder.encode(`${value}\0`)
}

/** A path that is not UTF-8 keeps its bytes. */
export function pathBytes(path: string): Uint8Array {
  if (path.includes('\0')) throw new RangeError('a path contains a NUL character, which no Linux path can')
  const bytes = encodePath(path)
  const ended = new Uint8Array(bytes.length + 1)
  ended.set(bytes)
  return ended
}

/** So many bytes, with numbers put into them, least byte first. */
function numbers(size: number, write: (view: DataView) => void): Uint8Array {
  const bytes = new Uint8Array(size)
  write(new DataView(bytes.buffer))
  return bytes
}

export function u32(value: number): Uint8Array {
  return numbers(4, (view) => view.setUint32(0, value, true))
}

export function u16(value: number): Uint8Array {
  return numbers(2, (view) => view.setUint16(0, value, true))
}

export function u64(value: bigint): Uint8Array {
  return numbers(8, (view) => view.setBigUint64(0, value, true))
}
