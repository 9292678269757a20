/** Removes secrets from a byte stream, however it is split. */

import { Transform } from 'node:stream'
import type { FoundSecret, SecretSearch } from './secret-search.ts'

/**
 * Passes clean bytes on and keeps back an end that depends on the next bytes. Its length does not
 * depend on the secret.
 */
export class Scrubber {
  readonly #search: SecretSearch
  readonly #sameLength: boolean
  #waiting: Buffer = Buffer.alloc(0)
  /** Waiting bytes that were passed on with a message; a secret may continue in the next one. */
  #passed = 0

  /** `sameLength`: for bytes whose length is already declared. */
  constructor(search: SecretSearch, sameLength: boolean) {
    this.#search = search
    this.#sameLength = sameLength
  }

  take(chunk: Buffer): Buffer {
    const bytes = this.#waiting.length === 0 ? chunk : Buffer.concat([this.#waiting, chunk])
    const { found, waitsFrom } = this.#search(bytes)
    // A whole secret is not cut: another one may start inside it.
    const end = found.find((one) => one.start < waitsFrom && one.end > waitsFrom)?.start ?? waitsFrom
    const clean = withoutSecrets(bytes.subarray(0, end), found, this.#sameLength, this.#passed)
    this.#waiting = bytes.subarray(end)
    this.#passed = Math.max(0, this.#passed - end)
    return clean
  }

  /** The bytes kept back. */
  end(): Buffer {
    const { found } = this.#search(this.#waiting)
    const clean = withoutSecrets(this.#waiting, found, this.#sameLength, this.#passed)
    this.#passed = this.#waiting.length
    return clean
  }
}

export function scrubStream(search: SecretSearch, sameLength = false): Transform {
  const scrubber = new Scrubber(search, sameLength)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, scrubber.take(chunk))
    },
    flush(done) {
      done(null, scrubber.end())
    },
  })
}

/** The bytes with every whole secret replaced. */
export function scrubBytes(bytes: Buffer, search: SecretSearch, sameLength = false): Buffer {
  return withoutSecrets(bytes, search(bytes).found, sameLength)
}

/** The bytes behind the first `passed` without secrets. */
function withoutSecrets(bytes: Buffer, found: readonly FoundSecret[], sameLength: boolean, passed = 0): Buffer {
  const parts: Buffer[] = []
  let from = Math.min(passed, bytes.length)
  for (const { start, end, form } of found) {
    if (end > bytes.length) break
    if (end <= from) continue
    const { filler, placeholder } = form
    const clear = Math.max(start, from)
    const replacement = sameLength || placeholder === null ? filler.repeat(end - clear) : placeholder
    parts.push(bytes.subarray(from, clear), Buffer.from(replacement))
    from = end
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)])
}
