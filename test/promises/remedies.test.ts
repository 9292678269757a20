/** Remedies that Cordon prints, each run as it is printed: afterwards the thing works. */

import { symlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { DRIVERS } from './drivers.ts'
import { Place } from './place.ts'
import { bash, type PromiseRow, type SurfaceName } from './promise.ts'

interface RemedyRow extends Pick<PromiseRow, 'files' | 'manifest'> {
  readonly situation: string
  /** What does not work, and prints the remedy. */
  readonly fails: (place: Place) => Promise<string>
  /** The remedy in what was printed: the words behind `cordon`. */
  readonly remedy: RegExp
  /** Words that a person adds where no one can be asked. */
  readonly more?: readonly string[]
  readonly works: (place: Place) => Promise<boolean>
}

const runs = async (place: Place, ...argv: readonly string[]): Promise<string> => {
  const { out, err } = await place.cordon(['run', '--', ...argv])
  return out + err
}

const calls = async (place: Place, surface: SurfaceName, command: string): Promise<string> => {
  const driver = await DRIVERS[surface](place)
  try {
    const { text, verdict, question } = await driver.call(bash(command), undefined)
    return `${verdict} ${text} ${question}`
  } finally {
    await driver.close()
  }
}

const HELLO = {
  '$H/.config/cordon/tools/hello.json': JSON.stringify({ name: 'hello', description: 'Greets.', script: 'hello.sh' }),
  '$H/.config/cordon/tools/hello.sh': '#!/bin/sh\necho greetings\n',
}

const ROWS: readonly RemedyRow[] = [
  {
    situation: 'a file outside, shown to one run',
    files: { '$B/aside/x.txt': 'aside\n' },
    fails: (place) => runs(place, 'cat', place.path('$B/aside/x.txt')),
    remedy: /cordon (run --read \S+) …/,
    more: ['--', 'cat', '$B/aside/x.txt'],
    works: async () => true,
  },
  {
    situation: 'a link to a file outside, shown to one run',
    files: { '$B/aside/x.txt': 'aside\n' },
    fails: (place) => {
      symlinkSync(place.path('$B/aside/x.txt'), place.path('$B/aside/link'))
      return runs(place, 'cat', place.path('$B/aside/link'))
    },
    remedy: /cordon (run --read \S+link) …/,
    more: ['--', 'cat', '$B/aside/link'],
    works: async () => true,
  },
  {
    situation: 'a link to a file outside, added',
    files: { '$B/aside/x.txt': 'aside\n' },
    manifest: {},
    fails: async (place) => {
      symlinkSync(place.path('$B/aside/x.txt'), place.path('$B/aside/link'))
      return `cordon add read ${place.path('$B/aside/link')}`
    },
    remedy: /cordon (add read \S+link)/,
    more: ['--yes'],
    works: async (place) => (await runs(place, 'cat', place.path('$B/aside/link'))) === 'aside\n',
  },
  {
    situation: 'a host that was stopped, without a manifest',
    files: {},
    fails: (place) => runs(place, 'curl', '-sS', '-m', '5', 'http://blocked.example/'),
    remedy: /cordon (add host blocked\.example)/,
    more: ['--yes'],
    works: async (place) =>
      !(await runs(place, 'curl', '-sS', '-m', '5', 'http://blocked.example/')).includes('to allow:'),
  },
  {
    situation: 'what status says of a stopped host',
    manifest: {},
    fails: async (place) => {
      await runs(place, 'curl', '-sS', '-m', '5', 'http://blocked.example/')
      return (await place.cordon(['status'])).out
    },
    remedy: /cordon (add host blocked\.example)/,
    more: ['--yes'],
    works: async (place) => !(await place.cordon(['status'])).out.includes('add host blocked.example'),
  },
  {
    situation: 'a manifest that is not signed',
    files: { 'cordon.toml': 'schema_version = 1\n[permission.tools]\nbash = "allow"\n' },
    fails: (place) => runs(place, 'true'),
    remedy: /cordon (sign)/,
    more: ['--yes'],
    works: async (place) => (await place.cordon(['run', '--', 'true'])).code === 0,
  },
  {
    situation: 'a tool that is not trusted',
    files: HELLO,
    manifest: { permission: { tools: { hello: 'allow' } } },
    fails: async (place) => (await place.cordon(['check', '--tool', 'hello', '--input', '{}'])).out,
    remedy: /cordon (tools trust hello)/,
    more: ['--yes'],
    works: async (place) => (await place.cordon(['check', '--tool', 'hello', '--input', '{}'])).code === 0,
  },
  {
    situation: 'a call of an MCP client that cannot ask',
    manifest: {},
    fails: async (place) => {
      const message = { jsonrpc: '2.0', id: 2, method: 'tools/call' }
      const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '0' } }
      const first = { jsonrpc: '2.0', id: 1, method: 'initialize', params }
      const second = { ...message, params: { name: 'bash', arguments: { command: 'make x' } } }
      return (await place.cordon(['mcp'], `${JSON.stringify(first)}\n${JSON.stringify(second)}\n`)).out
    },
    remedy: /cordon (approvals allow \w+)/,
    more: ['--yes'],
    works: async (place) => (await calls(place, 'session', 'make x')).startsWith('allow'),
  },
]

it.each(ROWS)('$situation', async ({ files = {}, manifest, fails, remedy, more = [], works }) => {
  const place = new Place({ files })
  try {
    if (manifest) expect(await place.sign(manifest)).toEqual([])
    const said = await fails(place)
    const found = remedy.exec(said)
    expect(found, said).not.toBeNull()
    const { code, out, err } = await place.cordon([...found![1]!.split(' '), ...place.fill(more)])
    expect(code, `cordon ${found![1]}: ${out}${err}`).toBe(0)
    expect(await works(place), said).toBe(true)
  } finally {
    place.close()
  }
})

it('status offers no secret of the machine', async () => {
  const place = new Place({})
  try {
    await place.sign({})
    await runs(place, 'cat', '/etc/shadow')
    expect((await place.cordon(['status'])).out).not.toContain('add read /etc/shadow')
  } finally {
    place.close()
  }
})

it('a denied host is not told to be listed', async () => {
  const place = new Place({})
  try {
    await place.sign({ security: { deny_domains: ['bad.example.com'] }, http: { allowed_hosts: ['ok.example.org'] } })
    const words = ['check', '--tool', 'webfetch', '--input', '{"url":"http://bad.example.com/"}']
    expect((await place.cordon(words)).out).not.toContain('allowed_hosts')
  } finally {
    place.close()
  }
})

it('a link opens no secret by another name', async () => {
  const place = new Place({ files: { '$B/aside/.env': 'A=1\n' } })
  try {
    await place.sign({})
    symlinkSync(place.path('$B/aside/.env'), place.path('$B/aside/plain'))
    const link = place.path('$B/aside/plain')
    for (const words of [
      ['run', '--read', link, '--', 'cat', link],
      ['add', 'read', link, '--yes'],
    ]) {
      const { code, out } = await place.cordon(words)
      expect(code).not.toBe(0)
      expect(out).not.toContain('A=1')
    }
  } finally {
    place.close()
  }
})
