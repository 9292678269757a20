/** Zip archives with zip64. Local headers must agree with the central directory. */

import { crc32, inflateRawSync } from 'node:zlib'
import { InputError } from '../tool.ts'
import { type ArchiveEntry, type ArchiveLimits, broken, checkCount, checkSize, MAX_NAME } from './entry.ts'

const END = 0x06054b50
const END64 = 0x06064b50
const LOCATOR64 = 0x07064b50
const CENTRAL = 0x02014b50
const LOCAL = 0x04034b50
const END_LENGTH = 22
const UNIX = 3
const LINK_TYPE = 0o120000
const DIRECTORY_TYPE = 0o040000
const FILE_TYPE = 0o100000

export function isZip(bytes: Buffer): boolean {
  return bytes.length >= 4 && (bytes.readUInt32LE(0) === LOCAL || bytes.readUInt32LE(0) === END)
}

/** Reads the directory and checks sizes; contents are unpacked on demand. */
export function readZip(bytes: Buffer, limits: ArchiveLimits): ArchiveEntry[] {
  const directory = findDirectory(bytes)
  checkCount(directory.count, limits)
  const headers: Header[] = []
  let at = directory.offset
  for (let index = 0; index < directory.count; index++) {
    const header = readHeader(bytes, at)
    headers.push(header)
    at = header.next
  }
  let unpacked = 0
  for (const header of headers) unpacked += header.size
  checkSize(unpacked, bytes.length, limits)
  checkOverlap(bytes, headers)
  return headers.map((header) => entryOf(bytes, header))
}

interface Header {
  readonly name: string
  readonly rawName: Buffer
  readonly method: number
  readonly crc: number
  readonly packed: number
  readonly size: number
  readonly mode: number | null
  readonly offset: number
  readonly next: number
}

function findDirectory(bytes: Buffer): { readonly offset: number; readonly count: number } {
  const lowest = Math.max(0, bytes.length - END_LENGTH - 0xffff)
  for (let at = bytes.length - END_LENGTH; at >= lowest; at--) {
    if (bytes.readUInt32LE(at) !== END || at + END_LENGTH + bytes.readUInt16LE(at + 20) !== bytes.length) continue
    const count = bytes.readUInt16LE(at + 10)
    const offset = bytes.readUInt32LE(at + 16)
    if (count !== 0xffff && offset !== 0xffffffff) return { count, offset }
    return findDirectory64(bytes, at) ?? { count, offset }
  }
  throw broken('it has no end record; it may have been cut off')
}

function findDirectory64(bytes: Buffer, end: number): { readonly offset: number; readonly count: number } | null {
  const locator = end - 20
  if (locator < 0 || bytes.readUInt32LE(locator) !== LOCATOR64) return null
  const at = safeNumber(bytes, locator + 8)
  if (at + 56 > bytes.length || bytes.readUInt32LE(at) !== END64) throw broken('its zip64 end record is missing')
  return { count: safeNumber(bytes, at + 32), offset: safeNumber(bytes, at + 48) }
}

function readHeader(bytes: Buffer, at: number): Header {
  if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== CENTRAL) throw broken('its directory is cut off')
  const nameLength = bytes.readUInt16LE(at + 28)
  const extraLength = bytes.readUInt16LE(at + 30)
  const next = at + 46 + nameLength + extraLength + bytes.readUInt16LE(at + 32)
  if (next > bytes.length) throw broken('its directory is cut off')
  if (nameLength > MAX_NAME) throw broken('a name is longer than any path')
  const flags = bytes.readUInt16LE(at + 8)
  const rawName = bytes.subarray(at + 46, at + 46 + nameLength)
  const name = decodeName(rawName)
  if ((flags & 0x2041) !== 0)
    throw new InputError(`${name} in the archive is encrypted; unpack it with its password first`)
  const sizes = {
    size: bytes.readUInt32LE(at + 24),
    packed: bytes.readUInt32LE(at + 20),
    offset: bytes.readUInt32LE(at + 42),
  }
  const extra = bytes.subarray(at + 46 + nameLength, at + 46 + nameLength + extraLength)
  const madeBy = bytes.readUInt16LE(at + 4) >> 8
  return {
    name,
    rawName,
    method: bytes.readUInt16LE(at + 10),
    crc: bytes.readUInt32LE(at + 16),
    ...withZip64(sizes, extra),
    mode: madeBy === UNIX ? bytes.readUInt32LE(at + 38) >>> 16 : null,
    next,
  }
}

function withZip64<Sizes extends { size: number; packed: number; offset: number }>(sizes: Sizes, extra: Buffer): Sizes {
  const wide = (['size', 'packed', 'offset'] as const).filter((field) => sizes[field] === 0xffffffff)
  if (wide.length === 0) return sizes
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    if (extra.readUInt16LE(at + 2) < wide.length * 8) break
    return {
      ...sizes,
      ...Object.fromEntries(wide.map((field, index) => [field, safeNumber(extra, at + 4 + index * 8)])),
    }
  }
  throw broken('an entry lacks its zip64 sizes')
}

// Overlapping entries let a small archive unpack endlessly.
function checkOverlap(bytes: Buffer, headers: readonly Header[]): void {
  let end = 0
  for (const header of headers.toSorted((a, b) => a.offset - b.offset)) {
    if (header.offset < end)
      throw new InputError(`entries of the archive overlap at ${header.name}; it may be malicious`)
    end = dataStart(bytes, header) + header.packed
    if (end > bytes.length) throw broken(`${header.name} is cut off`)
  }
}

function dataStart(bytes: Buffer, header: Header): number {
  const at = header.offset
  if (at + 30 > bytes.length || bytes.readUInt32LE(at) !== LOCAL) throw broken(`${header.name} has no local header`)
  const nameLength = bytes.readUInt16LE(at + 26)
  // Different names would make readers disagree.
  if (!bytes.subarray(at + 30, at + 30 + nameLength).equals(header.rawName)) {
    throw new InputError(`${header.name} has another name in its local header; the archive may be malicious`)
  }
  return at + 30 + nameLength + bytes.readUInt16LE(at + 28)
}

function entryOf(bytes: Buffer, header: Header): ArchiveEntry {
  const { name, mode, size } = header
  const type = mode === null ? 0 : mode & 0o170000
  if (name.endsWith('/') || type === DIRECTORY_TYPE) return { type: 'directory', name: name.replace(/\/+$/, '') }
  if (type === LINK_TYPE) return { type: 'link', name, target: unpack(bytes, header).toString('utf8') }
  if (type !== 0 && type !== FILE_TYPE) throw new InputError(`${name} in the archive is a device or FIFO`)
  const executable = mode !== null && (mode & 0o111) !== 0
  return { type: 'file', name, size, executable, content: () => unpack(bytes, header) }
}

function unpack(bytes: Buffer, header: Header): Buffer {
  const start = dataStart(bytes, header)
  const packed = bytes.subarray(start, start + header.packed)
  const content = header.method === 0 ? packed : inflate(packed, header)
  if (content.length !== header.size || crc32(content) !== header.crc) {
    throw broken(`the content of ${header.name} does not match its size and checksum`)
  }
  return content
}

function inflate(packed: Buffer, header: Header): Buffer {
  if (header.method !== 8) {
    throw new InputError(
      `${header.name} is packed with method ${header.method}; only stored and deflated entries are unpacked`,
    )
  }
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(header.size, 1) })
  } catch (error) {
    throw broken(`${header.name} cannot be unpacked (${(error as Error).message})`)
  }
}

function decodeName(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : bytes.toString('latin1')
}

function safeNumber(bytes: Buffer, at: number): number {
  if (at + 8 > bytes.length) throw broken('a zip64 number is cut off')
  const value = bytes.readBigUInt64LE(at)
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw broken('a zip64 number is larger than any file')
  return Number(value)
}
