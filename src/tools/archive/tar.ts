/** Tar archives: ustar, GNU long names and pax headers. */

import { gunzipSync } from 'node:zlib'
import { InputError } from '../tool.ts'
import { type ArchiveEntry, type ArchiveLimits, broken, checkCount, checkSize, MAX_NAME } from './entry.ts'

const BLOCK = 512
const MAX_HEADER = 1024 * 1024

export function isGzip(bytes: Buffer): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b
}

export function isTar(bytes: Buffer): boolean {
  return bytes.length >= BLOCK && headerChecksum(bytes, 0) === readNumber(bytes, 148, 8)
}

/** Unpacks gzip within the limits. */
export function gunzip(bytes: Buffer, limits: ArchiveLimits): Buffer {
  const most = Math.min(limits.bytes, Math.max(limits.ratioFrom, bytes.length * limits.ratio))
  try {
    return gunzipSync(bytes, { maxOutputLength: most })
  } catch (error) {
    if (error instanceof RangeError) checkSize(most + 1, bytes.length, limits)
    throw broken((error as Error).message)
  }
}

/** Reads every header. */
export function readTar(bytes: Buffer, limits: ArchiveLimits): ArchiveEntry[] {
  const entries = new Map<string, ArchiveEntry>()
  const list: ArchiveEntry[] = []
  let overrides: Overrides = {}
  let unpacked = 0
  for (let at = 0; at + BLOCK <= bytes.length; ) {
    if (bytes.subarray(at, at + BLOCK).every((byte) => byte === 0)) return list
    const header = readHeader(bytes, at, overrides)
    const start = at + BLOCK
    const content = bytes.subarray(start, start + header.size)
    if (header.name.length > MAX_NAME) throw broken('a name is longer than any path')
    if (content.length !== header.size) throw broken(`${header.name} is cut off`)
    at = start + Math.ceil(header.size / BLOCK) * BLOCK
    const meta = readMeta(header, content)
    if (meta !== null) {
      overrides = { ...overrides, ...meta }
      continue
    }
    overrides = {}
    const entry = entryOf(header, content, entries)
    unpacked += entry.type === 'file' ? entry.size : 0
    checkSize(unpacked, bytes.length, limits)
    list.push(entry)
    entries.set(entry.name, entry)
    checkCount(list.length, limits)
  }
  return list
}

interface Header {
  readonly name: string
  readonly link: string
  readonly size: number
  readonly mode: number
  readonly type: string
}

interface Overrides {
  readonly path?: string
  readonly linkpath?: string
  readonly size?: number
}

function readHeader(bytes: Buffer, at: number, overrides: Overrides): Header {
  if (headerChecksum(bytes, at) !== readNumber(bytes, at + 148, 8)) throw broken(`no valid header at byte ${at}`)
  const ustar = bytes.toString('latin1', at + 257, at + 263) === 'ustar\0'
  const prefix = ustar ? readText(bytes, at + 345, 155) : ''
  const short = readText(bytes, at, 100)
  const type = String.fromCharCode(bytes[at + 156]!)
  const isMeta = 'xgLK'.includes(type)
  return {
    name: (isMeta ? undefined : overrides.path) ?? (prefix === '' ? short : `${prefix}/${short}`),
    link: (isMeta ? undefined : overrides.linkpath) ?? readText(bytes, at + 157, 100),
    size: (isMeta ? undefined : overrides.size) ?? sizeOf(type, readNumber(bytes, at + 124, 12)),
    mode: readNumber(bytes, at + 100, 8),
    type,
  }
}

// Links and directories have no content, whatever size they claim.
function sizeOf(type: string, size: number): number {
  return '12345'.includes(type) ? 0 : size
}

/** Metadata for the next entry; null for an entry. */
function readMeta(header: Header, content: Buffer): Overrides | null {
  if (!'xgLK'.includes(header.type)) return null
  if (content.length > MAX_HEADER) throw broken('an extended header is longer than any name')
  if (header.type === 'L') return { path: untilNul(content) }
  if (header.type === 'K') return { linkpath: untilNul(content) }
  // Global headers may not rename later entries.
  return header.type === 'g' ? {} : readPax(content)
}

function readPax(content: Buffer): Overrides {
  const found: { path?: string; linkpath?: string; size?: number } = {}
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at)
    const length = Number(content.toString('latin1', at, space))
    if (space < 0 || !Number.isInteger(length) || length < 5 || at + length > content.length) {
      throw broken('a pax header is inconsistent')
    }
    const record = content.toString('utf8', space + 1, at + length - 1)
    const equals = record.indexOf('=')
    const key = record.slice(0, equals)
    const value = record.slice(equals + 1)
    if (key === 'path') found.path = value
    else if (key === 'linkpath') found.linkpath = value
    else if (key === 'size') found.size = paxSize(value)
    else if (key.startsWith('GNU.sparse'))
      throw new InputError('the archive contains sparse files, which are not unpacked')
    at += length
  }
  return found
}

function paxSize(value: string): number {
  if (!/^\d{1,15}$/.test(value)) throw broken('a pax header has no valid size')
  return Number(value)
}

function entryOf(header: Header, content: Buffer, earlier: ReadonlyMap<string, ArchiveEntry>): ArchiveEntry {
  const name = header.name.replace(/\/+$/, '')
  const executable = (header.mode & 0o111) !== 0
  switch (header.type) {
    case '0':
    case '\0':
    case '7':
      if (header.name.endsWith('/')) return { type: 'directory', name }
      return { type: 'file', name, size: header.size, executable, content: () => content }
    case '5':
      return { type: 'directory', name }
    case '2':
      return { type: 'link', name, target: header.link }
    case '1': {
      const original = earlier.get(header.link.replace(/^\.\//, '')) ?? earlier.get(header.link)
      if (original?.type !== 'file') {
        throw new InputError(`${name} in the archive is a hard link to ${header.link}, which is not in the archive`)
      }
      return { ...original, name }
    }
    default:
      throw new InputError(`${name} in the archive is a device, FIFO or another special entry (type "${header.type}")`)
  }
}

function headerChecksum(bytes: Buffer, at: number): number {
  let sum = 8 * 0x20
  for (let index = 0; index < BLOCK; index++) if (index < 148 || index >= 156) sum += bytes[at + index]!
  return sum
}

/** A number of the header, or -1 if invalid. */
function readNumber(bytes: Buffer, at: number, length: number): number {
  if ((bytes[at]! & 0x80) !== 0) {
    let value = bytes[at]! & 0x7f
    for (let index = 1; index < length; index++) value = value * 256 + bytes[at + index]!
    return Number.isSafeInteger(value) ? value : -1
  }
  const text = bytes
    .toString('latin1', at, at + length)
    .replace(/[\0 ]+$/, '')
    .trimStart()
  if (text === '') return 0
  const value = /^[0-7]+$/.test(text) ? Number.parseInt(text, 8) : Number.NaN
  return Number.isSafeInteger(value) ? value : -1
}

function readText(bytes: Buffer, at: number, length: number): string {
  return untilNul(bytes.subarray(at, at + length))
}

function untilNul(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  const raw = end < 0 ? bytes : bytes.subarray(0, end)
  const text = raw.toString('utf8')
  return Buffer.from(text, 'utf8').equals(raw) ? text : raw.toString('latin1')
}
