/** Taking secrets out of bytes as they pass, wherever the pieces are cut. */

import { Transform } from 'node:stream'
import type { SecretForm } from './secret-forms.ts'

/** What is passed in comes out clean, except for an end that could be the start of a secret: it waits for what follows. */
export class Scrubber {
  readonly #forms: readonly SecretForm[]
  readonly #sameLength: boolean
  #kept: Buffer = Buffer.alloc(0)

  /** `sameLength`: for bytes whose length is counted elsewhere. */
  constructor(forms: readonly SecretForm[], sameLength: boolean) {
    this.#forms = forms
    this.#sameLength = sameLength
  }

  take(chunk: Buffer): Buffer {
    const whole = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk])
    const bytes = scrubBytes(whole, this.#forms, this.#sameLength)
    const wait = Math.max(0, ...this.#forms.map((form) => suffixThatStarts(bytes, form.bytes)))
    this.#kept = bytes.subarray(bytes.length - wait)
    return bytes.subarray(0, bytes.length - wait)
  }

  /** What still waited. */
  end(): Buffer {
    const rest = this.#kept
    this.#kept = Buffer.alloc(0)
    return rest
  }
}

export function scrubStream(forms: readonly SecretForm[], sameLength = false): Transform {
  const scrubber = new Scrubber(forms, sameLength)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, scrubber.take(chunk))
    },
    flush(done) {
      done(null, scrubber.end())
    },
  })
}

/** The bytes with every whole form replaced. */
export function scrubBytes(bytes: Buffer, forms: readonly SecretForm[], sameLength = false): Buffer {
  let left = bytes
  for (const form of forms) left = replaceAll(left, form.bytes, sameLength ? form.sameLength : form.replacement)
  return left
}

function replaceAll(bytes: Buffer, value: Buffer, replacement: Buffer): Buffer {
  let at = bytes.indexOf(value)
  if (at < 0) return bytes
  const parts: Buffer[] = []
  let from = 0
  for (; at >= 0; at = bytes.indexOf(value, from)) {
    parts.push(bytes.subarray(from, at), replacement)
    from = at + value.length
  }
  return Buffer.concat([...parts, bytes.subarray(from)])
}

/** The length of the longest end of `bytes` that is a start of `value`, but not all of it. */
function suffixThatStarts(bytes: Buffer, value: Buffer): number {
  for (let length = Math.min(value.length - 1, bytes.length); length > 0; length--) {
    // Most ends are settled by their first byte.
    if (bytes[bytes.length - length] !== value[0]) continue
    if (bytes.compare(value, 0, length, bytes.length - length) === 0) return length
  }
  return 0
}
