/**
 * SHA-256 for processes that hash a few short texts: a hook hashes one line, and loading
 * node:crypto takes longer than the rest of its record. Longer input uses node:crypto.
 */

import { hash } from 'node:crypto'

/** Hashes before node:crypto is loaded. */
const FEW = 12
/** Longest input hashed here, in bytes or characters. */
const SHORT = 8192

let made = 0
let constants: Int32Array | null = null

/** The hash of bytes or of UTF-8 text, in hexadecimal. */
export function sha256(input: string | Uint8Array): string {
  if (made >= FEW || input.length > SHORT) return hash('sha256', input)
  made++
  return plainSha256(typeof input === 'string' ? new TextEncoder().encode(input) : input)
}

/** FIPS 180-4 for code that V8 never compiles: no calls or lists in loops, small integers. */
export function plainSha256(input: Uint8Array): string {
  constants ??= new Int32Array(CONSTANTS)
  const state = new Int32Array(START)
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
// biome-ignore format: a row has eight.
const CONSTANTS: readonly number[] = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
]

/** The same of the square roots of the first 8. */
// biome-ignore format: as above.
const START: readonly number[] = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]
