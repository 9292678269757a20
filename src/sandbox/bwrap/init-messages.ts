/**
 * PURE. The wire of cordon-init: its messages, the answers, and records (native/init/protocol.h).
 */

import { encodePath } from '../../files/path-bytes.ts'
import type { SoughtKind } from '../plan.ts'

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

/** In the order of the init's numbers (native/init/learn.c). */
const SOUGHT_KINDS: readonly SoughtKind[] = ['lookup', 'change', 'program', 'run']

/** Parses one message of 16 bytes; null for one that does not exist. */
export function parseMessage(bytes: Uint8Array): InitMessage | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, MESSAGE_BYTES)
  const [a, b, c] = [view.getUint32(4, true), view.getUint32(8, true), view.getUint32(12, true)]
  switch (String.fromCharCode(view.getUint32(0, true) & 0xff)) {
    case 'F':
      return { kind: 'failed', step: a, errno: b, index: c }
    case 'G':
      return { kind: 'gate' }
    case 'T':
      return { kind: 'timeout' }
    case 'M':
      return { kind: 'memory', mebibytes: a, ended: b === 1 ? 'all' : 'process' }
    case 'P':
      return { kind: 'processes' }
    case 'A':
      return { kind: 'asked', what: a === 0 ? 'name' : 'connection', bytes: b, port: c }
    case 'H':
      return { kind: 'left', bytes: b }
    case 'E':
      return { kind: 'start', number: a, bytes: b }
    case 'Y':
      return { kind: 'unjudged', bytes: b }
    case 'O':
      return { kind: 'program', pid: a === 0 ? null : a, parent: c, bytes: b }
    case 'W':
      return { kind: 'caller', number: a, parent: c, bytes: b }
    case 'B':
      return { kind: 'sought', what: SOUGHT_KINDS[a - 1] ?? null, bytes: b, count: c }
    case 'R':
      return { kind: 'ready', watched: a === 1 }
    case 'V':
      return { kind: 'mask', index: a, event: b === 1 ? 'lifted' : 'opened' }
    case 'D':
      return { kind: 'refused', count: a, errno: b, change: c }
    case 'L':
      return { kind: 'server', port: a, listening: b === 1, listed: c === 0 }
    case 'S':
      return { kind: 'stopped', signal: a }
    case 'N':
      return { kind: 'unconnected', id: a, errno: b }
    case 'X':
      return a === 0 ? { kind: 'ended', code: b, signal: null } : { kind: 'ended', code: null, signal: b }
    default:
      return null
  }
}

/** A message to cordon-init. */
export function signalMessage(signal: number): Uint8Array {
  return Uint8Array.of(0x4b, signal, 0, 0, 0, 0)
}

/** The answer to a program start. */
export function judgedMessage(number: number, allowed: boolean): Uint8Array {
  return numbers(6, (view) => {
    view.setUint8(0, 0x4a)
    view.setUint8(1, allowed ? 0 : 1)
    view.setUint16(2, number & 0xffff, true)
    view.setUint16(4, number >>> 16, true)
  })
}

export function goMessage(): Uint8Array {
  return Uint8Array.of(0x47, 0, 0, 0, 0, 0)
}

export function quitMessage(): Uint8Array {
  return Uint8Array.of(0x51, 0, 0, 0, 0, 0)
}

/** Asks for a connection to a server inside; it comes over the channel for sockets, or as `unconnected`. */
export function connectMessage(port: number, id: number): Uint8Array {
  return numbers(6, (view) => {
    view.setUint8(0, 0x43)
    view.setUint16(2, port, true)
    view.setUint16(4, id, true)
  })
}

export function resizeMessage(rows: number, columns: number): Uint8Array {
  return numbers(6, (view) => {
    view.setUint8(0, 0x57)
    view.setUint16(2, rows, true)
    view.setUint16(4, columns, true)
  })
}

/** PURE. The records of the setup message for cordon-init: a type, a length, and bytes. */
const MAGIC = 'CORDON1\n'
const MAX_BYTES = 64 * 1024 * 1024

const encoder = new TextEncoder()

/** Gathers records; `finish` ends them and puts their size in front. */
export class SetupWriter {
  readonly #chunks: Uint8Array[] = []
  #size = 0

  record(type: string, ...parts: Uint8Array[]): void {
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    const head = new Uint8Array(5)
    head[0] = type.charCodeAt(0)
    new DataView(head.buffer).setUint32(1, length, true)
    for (const chunk of [head, ...parts]) {
      this.#chunks.push(chunk)
      this.#size += chunk.length
    }
  }

  finish(): Uint8Array {
    this.record('z')
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
export function numbers(size: number, write: (view: DataView) => void): Uint8Array {
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
