/** The client's side of SCRAM-SHA-256 (RFC 5802 and 7677): it proves a password without saying it, and has the server prove that it knows it too. */

import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

/** What a server may have us count to; its own default is 4,096. */
const MOST_ROUNDS = 1_000_000

export interface Scram {
  readonly first: string
  /** The answer to the server's first message; null for one that is none. */
  answer(serverFirst: string): Promise<string | null>
  /** Whether the server has proved that it knows the password. */
  isProved(serverFinal: string): boolean
}

/** `user` stays empty where the server has the name from elsewhere. */
export function createScram(password: string, user = '', nonce: string = randomBytes(18).toString('base64')): Scram {
  const bare = `n=${user},r=${nonce}`
  let expected: Buffer | null = null
  return {
    first: `n,,${bare}`,
    answer: async (serverFirst) => {
      const [, given = '', salt = '', rounds = ''] =
        /^r=([!-+\--~]+),s=([A-Za-z0-9+/=]+),i=(\d{1,7})$/.exec(serverFirst) ?? []
      if (!given.startsWith(nonce) || given.length === nonce.length) return null
      if (Number(rounds) < 1 || Number(rounds) > MOST_ROUNDS) return null
      const salted = await promisify(pbkdf2)(password, Buffer.from(salt, 'base64'), Number(rounds), 32, 'sha256')
      const key = hmac(salted, 'Client Key')
      const unproved = `c=biws,r=${given}`
      const said = `${bare},${serverFirst},${unproved}`
      const signature = hmac(createHash('sha256').update(key).digest(), said)
      expected = hmac(hmac(salted, 'Server Key'), said)
      return `${unproved},p=${Buffer.from(key.map((byte, at) => byte ^ signature[at]!)).toString('base64')}`
    },
    isProved: (serverFinal) => {
      const proof = Buffer.from(/^v=([A-Za-z0-9+/=]+)/.exec(serverFinal)?.[1] ?? '', 'base64')
      return expected !== null && proof.length === expected.length && timingSafeEqual(proof, expected)
    },
  }
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}
