/** Which keys of the person a bundle brokers: those of the command's own bundle, when they are set, and nothing else. */

import { expect, it } from 'vitest'
import { loadPolicy } from '../project/load/load.ts'
import { machineFiles } from '../system/files.ts'
import { type Machine, thisMachine } from '../system/machine.ts'
import { confine } from './confinement.ts'

const machine: Machine = { ...thisMachine(), env: { ANTHROPIC_API_KEY: 'sk-real', OPENAI_API_KEY: '' } }

async function brokered(
  manifest: object,
  command: readonly string[],
  at: Machine = machine,
): Promise<readonly string[]> {
  const object = { schema_version: 1, ...manifest }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: '/', choice: { kind: 'object', object } })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const keys = { kind: 'keys', env: at.env } as const
  return confine(outcome.loaded, { command: { words: command }, cwd: '/' }, [keys]).network.secrets.map(
    ({ name, header, hosts, exclusive }) =>
      `${name} ${header} ${hosts.map(({ pattern }) => pattern.host).join(',')}${exclusive ? ' alone' : ''}`,
  )
}

const tools = (...command_tools: unknown[]): object => ({ sandbox: { os: { command_tools } } })
const KEY = 'ANTHROPIC_API_KEY x-api-key api.anthropic.com alone'

it.each([
  ['the agent’s own key', tools('claude-code'), ['claude', '-p', 'go'], [KEY]],
  ['a key that two bundles name, once', tools('claude-code', 'opencode'), ['opencode'], [KEY]],
  ['not for another program', tools('claude-code'), ['curl', 'https://api.anthropic.com'], []],
  ['not for a shell that starts it', tools('claude-code'), ['sh', '-c', 'claude'], []],
  ['not for a file of that name', tools('claude-code'), ['./claude'], []],
  ['not a key that is empty', tools('codex'), ['codex'], []],
  ['not without the bundle’s hosts', tools({ tool: 'claude-code', default_domains: false }), ['claude'], []],
  ['not without fetching', tools({ tool: 'claude-code', fetch: false }), ['claude'], []],
  ['not without the bundle', {}, ['claude'], []],
])('%s', async (_, manifest, command, expected) => {
  expect(await brokered(manifest, command)).toEqual(expected)
})

it('leaves the manifest’s own entry of that name, and lets no other credential to its hosts', async () => {
  const secrets = [{ name: 'ANTHROPIC_API_KEY', source: 'env:X', hosts: ['gateway.example.com'] }]
  expect(await brokered({ ...tools('claude-code'), secrets }, ['claude'])).toEqual([
    'ANTHROPIC_API_KEY authorization gateway.example.com alone',
  ])
  expect(await brokered({ ...tools('claude-code'), secrets }, ['curl'])).toEqual([
    'ANTHROPIC_API_KEY authorization gateway.example.com',
  ])
})

it('a bundle’s key without a host goes nowhere by itself, and brings its headers to the entry that names one', async () => {
  const own = { ...machine, env: { COPILOT_PROVIDER_API_KEY: 'sk-real' } }
  const secrets = [{ name: 'COPILOT_PROVIDER_API_KEY', source: 'env:X', hosts: ['gateway.example.com'] }]
  expect(await brokered(tools('copilot'), ['copilot'], own)).toEqual([])
  expect(await brokered({ ...tools('copilot'), secrets }, ['copilot'], own)).toEqual([
    'COPILOT_PROVIDER_API_KEY authorization gateway.example.com alone',
  ])
})

it.each([
  ['with its key the host is open', tools('claude-code'), ['claude'], ['api.anthropic.com', 'platform.claude.com'], []],
  ['without any of its keys it is closed', tools('codex'), ['codex'], [], ['api.openai.com']],
  [
    'a host that takes no key stays open',
    tools('opencode'),
    ['opencode'],
    ['models.dev', 'api.anthropic.com'],
    undefined,
  ],
  [
    'a key of the manifest opens it too',
    { ...tools('codex'), secrets: [{ name: 'OPENAI_API_KEY', source: 'env:X', hosts: ['api.openai.com'] }] },
    ['codex'],
    ['api.openai.com'],
    [],
  ],
])('hosts: %s', async (_, manifest, command, open, closed) => {
  const object = { schema_version: 1, ...manifest }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: '/', choice: { kind: 'object', object } })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const keys = { kind: 'keys', env: machine.env } as const
  const { rules } = confine(outcome.loaded, { command: { words: command }, cwd: '/' }, [keys]).network
  const { allowed, keyless = [] } = rules
  expect(allowed?.map(({ pattern }) => pattern.host)).toEqual(open)
  if (closed) expect(keyless.map(({ host }) => host)).toEqual(closed)
})

it('what an agent asks for at its start is open for that alone, and its updates are declined', async () => {
  const object = { schema_version: 1, ...tools('claude-code', 'codex') }
  const outcome = await loadPolicy({ machine, files: machineFiles, root: '/', choice: { kind: 'object', object } })
  if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
  const keys = { kind: 'keys', env: machine.env } as const
  const rulesOf = (word: string) =>
    confine(outcome.loaded, { command: { words: [word] }, cwd: '/' }, [keys]).network.rules
  const check = rulesOf('claude').allowed?.find(({ pattern }) => pattern.host === 'platform.claude.com')
  expect(check).toMatchObject({ methods: ['GET'], paths: ['/v1/oauth/hello'] })
  expect([...(rulesOf('claude').declined?.keys() ?? [])]).toContain('downloads.claude.ai')
  expect([...(rulesOf('codex').declined?.keys() ?? [])]).toContain('ab.chatgpt.com')
  expect(rulesOf('curl').declined).toBeUndefined()
  expect(rulesOf('curl').allowed).toEqual([])
})
