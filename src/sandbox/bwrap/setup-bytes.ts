/** PURE. The records in which cordon-init is told its orders: a type, a length, and bytes. */

import { encodePath } from '../../files/path-bytes.ts'

const MAGIC = 'CORDON1\n'
const MAX_BYTES = 64 * 1024 * 1024

const encoder = new TextEncoder()

/** Gathers records; `finish` ends them and puts their size in front. */
export class OrderWriter {
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

/** A path whose name is not UTF-8 keeps its bytes. */
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
