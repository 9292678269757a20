/** Logins to hostile servers: the password is not sent, and the client not let through. */

import { createHash, createHmac, pbkdf2Sync } from 'node:crypto'
import type { Socket } from 'node:net'
import { type Duplex, duplexPair } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { type LoginCall, takeBytes } from './login-wire.ts'
import { postgres } from './postgres.ts'
import { message } from './postgres-messages.ts'

const VALUE = 'the-real-password'
const START = Buffer.concat([Buffer.from([0, 0, 0, 18, 0, 3, 0, 0]), Buffer.from('user\0ada\0\0')])

/** A test server: answers each message until `serve` returns. */
async function logIn(serve: (take: () => Promise<string>, host: Duplex) => Promise<void>, isPrivate = true) {
  const [client, inside] = duplexPair()
  const [host, server] = duplexPair()
  let seen = ''
  const take = async (head = 5) => {
    const start = await takeBytes(server, head)
    const rest = start && (await takeBytes(server, start.readUInt32BE(head - 5 + 1) - 4))
    seen += `${start}${rest}`
    return String(rest)
  }
  const call: LoginCall = {
    client: inside as Socket,
    login: {
      name: 'KEY',
      protocol: 'postgres',
      placeholder: 'placeholder',
      value: VALUE,
      scrub: () => null as never,
      scrubMessage: (bytes) => bytes,
    },
    subject: 'db.example.org:5432',
    encryptClient: async () => inside,
    dial: async () => host as Socket,
    encryptHost: async () => host as Socket,
    isPrivate: () => isPrivate,
  }
  client.write(START)
  client.once('data', () => client.write(message('p', 'placeholder\0')))
  const served = (async () => {
    await takeBytes(server, 8)
    server.write('N')
    await takeBytes(server, START.length)
    await serve(take, server)
  })()
  try {
    const created = await postgres.logIn(call)
    await served
    return { made: created?.used(), seen }
  } catch (error) {
    return { problem: String(error), seen }
  } finally {
    for (const end of [client, inside, host, server]) end.destroy()
  }
}

const wants = (code: number, text: string | Buffer = '') =>
  message('R', Buffer.concat([Buffer.from([0, 0, 0, code]), Buffer.from(text)]))
const SASL = wants(10, 'SCRAM-SHA-256\0\0')
const OK = wants(0)
const nonceOf = (text: string) => /r=(.*)$/.exec(text)![1]!

describe('a server', () => {
  it('that knows the password is logged in to', async () => {
    const salt = Buffer.from('salt')
    const { made: created, seen } = await logIn(async (take, host) => {
      host.write(SASL)
      const first = await take()
      const bare = first.slice(first.indexOf('n=,'))
      const serverFirst = `r=${nonceOf(first)}more,s=${salt.toString('base64')},i=4096`
      host.write(wants(11, serverFirst))
      const final = await take()
      const key = createHmac('sha256', pbkdf2Sync(VALUE, salt, 4096, 32, 'sha256'))
        .update('Server Key')
        .digest()
      const said = `${bare},${serverFirst},${final.replace(/,p=.*$/, '')}`
      host.write(wants(12, `v=${createHmac('sha256', key).update(said).digest('base64')}`))
      host.write(OK)
    })
    expect(created).toBe(true)
    expect(seen).not.toContain(VALUE)
  })

  it('that says yes without a proof is not trusted', async () => {
    const { problem } = await logIn(async (take, host) => {
      host.write(SASL)
      host.write(wants(11, `r=${nonceOf(await take())}more,s=c2FsdA==,i=4096`))
      await take()
      host.write(OK)
    })
    expect(problem).toContain('did not prove')
  })

  it('that proves another password is not trusted', async () => {
    const { problem } = await logIn(async (take, host) => {
      host.write(SASL)
      host.write(wants(11, `r=${nonceOf(await take())}more,s=c2FsdA==,i=4096`))
      await take()
      host.write(wants(12, `v=${createHash('sha256').update('x').digest('base64')}`))
    })
    expect(problem).toContain('not known here')
  })

  it.each([
    ['the password', wants(3)],
    ['a hash of it', wants(5, 'salt')],
  ])('that wants %s where others can read along does not get it', async (_, wanted) => {
    const { problem, seen } = await logIn(async (_take, host) => void host.write(wanted), false)
    expect(problem).toContain('only SCRAM')
    expect(seen).toBe('')
  })

  it('that wants the password after SCRAM has begun is asked nothing more', async () => {
    const { problem, seen } = await logIn(async (take, host) => {
      host.write(SASL)
      await take()
      host.write(wants(7))
    })
    expect(problem).toContain('not known here')
    expect(seen).not.toContain(VALUE)
  })

  it('that needs none is let through', async () => {
    expect(await logIn(async (_, host) => void host.write(OK))).toMatchObject({ made: false })
  })

  it('whose words have no end is left', async () => {
    const { problem } = await logIn(async (_, host) => void host.write(Buffer.from('R\xff\xff\xff\xff', 'latin1')))
    expect(problem).toContain('broke off')
  })
})
