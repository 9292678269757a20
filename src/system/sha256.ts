/**
 * SHA-256 for processes that need a few: a hook hashes the one line that it records, and loading node:crypto takes its start
 * longer than all the rest of the record. Everything beyond a few short texts is left to node:crypto.
 */

import { hash } from 'node:crypto'

/** Hashes that a process makes by itself. */
const FEW = 12
/** Bytes, or characters, of what it hashes by itself. */
const SHORT = 8192

let made = 0
let constants: Int32Array | null = null

/** The hash of bytes or of a text's UTF-8, in hexadecimal digits. */
export function sha256(input: string | Uint8Array): string {
  if (made >= FEW || input.length > SHORT) return hash('sha256', input)
  made++
  return plainSha256(typeof input === 'string' ? new TextEncoder().encode(input) : input)
}

/**
 * FIPS 180-4. Written for code that is never compiled, as a process ends before it would be: no calls and no lists in the
 * loops, and numbers that are small integers to V8.
 */
export function plainSha256(input: Uint8Array): string {
  constants ??= wordsOf(CONSTANTS)
  const state = wordsOf(START)
  const padded = new Uint8Array(((input.length + 8) >> 6) * 64 + 64)
  padded.set(input)
  padded[input.length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(input.length / 2 ** 29))
  view.setUint32(padded.length - 4, input.length << 3)
  const words = new Int32Array(64)
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 16; t++) words[t] = view.getInt32(block + t * 4)
    for (let t = 16; t < 64; t++) {
      const x = words[t - 15]!
      const y = words[t - 2]!
      const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
      const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
      words[t] = words[t - 16]! + low + words[t - 7]! + high
    }
    mix(state, words, constants)
  }
  return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function mix(state: Int32Array, words: Int32Array, constants: Int32Array): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let t = 0; t < 64; t++) {
    const one = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const first = (h + one + ((e & f) ^ (~e & g)) + constants[t]! + words[t]!) | 0
    const zero = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const second = (zero + ((a & b) ^ (a & c) ^ (b & c))) | 0
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    c = b
    b = a
    a = (first + second) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}

/** The first 32 bits of the fractions of the cube roots of the first 64 primes. */
const CONSTANTS = `
  428a2f98 71374491 b5c0fbcf e9b5dba5 3956c25b 59f111f1 923f82a4 ab1c5ed5 d807aa98 12835b01 243185be 550c7dc3
  72be5d74 80deb1fe 9bdc06a7 c19bf174 e49b69c1 efbe4786 0fc19dc6 240ca1cc 2de92c6f 4a7484aa 5cb0a9dc 76f988da
  983e5152 a831c66d b00327c8 bf597fc7 c6e00bf3 d5a79147 06ca6351 14292967 27b70a85 2e1b2138 4d2c6dfc 53380d13
  650a7354 766a0abb 81c2c92e 92722c85 a2bfe8a1 a81a664b c24b8b70 c76c51a3 d192e819 d6990624 f40e3585 106aa070
  19a4c116 1e376c08 2748774c 34b0bcb5 391c0cb3 4ed8aa4a 5b9cca4f 682e6ff3 748f82ee 78a5636f 84c87814 8cc70208
  90befffa a4506ceb bef9a3f7 c67178f2`

/** The same of the square roots of the first 8. */
const START = '6a09e667 bb67ae85 3c6ef372 a54ff53a 510e527f 9b05688c 1f83d9ab 5be0cd19'

function wordsOf(text: string): Int32Array {
  return Int32Array.from(text.trim().split(/\s+/), (word) => Number.parseInt(word, 16))
}
