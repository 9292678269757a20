/** Secrets that are a part of a variable or of a credentials file: the command sees the rest, the host gets the whole. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { readSecret } from '../../../src/run/network/brokered-secret.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'
import { createWorld, type World } from './world.ts'

const HOST = 'api.example.org'
const PASSWORD = 'p@ss/word-of-ada'
let session: SessionWorld
let internet: World

beforeEach(async () => {
  session = openSessionWorld()
  internet = createWorld()
  await internet.serveHttps((message, response) => {
    const [, encoded = ''] = (message.headers.authorization ?? '').split(' ')
    const login = Buffer.from(encoded, 'base64').toString('latin1')
    const right = [`ada:${PASSWORD}`, PASSWORD].some((value) => login === value || encoded === value)
    response.end(right ? 'the right login' : 'another login')
  })
})
afterEach(async () => {
  await session.close()
  await internet.close()
})

async function inside(command: string, secret: object, env: Record<string, string> = {}): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    security: { command_substitution: true },
    capabilities: { allow: { commands: { default_domains: [HOST] } } },
    secrets: [{ hosts: [HOST], ...secret }],
  }
  const machine = { ...session.machine, env: { ...session.machine.env, ...env } }
  const { resolver, upstream } = internet
  const cordon = await session.open({ manifest: { object }, machine, resolver, upstream })
  return resultText(await cordon.openSession().call('bash', { command }))
}

it('of a URL only the password stays outside, and the host gets it', async () => {
  const written = `https://ada:${encodeURIComponent(PASSWORD)}@${HOST}/db?mode=ro`
  const secret = { name: 'SERVICE_URL', source: 'env:SERVICE_URL', part: 'password' }
  const text = await inside('echo "$SERVICE_URL"; curl -sS -m 60 "$SERVICE_URL"', secret, { SERVICE_URL: written })
  expect(text).toMatch(/https:\/\/ada:cordon_service_url_\w+@api\.example\.org\/db\?mode=ro/)
  expect(text).toContain('the right login')
  expect(text).not.toContain('word-of-ada')
})

it('a credentials file is there with a placeholder instead of the token, and the variable names it', async () => {
  const file = join(session.machine.home, 'credentials')
  writeFileSync(file, `registry = "https://${HOST}/"\ntoken = "${PASSWORD}"\nagain = ${PASSWORD}\n`)
  const secret = { name: 'TOOL_CONFIG', source: `file:${file}`, after: 'token = "', as: 'file' }
  const use = `token=$(sed -n 's/^token = "\\(.*\\)"$/\\1/p' "$TOOL_CONFIG")`
  const text = await inside(
    `cat "$TOOL_CONFIG"; ${use}; curl -sS -m 60 -H "Authorization: Bearer $token" https://${HOST}/`,
    secret,
  )
  expect(text).toContain(`registry = "https://${HOST}/"`)
  expect(text).toMatch(/token = "cordon_tool_config_\w+"\nagain = cordon_tool_config_\w+/)
  expect(text).toContain('the right login')
  expect(text).not.toContain('word-of-ada')
})

describe('what is not at the source is a fault', () => {
  const setting = { name: 'X', source: { kind: 'env', name: 'X' }, hosts: [], header: 'authorization' } as const
  it.each([
    ['no URL', { part: 'password' as const }, 'just text'],
    ['a URL without a password', { part: 'password' as const }, 'https://ada@example.org/'],
    ['broken encoding', { part: 'password' as const }, 'https://ada:%zz@example.org/'],
    ['no such text', { after: 'token=' }, 'nothing here'],
    ['nothing after it', { after: 'token=' }, 'token= x'],
  ])('%s', (_, more, X) => {
    expect(() => readSecret({ ...setting, ...more }, { ...session.machine, env: { X } })).toThrow(/the secret X/)
  })
})
