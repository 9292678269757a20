/** Paths whose names are not UTF-8, as strings that lose nothing: an odd byte is a lone surrogate, U+DC80 to U+DCFF. */

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** The string for a path's bytes. Names that are UTF-8 stay as they are, so that such a path compares with others. */
export function decodePath(bytes: Uint8Array): string {
  const names: string[] = []
  let start = 0
  for (let end = 0; end <= bytes.length; end++) {
    if (end < bytes.length && bytes[end] !== 0x2f) continue
    names.push(decodeName(bytes.subarray(start, end)))
    start = end + 1
  }
  return names.join('/')
}

/** The bytes of a path, as the kernel wants them. */
export function encodePath(path: string): Uint8Array {
  if (!/[\udc80-\udcff]/.test(path)) return encoder.encode(path)
  const bytes: number[] = []
  for (const char of path) {
    const code = char.codePointAt(0)!
    if (code >= 0xdc80 && code <= 0xdcff) bytes.push(code - 0xdc00)
    else bytes.push(...encoder.encode(char))
  }
  return Uint8Array.from(bytes)
}

function decodeName(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes)
  } catch {
    return Array.from(bytes, (byte) => String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte)).join('')
  }
}
