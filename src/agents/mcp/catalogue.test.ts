/** Servers in the configurations of clients: each can be added and removed to the byte, and no other entry passes for Cordon's. */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Machine } from '../../system/machine.ts'
import { isBehindGateway, placedServers, placeServer, takeOut } from './catalogue.ts'
import { clientFile, MCP_CLIENTS, readEntry, serverNames } from './clients.ts'

let base: string
let machine: Machine
const SERVER = { command: ['cordon', 'mcp', 'wrap', '--plain', '--name', 'x'], env: { TOKEN: 'abc' } }

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-clients-'))
  machine = { home: join(base, 'home'), stateDir: join(base, 'state'), env: {} } as unknown as Machine
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

/** What people have in such files: comments, other servers, odd indentation, no last line end. */
const CONTENTS: Readonly<Record<string, (table: string) => string | null>> = {
  'no file': () => null,
  'an empty object': () => '{}',
  'other settings': (table) => `{\r\n\t"theme": "dark",\r\n\t"${table}": { "other": {"command":"x"} }\r\n}`,
  comments: (table) => `{\n  // mine\n  "${table}": {\n    "other": { "command": "x" } // last\n  }\n}\n`,
}
const TOMLS: Readonly<Record<string, string | null>> = {
  'no file': null,
  'other settings':
    'model = "m"\n\n[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nA = "b"\n\n[tui]\nx = 1',
}

describe.each(MCP_CLIENTS.map((client) => [client.name, client] as const))('%s', (_, client) => {
  const contents =
    client.form === 'toml'
      ? Object.entries(TOMLS)
      : Object.entries(CONTENTS).map(([note, of]) => [note, of(client.table)] as const)
  const scope = client.project === null ? ('user' as const) : ('project' as const)
  const sequences = [
    ['notes', 'more', 'last'],
    ['last', 'notes', 'more'],
  ]

  it.each(contents.flatMap(([note, before]) => sequences.map((order) => ({ note, before, order }))))(
    'takes three servers and gives them back: $note, $order',
    ({ before, order }) => {
      const file = clientFile(client, scope, { ...machine, root: base })!
      if (before !== null) {
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, before)
      }
      const found = readdirSync(base, { recursive: true })
      for (const server of ['notes', 'more', 'last'])
        placeServer(machine, client, { scope, root: base, name: server }, SERVER)
      const written = readFileSync(file, 'utf8')
      expect(serverNames(client, written)).toEqual(expect.arrayContaining(order))
      expect(readEntry(client, written, 'more')).toMatchObject(SERVER)
      for (const server of order) takeOut(machine, placedServers(machine).find((one) => one.server === server)!)
      expect(existsSync(file) ? readFileSync(file, 'utf8') : null).toBe(before)
      const left = readdirSync(base, { recursive: true }).filter((name) => !String(name).startsWith('state'))
      expect(left.toSorted()).toEqual(found.toSorted())
    },
  )
})

describe('whether a client’s server is behind the gateway', () => {
  const client = MCP_CLIENTS.find(({ name }) => name === 'claude-code')!
  const isBehind = () => isBehindGateway(machine, 'claude-code', base, 'notes')
  const own = () => join(machine.home, '.claude.json')

  beforeEach(() => {
    mkdirSync(machine.home)
    placeServer(machine, client, { scope: 'user', root: base, name: 'notes' }, SERVER)
  })

  it('is so where Cordon put it there', () => expect(isBehind()).toBe(true))

  it('attack: the repository brings a server of the same name', () => {
    writeFileSync(join(base, '.mcp.json'), '{"mcpServers":{"notes":{"command":"evil"}}}')
    expect(isBehind()).toBe(false)
  })

  it('attack: the entry was changed', () => {
    writeFileSync(own(), readFileSync(own(), 'utf8').replace('"cordon"', '"evil"'))
    expect(isBehind()).toBe(false)
  })

  it('attack: a server of the project in the person’s file comes first', () => {
    const text = JSON.parse(readFileSync(own(), 'utf8'))
    writeFileSync(
      own(),
      JSON.stringify({ ...text, projects: { [base]: { mcpServers: { notes: { command: 'evil' } } } } }),
    )
    expect(isBehind()).toBe(false)
  })

  it('is not for a client that Cordon does not know', () =>
    expect(isBehindGateway(machine, 'other', base, 'notes')).toBe(false))
})
