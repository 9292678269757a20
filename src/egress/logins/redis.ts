/** Performs Redis logins: AUTH and HELLO with the placeholder are sent with the password. */

import { Transform } from 'node:stream'
import { quote } from '../../hosts/host.ts'
import { type LoginCall, LoginRefused, type LoginWire, peekByte } from './login-wire.ts'
import { commandsThrough, writeCommand } from './redis-commands.ts'

const TLS_RECORD = 0x16

export const redis: LoginWire = {
  logIn: async (call) => {
    const secure = (await peekByte(call.client)) === TLS_RECORD
    const client = secure ? await call.encryptClient() : call.client
    const host = await call.dial(secure)
    const words = loginWords(call, call.isPrivate(host))
    return { client, host, words: words.transform, used: words.used }
  },
  // A separate line, for clients that wait for an answer to their command.
  failure: ({ code, message }) =>
    Buffer.from(`-ERR refused by Cordon (${code}): ${message.replace(/[\r\n]/g, ' ')}\r\n`),
}

/** The client's commands: every login, first or later, uses the password or is refused. */
function loginWords({ login, subject }: LoginCall, isPrivate: boolean): { transform: Transform; used: () => boolean } {
  let used = false

  function unread(problem: string): LoginRefused {
    return new LoginRefused('secret-unread', `only Redis is spoken to ${subject}: ${problem}`)
  }

  /** A login with the password inserted; null for any other command. */
  function exchanged(words: readonly string[]): Buffer | null {
    const at = passwordAt(words)
    if (at === 'unclear') throw unread('a login that could be read in more than one way')
    if (at === null) return null
    if (words[at] !== login.placeholder)
      throw new LoginRefused(
        'secret-foreign',
        `the password for ${quote(subject)} is not the placeholder of ${login.name}`,
      )
    if (!isPrivate)
      throw new LoginRefused('secret-insecure', `the password for ${quote(subject)} does not go out without TLS`)
    used = true
    return writeCommand(words.with(at, login.value))
  }

  const take = commandsThrough(LOGINS, exchanged, unread)
  const transform = new Transform({
    transform(chunk: Buffer, _encoding, then) {
      try {
        then(null, take(chunk))
      } catch (error) {
        then(error as Error)
      }
    },
  })
  return { transform, used: () => used }
}

const LOGINS: ReadonlySet<string> = new Set(['AUTH', 'HELLO'])

/**
 * The position of the password in `AUTH [user] password` and `HELLO [version [AUTH user password]
 * [SETNAME name]]`.
 */
function passwordAt(words: readonly string[]): number | 'unclear' | null {
  if (words[0]?.toUpperCase() === 'AUTH') return words.length === 2 || words.length === 3 ? words.length - 1 : 'unclear'
  let found: number | null = null
  for (let at = 2; at < words.length; ) {
    const option = words[at]!.toUpperCase()
    // The server uses the last of several.
    if (option === 'AUTH' && found === null && at + 2 < words.length) {
      found = at + 2
      at += 3
    } else if (option === 'SETNAME' && at + 1 < words.length) at += 2
    else return 'unclear'
  }
  return found
}
