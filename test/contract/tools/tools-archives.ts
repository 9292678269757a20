/** Archives for tests, honest and dishonest, written byte by byte. */

import { crc32, deflateRawSync, gzipSync } from 'node:zlib'

export interface ZipItem {
  readonly name: string
  readonly content?: string | Buffer
  readonly mode?: number
  readonly stored?: boolean
  /** What the local header says instead of the name. */
  readonly localName?: string
  /** What the directory says instead of the true size. */
  readonly size?: number
  readonly flags?: number
  readonly method?: number
  /** Sizes and offsets in a zip64 field. */
  readonly wide?: boolean
}

export function zip(items: readonly ZipItem[]): Buffer {
  const locals: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const item of items) {
    const content = Buffer.from(item.content ?? '')
    const packed = item.stored ? content : deflateRawSync(content)
    const method = item.method ?? (item.stored ? 0 : 8)
    const size = item.size ?? content.length
    const localName = Buffer.from(item.localName ?? item.name)
    const name = Buffer.from(item.name)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(item.flags ?? 0, 6)
    local.writeUInt16LE(method, 8)
    local.writeUInt32LE(crc32(content), 14)
    local.writeUInt32LE(packed.length, 18)
    local.writeUInt32LE(size, 22)
    local.writeUInt16LE(localName.length, 26)
    const extra = item.wide ? wideField([size, packed.length, offset]) : Buffer.alloc(0)
    const central = Buffer.alloc(46)
    central.writeUInt32LE(0x02014b50, 0)
    central.writeUInt16LE((3 << 8) | 45, 4)
    central.writeUInt16LE(item.flags ?? 0, 8)
    central.writeUInt16LE(method, 10)
    central.writeUInt32LE(crc32(content), 16)
    central.writeUInt32LE(item.wide ? 0xffffffff : packed.length, 20)
    central.writeUInt32LE(item.wide ? 0xffffffff : size, 24)
    central.writeUInt16LE(name.length, 28)
    central.writeUInt16LE(extra.length, 30)
    central.writeUInt32LE((((item.mode ?? 0o100644) & 0xffff) << 16) >>> 0, 38)
    central.writeUInt32LE(item.wide ? 0xffffffff : offset, 42)
    directory.push(central, name, extra)
    locals.push(local, localName, packed)
    offset += 30 + localName.length + packed.length
  }
  const index = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(items.length, 8)
  end.writeUInt16LE(items.length, 10)
  end.writeUInt32LE(index.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, index, end])
}

export interface TarItem {
  readonly name: string
  readonly content?: string
  readonly type?: string
  readonly link?: string
  readonly mode?: number
}

export function tar(items: readonly TarItem[]): Buffer {
  const blocks = items.map(({ name, content = '', type = '0', link = '', mode = 0o644 }) => {
    const body = Buffer.from(content)
    const header = Buffer.alloc(512)
    header.write(name, 0, 100)
    header.write(`${mode.toString(8).padStart(7, '0')}\0`, 100)
    header.write(`${body.length.toString(8).padStart(11, '0')}\0`, 124)
    header.write(`${'0'.repeat(11)}\0`, 136)
    header.write(type, 156)
    header.write(link, 157, 100)
    header.write('ustar\0', 257)
    header.fill(0x20, 148, 156)
    const sum = header.reduce((total, byte) => total + byte, 0)
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)])
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

export function tarGz(items: readonly TarItem[]): Buffer {
  return gzipSync(tar(items))
}

/** One record of a pax header. */
export function pax(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  let length = bytes + 1
  while (String(length).length + bytes !== length) length++
  return length + rest
}

function wideField(values: readonly number[]): Buffer {
  const field = Buffer.alloc(4 + values.length * 8)
  field.writeUInt16LE(1, 0)
  field.writeUInt16LE(values.length * 8, 2)
  for (const [index, value] of values.entries()) field.writeBigUInt64LE(BigInt(value), 4 + index * 8)
  return field
}
