/** Further authorities, and TLS that is passed on: what a manifest says about certificates, as a command inside meets it. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { createUpstream, readAuthorities } from '../../../src/egress/route/upstream.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'
import { createWorld, type World } from './world.ts'

const HOST = 'api.example.org'
let session: SessionWorld
let internet: World

beforeEach(async () => {
  session = openSessionWorld()
  internet = createWorld()
  await internet.serveHttps((_, response) => response.end('reached the host'))
})
afterEach(async () => {
  await session.close()
  await internet.close()
})

async function inside(command: string, domain: unknown): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    capabilities: { allow: { commands: { default_domains: [domain] } } },
  }
  const { resolver, upstream } = internet
  const cordon = await session.open({ manifest: { object }, resolver, upstream })
  return resultText(await cordon.openSession().call('bash', { command }))
}

const issuer = `curl -sv -m 60 https://${HOST}/ 2>&1 | grep -E 'issuer|reached'`

it('a host with tls = "pass" is met with its own certificate, and any other with the session’s', async () => {
  expect(await inside(issuer, { host: HOST, tls: 'pass' })).toMatch(/issuer:.*Test internet[\s\S]*reached the host/)
  const opened = await inside(issuer, HOST)
  expect(opened).toMatch(/reached the host/)
  expect(opened).not.toContain('Test internet')
})

it('another name does not pass through it', async () => {
  const text = await inside(
    `curl -sS -m 60 -k --noproxy "*" --connect-to evil.example.com:443:${HOST}:443 https://evil.example.com/`,
    { host: HOST, tls: 'pass' },
  )
  expect(text).not.toContain('reached')
  expect(text).toContain('name-mismatch')
})

it('a narrowed entry is read all the same: methods cannot be enforced unread', async () => {
  const text = await inside(issuer, { host: HOST, tls: 'pass', methods: ['GET'] })
  expect(text).not.toContain('Test internet')
})

it('authorities of a file are trusted beside the machine’s, and a file without any is a fault', () => {
  const file = join(session.base, 'ca.pem')
  writeFileSync(file, internet.authority.pem)
  expect(createUpstream({ roots: '', trust: readAuthorities([file]) }).roots).toContain(internet.authority.pem.trim())
  writeFileSync(file, 'nothing')
  expect(() => readAuthorities([file])).toThrow(/contains no certificate/)
  expect(() => readAuthorities([join(session.base, 'absent')])).toThrow(/cannot be read/)
})
