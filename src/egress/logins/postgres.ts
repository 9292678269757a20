/**
 * Performs a PostgreSQL login: the client sends the placeholder here, and the proxy proves the
 * password to the server.
 */

import { createHash, createHmac, pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { promisify } from 'node:util'
import { quote } from '../../hosts/host.ts'
import type { Login } from '../credentials/broker.ts'
import { type LoginCall, LoginRefused, type LoginWire, takeBytes } from './login-wire.ts'
import {
  ASK_PASSWORD,
  failure,
  HEAD,
  message,
  messageHead,
  readAuthentication,
  readHead,
  readStart,
  START_HEAD,
  saslStart,
  userOf,
  WANT_TLS,
} from './postgres-messages.ts'

/** PostgreSQL's codes for a failed login, and for one that could not be tried. */
const INVALID_PASSWORD = '28P01'
const CONNECTION_FAILURE = '08006'

export const postgres: LoginWire = {
  logIn: async (call) => {
    const started = await readClient(call)
    const host = await reach(call)
    if (started.kind === 'cancel') {
      host.end(started.bytes)
      started.client.end()
      return null
    }
    host.write(started.bytes)
    const used = await logIn(started.client, host, call.login, {
      user: userOf(started.bytes.subarray(START_HEAD)),
      isPrivate: call.isPrivate(host),
      subject: call.subject,
    })
    return { client: started.client, host, used: () => used }
  },
  readHead: messageHead,
  failure: ({ code, message: text }) =>
    failure(code === 'secret-foreign' ? INVALID_PASSWORD : CONNECTION_FAILURE, `refused by Cordon (${code}): ${text}`),
}

interface Started {
  readonly client: Duplex
  readonly kind: 'start' | 'cancel'
  readonly bytes: Buffer
}

/** Reads the client's start, encrypted on request. */
async function readClient({ client: plain, encryptClient, subject }: LoginCall): Promise<Started> {
  const strange = () =>
    new LoginRefused('secret-unread', `only PostgreSQL is spoken to ${subject}; something else was sent`)
  let client: Duplex = plain
  // Each encryption is requested once.
  for (let asked = 0; asked < 3; asked++) {
    const head = await takeBytes(client, START_HEAD)
    const start = head && readStart(head)
    if (!start) throw strange()
    if (start.kind === 'gss') client.write('N')
    else if (start.kind === 'ssl') {
      if (client !== plain) throw strange()
      client.write('S')
      client = await encryptClient(['postgresql'])
    } else {
      const rest = await takeBytes(client, start.rest)
      if (rest === null) throw strange()
      return { client, kind: start.kind, bytes: Buffer.concat([head, rest]) }
    }
  }
  throw strange()
}

/** Connects to the server, with TLS if offered. */
async function reach({ dial, encryptHost, subject }: LoginCall): Promise<Socket> {
  const host = await dial(false)
  host.write(WANT_TLS)
  const said = (await takeBytes(host, 1))?.toString('latin1')
  if (said === 'N') return host
  // Bytes before TLS would count as the encrypted server's.
  if (said !== 'S' || host.readableLength > 0)
    throw new LoginRefused('upstream-protocol', `${subject} does not speak PostgreSQL`)
  return encryptHost(host)
}

interface LoginFacts {
  readonly user: string
  /** Nothing on the route can read along. */
  readonly isPrivate: boolean
  readonly subject: string
}

/** Authenticates to the server; true if the password was used. */
async function logIn(client: Duplex, server: Socket, login: Login, facts: LoginFacts): Promise<boolean> {
  let scram: Scram | null = null
  let proved = false
  let asked = false
  for (;;) {
    const { kind, whole, body } = await takeMessage(server, facts.subject)
    if (kind === 'E') {
      // The server's own message, and the end.
      client.write(login.scrubMessage(whole))
      throw new LoginRefused('upstream-protocol', `${facts.subject} refused the login`)
    }
    if (kind !== 'R') {
      client.write(login.scrubMessage(whole))
      continue
    }
    const wanted = readAuthentication(body)
    if (wanted.kind === 'nothing') {
      if (scram !== null && !proved)
        throw new LoginRefused('upstream-protocol', `${facts.subject} did not prove that it knows the password`)
      client.write(whole)
      return asked
    }
    if (!asked) await askClient(client, login, facts.subject)
    asked = true
    if (wanted.kind === 'scram' && scram === null) {
      scram = createScram(login.value)
      server.write(saslStart(scram.first))
    } else if (wanted.kind === 'scram-more' && scram !== null) {
      const answer = await scram.answer(wanted.said)
      if (answer === null) throw new LoginRefused('upstream-protocol', `${facts.subject} ended SCRAM early`)
      server.write(message('p', answer))
    } else if (wanted.kind === 'scram-end' && scram?.isProved(wanted.said)) proved = true
    else if (wanted.kind === 'password' || wanted.kind === 'md5') {
      if (!facts.isPrivate) {
        const text = `${facts.subject} wants the password itself or a hash of it, without TLS: only SCRAM is spoken there`
        throw new LoginRefused('secret-insecure', text)
      }
      server.write(message('p', `${wanted.kind === 'md5' ? md5(login.value, facts.user, wanted.salt) : login.value}\0`))
    } else throw new LoginRefused('upstream-protocol', `${facts.subject} wants a login that is not known here`)
  }
}

/** The client must send the placeholder: any other password is foreign. */
async function askClient(client: Duplex, { name, placeholder }: Login, subject: string): Promise<void> {
  client.write(ASK_PASSWORD)
  const { kind, body } = await takeMessage(client, subject)
  const said = body.toString('utf8').replace(/\0$/, '')
  if (kind === 'p' && said === placeholder) return
  throw new LoginRefused('secret-foreign', `the password for ${quote(subject)} is not the placeholder of ${name}`)
}

async function takeMessage(from: Duplex, subject: string): Promise<{ kind: string; whole: Buffer; body: Buffer }> {
  const head = await takeBytes(from, HEAD)
  const read = head && readHead(head)
  const body = read && (await takeBytes(from, read.rest))
  if (!head || !read || !body) throw new LoginRefused('upstream-protocol', `the login to ${subject} broke off`)
  return { kind: read.kind, whole: Buffer.concat([head, body]), body }
}

function md5(password: string, user: string, salt: Buffer): string {
  const hash = (...parts: (string | Buffer)[]) => {
    const digest = createHash('md5')
    for (const part of parts) digest.update(part)
    return digest.digest('hex')
  }
  return `md5${hash(hash(password, user), salt)}`
}

/** The most iterations accepted from a server; its default is 4,096. */
const MOST_ROUNDS = 1_000_000

interface Scram {
  readonly first: string
  /** The answer to the server's first message; null if invalid. */
  answer(serverFirst: string): Promise<string | null>
  /** Whether the server proved that it knows the password. */
  isProved(serverFinal: string): boolean
}

/** `user` stays empty if the server already has the name. */
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
