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
    this.#waiting = bytes.subarray(end)
    return withoutSecrets(bytes.subarray(0, end), found, this.#sameLength)
  }

  /** The bytes kept back. */
  end(): Buffer {
    const rest = this.#waiting
    this.#waiting = Buffer.alloc(0)
    return scrubBytes(rest, this.#search, this.#sameLength)
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

function withoutSecrets(bytes: Buffer, found: readonly FoundSecret[], sameLength: boolean): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const { start, end, form } of found) {
    if (end > bytes.length) break
    const { filler, placeholder } = form
    const replacement = sameLength || placeholder === null ? filler.repeat(end - start) : placeholder
    parts.push(bytes.subarray(from, start), Buffer.from(replacement))
    from = end
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)])
}
