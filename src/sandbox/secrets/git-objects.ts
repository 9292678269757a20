/**
 * Reads objects of a git repository without git: commands can write these files, so no
 * configuration, alternate, replacement or graft is followed, every size is limited, and an object
 * counts only if its name is its hash.
 */

import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { inflateSync } from 'node:zlib'

type GitObjectType = 'commit' | 'tree' | 'blob' | 'tag'

interface GitObject {
  readonly type: GitObjectType
  readonly bytes: Buffer
}

/** Larger than any secret and any folder that people keep. */
const MOST_BYTES = 8 * 1_048_576
/** All objects of one look together. */
const MOST_ALTOGETHER = 64 * 1_048_576
const MOST_PACKS = 500
const MOST_DELTAS = 64

const TYPES: readonly (GitObjectType | null)[] = [null, 'commit', 'tree', 'blob', 'tag', null, null, null]
const OFFSET_DELTA = 6
const NAMED_DELTA = 7

interface Pack {
  readonly index: number
  readonly data: number
  readonly count: number
}

/** Verified objects of one repository; they cannot change. */
export type KnownObjects = Map<string, GitObject>

const MOST_KNOWN = 1_000
const MOST_KNOWN_BYTES = 16_384

/** The objects of one repository; close it when the scan is over. */
export class ObjectStore {
  readonly #known: KnownObjects
  readonly #folder: string
  readonly #width: 20 | 32
  #packs: readonly Pack[] | null = null
  #read = 0

  /**
   * `folder` is the `objects` of the repository; `sample` is the name of one of its objects, whose
   * length identifies the hash.
   */
  constructor(folder: string, sample: string, known: KnownObjects = new Map()) {
    this.#known = known
    this.#folder = folder
    this.#width = sample.length === 64 ? 32 : 20
  }

  /** The object of this name; null when it is not here, is too large, or is not what its name says. */
  object(id: string): GitObject | null {
    const known = this.#known.get(id)
    if (known) return known
    try {
      if (!/^[0-9a-f]+$/.test(id) || id.length !== this.#width * 2) return null
      const found = this.#loose(id) ?? this.#packed(Buffer.from(id, 'hex'), 0)
      if (found === null || this.#nameOf(found) !== id) return null
      if (found.bytes.length <= MOST_KNOWN_BYTES) {
        if (this.#known.size >= MOST_KNOWN) this.#known.clear()
        this.#known.set(id, found)
      }
      return found
    } catch {
      return null
    }
  }

  close(): void {
    for (const pack of this.#packs ?? []) {
      closeSync(pack.index)
      closeSync(pack.data)
    }
    this.#packs = null
  }

  #nameOf({ type, bytes }: GitObject): string {
    return objectName(type, bytes, this.#width)
  }

  #loose(id: string): GitObject | null {
    const descriptor = openPlain(posix.join(this.#folder, id.slice(0, 2)), id.slice(2))
    if (descriptor === null) return null
    try {
      const { size } = fstatSync(descriptor)
      if (size > MOST_BYTES) return null
      const whole = this.#inflate(readAt(descriptor, 0, size), MOST_BYTES)
      const end = whole.indexOf(0)
      const head = /^(commit|tree|blob|tag) (\d+)$/.exec(whole.toString('latin1', 0, Math.min(end, 40)))
      if (head === null || Number(head[2]) !== whole.length - end - 1) return null
      return { type: head[1] as GitObjectType, bytes: whole.subarray(end + 1) }
    } finally {
      closeSync(descriptor)
    }
  }

  #packed(id: Buffer, depth: number): GitObject | null {
    for (const pack of this.#openPacks()) {
      const offset = this.#offsetOf(pack, id)
      if (offset !== null) return this.#entry(pack, offset, depth)
    }
    return null
  }

  #openPacks(): readonly Pack[] {
    if (this.#packs !== null) return this.#packs
    const folder = posix.join(this.#folder, 'pack')
    const packs: Pack[] = []
    this.#packs = packs
    const names = readdirSync(folder).filter((name) => name.endsWith('.idx'))
    if (names.length > MOST_PACKS) throw new Error('too many packs')
    for (const name of names) {
      const index = openPlain(folder, name)
      const data = openPlain(folder, name.replace(/\.idx$/, '.pack'))
      const head = index === null ? null : readAt(index, 0, 8 + 1024)
      if (index !== null && data !== null && head?.length === 1032 && head.readUInt32BE(0) === 0xff744f63) {
        packs.push({ index, data, count: head.readUInt32BE(8 + 255 * 4) })
        continue
      }
      if (index !== null) closeSync(index)
      if (data !== null) closeSync(data)
    }
    return packs
  }

  #offsetOf({ index, count }: Pack, id: Buffer): number | null {
    const first = id[0]!
    const fanout = readAt(index, 8 + Math.max(0, first - 1) * 4, 8)
    let low = first === 0 ? 0 : fanout.readUInt32BE(0)
    let high = first === 0 ? fanout.readUInt32BE(0) : fanout.readUInt32BE(4)
    const names = 8 + 1024
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = readAt(index, names + middle * this.#width, this.#width).compare(id)
      if (order === 0) {
        const offsets = names + count * (this.#width + 4)
        const offset = readAt(index, offsets + middle * 4, 4).readUInt32BE(0)
        if (offset < 0x8000_0000) return offset
        return Number(readAt(index, offsets + count * 4 + (offset & 0x7fff_ffff) * 8, 8).readBigUInt64BE(0))
      }
      if (order < 0) low = middle + 1
      else high = middle
    }
    return null
  }

  #entry(pack: Pack, offset: number, depth: number): GitObject | null {
    if (depth > MOST_DELTAS) return null
    const head = readAt(pack.data, offset, 64)
    let at = 0
    let byte = head[at++]!
    const kind = (byte >> 4) & 7
    let size = byte & 15
    for (let shift = 4; byte & 0x80; shift += 7) {
      byte = head[at++]!
      size += (byte & 0x7f) * 2 ** shift
    }
    if (size > MOST_BYTES) return null
    let base: GitObject | null = null
    if (kind === OFFSET_DELTA) {
      byte = head[at++]!
      let back = byte & 0x7f
      while (byte & 0x80) {
        byte = head[at++]!
        back = (back + 1) * 128 + (byte & 0x7f)
      }
      if (back <= 0 || back > offset) return null
      base = this.#entry(pack, offset - back, depth + 1)
    } else if (kind === NAMED_DELTA) {
      const id = head.subarray(at, at + this.#width)
      at += this.#width
      base = this.#loose(id.toString('hex')) ?? this.#packed(id, depth + 1)
    }
    // Deflate makes incompressible bytes a little longer.
    const bytes = this.#inflate(readAt(pack.data, offset + at, size + (size >> 8) + 128), size)
    if (bytes.length !== size) return null
    if (kind !== OFFSET_DELTA && kind !== NAMED_DELTA) {
      const type = TYPES[kind]
      return type ? { type, bytes } : null
    }
    return base === null ? null : { type: base.type, bytes: applyDelta(base.bytes, bytes) }
  }

  #inflate(bytes: Buffer, most: number): Buffer {
    const inflated = inflateSync(bytes, { maxOutputLength: Math.max(1, Math.min(most, MOST_BYTES)) })
    this.#read += inflated.length
    if (this.#read > MOST_ALTOGETHER) throw new Error('too much to read')
    return inflated
  }
}

/** The name that git gives these bytes, as 40 or 64 hexadecimal digits. */
function objectName(type: GitObjectType, bytes: Buffer, width: 20 | 32): string {
  const hash = createHash(width === 32 ? 'sha256' : 'sha1')
  return hash.update(`${type} ${bytes.length}\0`).update(bytes).digest('hex')
}

function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0
  const number = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = delta[at++]
      if (byte === undefined || shift > 42) throw new Error('a delta that ends too soon')
      value += (byte & 0x7f) * 2 ** shift
      if (!(byte & 0x80)) return value
    }
  }
  if (number() !== base.length) throw new Error('a delta of another base')
  const size = number()
  if (size > MOST_BYTES) throw new Error('too large')
  const result = Buffer.alloc(size)
  let filled = 0
  while (at < delta.length) {
    const order = delta[at++]!
    if (order & 0x80) {
      let offset = 0
      let length = 0
      for (let bit = 0; bit < 4; bit++) if (order & (1 << bit)) offset += delta[at++]! * 2 ** (8 * bit)
      for (let bit = 0; bit < 3; bit++) if (order & (0x10 << bit)) length += delta[at++]! * 2 ** (8 * bit)
      if (length === 0) length = 0x10000
      if (offset + length > base.length || filled + length > size) throw new Error('a delta beyond its base')
      filled += base.copy(result, filled, offset, offset + length)
    } else {
      if (order === 0 || at + order > delta.length || filled + order > size) throw new Error('an invalid delta')
      filled += delta.copy(result, filled, at, at + order)
      at += order
    }
  }
  if (filled !== size) throw new Error('a delta that ends too soon')
  return result
}

/** Opens a plain file of a folder; null for a link, a pipe, or a folder that a link points to. */
function openPlain(folder: string, name: string): number | null {
  let descriptor: number
  try {
    if (realpathSync.native(folder) !== folder) return null
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
    descriptor = openSync(posix.join(folder, name), flags)
  } catch {
    return null
  }
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  return null
}

function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
}
