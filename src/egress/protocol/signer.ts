/**
 * Limits a person's agent to signatures of one key. ssh-agent only signs commits and tags, whose
 * data differs from logins. gpg-agent only signs with one keygrip, whose description it does not
 * show either.
 */

import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { Transform } from 'node:stream'
import type { RelayTransforms } from '../wire/join.ts'

/** More than any message of ssh-agent needs. */
const MOST_BYTES = 256 * 1024
/** The protocol of gpg-agent has no lines longer than this; a reader of parts would see another command. */
const MOST_LINE = 1000

/** The length of one message, or null while incomplete. Throws if it is too large. */
type Framing = (bytes: Buffer) => number | null

/** The decision about a command's message: it passes, or is answered here. */
type Verdict = 'pass' | { readonly answer: Buffer; readonly refused: boolean }

interface Protocol {
  readonly frame: Framing
  judge(message: Buffer): Verdict
  /** An answer of the agent, filtered for the command. */
  shown(answer: Buffer): Buffer
}

/** Judges the command's messages to the agent; `refused` receives each refused one. */
export function joinSigner(client: Socket, key: string, refused: (what: string) => void): RelayTransforms {
  const protocol = key.startsWith('SHA256:') ? sshAgent(key) : gpgAgent(key)
  const down = messages(protocol.frame, (answer) => protocol.shown(answer))
  const up = messages(protocol.frame, (message) => {
    const verdict = protocol.judge(message)
    if (verdict === 'pass') return message
    if (verdict.refused) refused(`it signs by ${key} alone, and commits and tags alone`)
    // Agent clients wait for each answer, so answers stay in order.
    client.write(verdict.answer)
    return null
  })
  return { up, down }
}

function messages(frame: Framing, each: (message: Buffer) => Buffer | null): Transform {
  let rest: Buffer = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      rest = Buffer.concat([rest, chunk])
      try {
        for (let length = frame(rest); length !== null; length = frame(rest)) {
          const kept = each(rest.subarray(0, length))
          rest = rest.subarray(length)
          if (kept !== null) this.push(kept)
        }
        done()
      } catch (error) {
        done(error as Error)
      }
    },
  })
}

// ssh-agent: a length, a type, fields.

const REQUEST_IDENTITIES = 11
const IDENTITIES_ANSWER = 12
const SIGN_REQUEST = 13
const SSH_FAILURE = Buffer.from([0, 0, 0, 1, 5])

function sshAgent(key: string): Protocol {
  const isKey = (blob: Buffer) =>
    `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}` === key
  return {
    frame: (bytes) => {
      if (bytes.length < 4) return null
      const length = bytes.readUInt32BE(0) + 4
      if (length > MOST_BYTES) throw new Error('a message of the agent is too large')
      return bytes.length < length ? null : length
    },
    judge: (message) => {
      if (message[4] === REQUEST_IDENTITIES && message.length === 5) return 'pass'
      return message[4] === SIGN_REQUEST && signsCommit(message.subarray(5), isKey)
        ? 'pass'
        : { answer: SSH_FAILURE, refused: true }
    },
    shown: (answer) => (answer[4] === IDENTITIES_ANSWER ? onlyKey(answer.subarray(5), isKey) : answer),
  }
}

/** The length-prefixed fields at the start; null if truncated. */
function fields(bytes: Buffer, count: number): { readonly list: readonly Buffer[]; readonly rest: Buffer } | null {
  const list: Buffer[] = []
  let rest = bytes
  while (list.length < count) {
    if (rest.length < 4 || rest.length - 4 < rest.readUInt32BE(0)) return null
    const end = 4 + rest.readUInt32BE(0)
    list.push(rest.subarray(4, end))
    rest = rest.subarray(end)
  }
  return { list, rest }
}

/**
 * The text that `ssh-keygen -Y sign -n git` signs: it names its purpose, and no login has its
 * format.
 */
function signsCommit(bytes: Buffer, isKey: (blob: Buffer) => boolean): boolean {
  const asked = fields(bytes, 2)
  if (asked === null || asked.rest.length !== 4) return false
  const [blob, data] = asked.list as [Buffer, Buffer]
  if (!isKey(blob) || data.subarray(0, 6).toString('latin1') !== 'SSHSIG') return false
  const signed = fields(data.subarray(6), 4)
  return signed !== null && signed.rest.length === 0 && signed.list[0]!.toString('latin1') === 'git'
}

function onlyKey(bytes: Buffer, isKey: (blob: Buffer) => boolean): Buffer {
  const found: Buffer[] = []
  const count = bytes.length < 4 ? 0 : bytes.readUInt32BE(0)
  let rest = bytes.subarray(4)
  for (let index = 0; index < count; index++) {
    const one = fields(rest, 2)
    if (one === null) break
    if (isKey(one.list[0]!)) found.push(rest.subarray(0, rest.length - one.rest.length))
    rest = one.rest
  }
  const body = Buffer.concat([Buffer.from([IDENTITIES_ANSWER, 0, 0, 0, found.length]), ...found])
  const head = Buffer.alloc(4)
  head.writeUInt32BE(body.length)
  return Buffer.concat([head, body])
}

// gpg-agent: lines.

/** Commands that read public keys, or answer a question of the agent. */
const GPG_PASSED = /^(?:RESET|NOP|BYE|GETINFO|AGENT_ID|HAVEKEY|KEYINFO|READKEY|SETHASH|PKSIGN|END|CAN)(?: |$)/
/** The person's environment and passphrase prompt stay unchanged. */
const GPG_IGNORED = /^(?:OPTION|SETKEYDESC)(?: |$)/
const GPG_OK = Buffer.from('OK\n')
/** GPG_ERR_FORBIDDEN, in the agent's format. */
const GPG_FORBIDDEN = Buffer.from('ERR 67109115 Forbidden <Cordon>\n')

function gpgAgent(key: string): Protocol {
  return {
    frame: (bytes) => {
      const end = bytes.indexOf(10)
      if ((end < 0 ? bytes.length : end + 1) > MOST_LINE) throw new Error('a line of the agent is too long')
      return end < 0 ? null : end + 1
    },
    judge: (message) => {
      const line = message.toString('latin1').replace(/\r?\n$/, '')
      if (/^(?:#.*)?$/.test(line) || GPG_PASSED.test(line.toUpperCase())) return 'pass'
      if (GPG_IGNORED.test(line.toUpperCase())) return { answer: GPG_OK, refused: false }
      const named = /^SIGKEY +([0-9A-F]{40})$/.exec(line.toUpperCase())
      return named?.[1] === key ? 'pass' : { answer: GPG_FORBIDDEN, refused: true }
    },
    shown: (answer) => answer,
  }
}
