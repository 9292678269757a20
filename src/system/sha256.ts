import { hash } from 'node:crypto'

/** The SHA-256 of bytes or of UTF-8 text, in hexadecimal. */
export function sha256(input: string | Uint8Array): string {
  return hash('sha256', input)
}
