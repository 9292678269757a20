/** A small DER encoder for certificates and trust stores. */

type Bytes = Uint8Array

/** One value: tag, length, content. */
export function der(tag: number, ...parts: readonly Bytes[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content])
}

export function sequence(...parts: readonly Bytes[]): Buffer {
  return der(0x30, ...parts)
}

/** A SET OF: DER sorts the elements by their encodings. */
export function setOf(...parts: readonly Bytes[]): Buffer {
  return der(0x31, ...[...parts].sort(Buffer.compare))
}

/** A non-negative INTEGER from big-endian bytes or a small number. */
export function integer(value: Bytes | number): Buffer {
  let bytes = typeof value === 'number' ? bigEndian(value) : Buffer.from(value)
  while (bytes.length > 1 && bytes[0] === 0 && bytes[1]! < 0x80) bytes = bytes.subarray(1)
  return bytes[0]! >= 0x80 ? der(0x02, Buffer.from([0]), bytes) : der(0x02, bytes)
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(BigInt)
  const bytes: number[] = []
  for (const arc of [BigInt(first) * 40n + BigInt(second), ...rest]) {
    const digits = [Number(arc & 0x7fn)]
    for (let left = arc >> 7n; left > 0n; left >>= 7n) digits.unshift(Number(left & 0x7fn) | 0x80)
    bytes.push(...digits)
  }
  return der(0x06, Buffer.from(bytes))
}

export function octets(bytes: Bytes): Buffer {
  return der(0x04, bytes)
}

/** A BIT STRING; `unused` counts the unused bits at the end. */
export function bits(bytes: Bytes, unused = 0): Buffer {
  return der(0x03, Buffer.from([unused]), bytes)
}

export function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.from([value ? 0xff : 0]))
}

export function utf8(text: string): Buffer {
  return der(0x0c, Buffer.from(text, 'utf8'))
}

/** A BMPString, which PKCS#12 uses for friendly names. */
export function bmp(text: string): Buffer {
  return der(0x1e, Buffer.from(text, 'utf16le').swap16())
}

/** A point in time, from the caller's clock. */
export interface Moment {
  toISOString(): string
  getUTCFullYear(): number
}

/** A Time: UTCTime until 2049, then GeneralizedTime (RFC 5280). */
export function time(at: Moment): Buffer {
  const iso = at.toISOString()
  const digits = `${iso.slice(0, 19).replaceAll('-', '').replace('T', '').replaceAll(':', '')}Z`
  return at.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}

/** A constructed context tag `[n]` around a whole value. */
export function explicit(tag: number, content: Bytes): Buffer {
  return der(0xa0 | tag, content)
}

/** A primitive context tag `[n]` instead of the value's own. */
export function implicit(tag: number, content: Bytes): Buffer {
  return der(0x80 | tag, content)
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = bigEndian(length)
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

function bigEndian(value: number): Buffer {
  const bytes: number[] = []
  for (let left = value; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256)
  return Buffer.from(bytes.length === 0 ? [0] : bytes)
}
