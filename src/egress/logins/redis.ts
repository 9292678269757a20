/** A login to Redis with a password that stays outside: AUTH and HELLO that say the placeholder go out with the password. */

import { Transform } from 'node:stream'
import { quote } from '../../hosts/host.ts'
import { type LoginCall, LoginRefused, type LoginWire } from './login-wire.ts'
import { readCommand, writeCommand } from './redis-commands.ts'
import { peekByte } from './take-bytes.ts'

const TLS_RECORD = 0x16

export const redis: LoginWire = {
  logIn: async (call) => {
    const secure = (await peekByte(call.client)) === TLS_RECORD
    const client = secure ? await call.encryptClient() : call.client
    const host = await call.dial(secure)
    const words = loginWords(call, call.isPrivate(host))
    return { client, host, words: words.transform, used: words.used }
  },
  // A line of their own for clients that wait for an answer to what they asked.
  failure: ({ code, message }) =>
    Buffer.from(`-ERR refused by Cordon (${code}): ${message.replace(/[\r\n]/g, ' ')}\r\n`),
}

/** The client's commands, one by one until it is logged in; after that its bytes. */
function loginWords({ login, subject }: LoginCall, isPrivate: boolean): { transform: Transform; used: () => boolean } {
  let waiting: Buffer = Buffer.alloc(0)
  let done = false

  function take(chunk: Buffer): Buffer {
    if (done) return chunk
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk])
    const out: Buffer[] = []
    while (!done && waiting.length > 0) {
      const read = readCommand(waiting)
      if (read === null) break
      if ('problem' in read)
        throw new LoginRefused('secret-unread', `only Redis is spoken to ${subject}: ${read.problem}`)
      out.push(exchanged(read.words) ?? waiting.subarray(0, read.used))
      waiting = waiting.subarray(read.used)
    }
    if (done) {
      out.push(waiting)
      waiting = Buffer.alloc(0)
    }
    return Buffer.concat(out)
  }

  /** A login with the password in it; null for any other command. */
  function exchanged(words: readonly string[]): Buffer | null {
    const at = passwordAt(words)
    if (at === null) return null
    if (words[at] !== login.placeholder)
      throw new LoginRefused(
        'secret-foreign',
        `the password for ${quote(subject)} is not the placeholder of ${login.name}`,
      )
    if (!isPrivate)
      throw new LoginRefused('secret-insecure', `the password for ${quote(subject)} does not go out without TLS`)
    done = true
    return writeCommand(words.with(at, login.value))
  }

  const transform = new Transform({
    transform(chunk: Buffer, _encoding, then) {
      try {
        then(null, take(chunk))
      } catch (error) {
        then(error as Error)
      }
    },
  })
  return { transform, used: () => done }
}

/** `AUTH [user] password`, and `HELLO version AUTH user password …`. */
function passwordAt(words: readonly string[]): number | null {
  const name = words[0]?.toUpperCase()
  if (name === 'AUTH') return words.length - 1
  if (name !== 'HELLO') return null
  const at = words.findIndex((word, index) => index > 0 && word.toUpperCase() === 'AUTH')
  return at < 0 ? null : Math.min(at + 2, words.length - 1)
}
