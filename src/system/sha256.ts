/** SHA-256 in hexadecimal digits. */

import { hash } from 'node:crypto'

/** The hash of bytes or of a text's UTF-8. */
export function sha256(input: string | Uint8Array): string {
  return hash('sha256', input)
}
