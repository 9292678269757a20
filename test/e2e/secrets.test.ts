/** Secrets of the manifest, end to end: the command has a placeholder, the granted host gets the value where the manifest says. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultText } from '../../src/call/tool-result.ts'
import { createWorld, type World } from '../contract/egress/world.ts'
import { openSessionWorld, type SessionWorld } from '../contract/session/session-world.ts'

const VALUE = 'AIzaRealValueOfTheKey0123456789'
const HOST = 'api.example.org'

let space: SessionWorld
let internet: World
let seen: { url: string; headers: Record<string, string | string[] | undefined> }[]

beforeEach(async () => {
  space = openSessionWorld()
  internet = createWorld()
  seen = []
  await internet.serveHttps((message, response) => {
    seen.push({ url: message.url!, headers: message.headers })
    response.end(`you asked for ${message.url} with ${message.headers['x-api-key']}`)
  })
})
afterEach(async () => {
  await space.close()
  await internet.close()
})

/** Runs a command in a project whose manifest has one secret. */
async function bash(secret: string, command: string): Promise<string> {
  await space.sign(
    [
      'schema_version = 1',
      '[permission]\nmode = "auto"',
      `[capabilities.allow.commands]\ndefault_domains = ["${HOST}", "other.example.org"]`,
      `[[secrets]]\nname = "API_KEY"\nsource = "env:OUTSIDE_KEY"\nhosts = ["${HOST}"]\n${secret}`,
    ].join('\n'),
  )
  const machine = { ...space.machine, env: { ...space.machine.env, OUTSIDE_KEY: VALUE } }
  const { resolver, upstream } = internet
  const session = (await space.open({ machine, resolver, upstream })).openSession()
  return resultText(await session.call('bash', { command }))
}

const QUERY = `curl -sS "https://${HOST}/v1?a=1&key=$API_KEY"`
const HEADER = `curl -sS -H "X-Api-Key: $API_KEY" https://${HOST}/v1`

describe('a secret', () => {
  it('goes into the query parameter that the manifest names, and nowhere else', async () => {
    const text = await bash('query = "key"', `${QUERY}; echo; echo "inside: $API_KEY"; ${HEADER}`)
    expect(seen.map(({ url }) => url)).toEqual([`/v1?a=1&key=${VALUE}`])
    expect(text).toMatch(/inside: cordon_api_key_[0-9a-f]{40}/)
    expect(text).toContain('secret-misplaced')
    expect(text).not.toContain(VALUE)
  })

  it('goes into the header that the manifest names, and not into the query', async () => {
    const text = await bash('header = "x-api-key"', `${HEADER}; echo; ${QUERY}`)
    expect(seen.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([['/v1', VALUE]])
    expect(text).toContain('secret-misplaced')
    expect(text).not.toContain(VALUE)
  })

  it('goes into both where the manifest names both', async () => {
    const text = await bash('header = "x-api-key"\nquery = "key"', `${HEADER}; ${QUERY}`)
    expect(seen.map(({ url, headers }) => [url, headers['x-api-key']])).toEqual([
      ['/v1', VALUE],
      [`/v1?a=1&key=${VALUE}`, undefined],
    ])
    expect(text).not.toContain(VALUE)
  })

  it('does not go to a host that it was not granted to', async () => {
    const text = await bash('query = "key"', QUERY.replace(HOST, 'other.example.org'))
    expect(seen).toEqual([])
    expect(text).toContain('secret-elsewhere')
  })

  it('is not in the record', async () => {
    await bash('query = "key"', QUERY)
    const lines = space.auditLines()
    expect(lines).toContainEqual(expect.objectContaining({ type: 'end', hosts: [HOST] }))
    expect(JSON.stringify(lines)).not.toContain(VALUE)
  })
})
