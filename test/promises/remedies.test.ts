/** Remedies that Cordon prints, each run as it is printed: afterwards the thing works. */

import { globSync, readFileSync, symlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { commandRow } from '../../src/surfaces/cli/start/commands.ts'
import type { Ran } from '../e2e/cordon.ts'
import { Person } from '../e2e/terminal/person.ts'
import { removeTree } from '../users.ts'
import { DRIVERS } from './drivers.ts'
import { Place, REAL } from './place.ts'
import { bash, type Call, type PromiseRow, type SurfaceName } from './promise.ts'

/** `cordon NAME`, and what follows of words and flags up to the command that it would run. */
const NAMED =
  /(?<=[`:(;]\s?|\b(?:run|say|with|see|and|then|that|by|or): ?)cordon ([a-z][a-z-]+)((?: (?!--[^a-z])[\w./:$-]+)*)/g

interface RemedyRow extends Pick<PromiseRow, 'files' | 'manifest' | 'served'> {
  readonly situation: string
  readonly atHome?: true
  /** What does not work, and prints the remedy. */
  readonly fails: (place: Place) => Promise<string>
  /** The remedy in what was printed, as a shell takes it. */
  readonly remedy: RegExp
  /** What a person writes for `…`, or adds. */
  readonly more?: string
  /** It asks at a terminal, and the person says yes. */
  readonly asks?: true
  /** How it ends; 0 without it. */
  readonly code?: number
  /** What it prints then. */
  readonly prints?: string | RegExp
  readonly works?: (place: Place) => Promise<boolean>
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

/** Runs it where a person sits, who says yes to what it asks. */
async function atTerminal({ home, root }: Place, line: string): Promise<Ran> {
  const person = new Person({ home, directory: root })
  try {
    await person.atPrompt()
    person.line(`${line}; echo "ended with $?"`)
    await person.sees('[y/N] ')
    person.keys('y\r')
    const out = await person.sees(/ended with \d+/)
    return { code: Number(/\d+$/.exec(out)![0]), out, err: '' }
  } finally {
    await person.leaves()
  }
}

const HELLO = {
  '$H/.config/cordon/tools/hello.json': JSON.stringify({ name: 'hello', description: 'Greets.', script: 'hello.sh' }),
  '$H/.config/cordon/tools/hello.sh': '#!/bin/sh\necho greetings\n',
}

const ASIDE = { files: { '$B/aside/x.txt': 'aside\n' } }
const link = (place: Place): string => {
  symlinkSync(place.path('$B/aside/x.txt'), place.path('$B/aside/link'))
  return place.path('$B/aside/link')
}
const fetches = (place: Place): Promise<string> =>
  runs(place, 'curl', '-sS', '-m', '5', place.fill('http://127.0.0.1:$PORT/'))
const UNGUARDED = {
  ...{ session_id: 's', hook_event_name: 'PreToolUse', permission_mode: 'bypassPermissions', tool_use_id: 'u' },
  ...{ tool_name: 'WebFetch', tool_input: { url: 'https://a.example.org/', prompt: 'x' } },
}
const hooked = async (place: Place, tool_name = 'WebFetch', tool_input: object = UNGUARDED.tool_input) => {
  const input = JSON.stringify({ ...UNGUARDED, tool_name, tool_input, cwd: place.root })
  return (await place.cordon(['hook', 'claude-code', '--root', place.root], input)).out
}
const CREATE = ['mcp__issues__create', { repo: 'acme/site' }] as const
const SECRET_FROM_KEYCHAIN = [{ name: 'TOKEN', source: 'keychain:api', hosts: ['127.0.0.1:$PORT'] }]

const ROWS: readonly RemedyRow[] = [
  {
    situation: 'a file outside, shown to one run',
    ...ASIDE,
    fails: (place) => runs(place, 'cat', place.path('$B/aside/x.txt')),
    remedy: /cordon run --read \S+ …/,
    more: '-- cat $B/aside/x.txt',
    prints: 'aside\n',
  },
  {
    situation: 'a link to a file outside, shown to one run',
    ...ASIDE,
    fails: (place) => runs(place, 'cat', link(place)),
    remedy: /cordon run --read \S+link …/,
    more: '-- cat $B/aside/link',
    prints: 'aside\n',
  },
  {
    situation: 'a link to a file outside, added',
    ...ASIDE,
    manifest: {},
    fails: async (place) => `cordon add read ${link(place)}`,
    remedy: /cordon add read \S+link/,
    asks: true,
    works: async (place) => (await runs(place, 'cat', place.path('$B/aside/link'))) === 'aside\n',
  },
  {
    situation: 'a folder outside, changed in one run',
    fails: (place) => runs(place, 'sh', '-c', 'mkdir -p ~/out && echo x > ~/out/f'),
    remedy: /mkdir -p \S+ && cordon run --write \S+ …/,
    more: "-- sh -c 'echo kept > ~/out/f'",
    works: async (place) => place.text('$H/out/f') === 'kept\n',
  },
  {
    situation: 'a program in a folder that is not shown',
    files: { '$H/tools/mine': '#!/bin/sh\necho mine ran\n' },
    fails: (place) => runs(place, place.path('$H/tools/mine')),
    remedy: /cordon run --read \S+ …/,
    more: '-- $H/tools/mine',
    prints: 'mine ran\n',
  },
  {
    situation: 'a command in one word',
    fails: (place) => runs(place, 'echo one | cat'),
    remedy: /cordon run -- sh -c .*/,
    prints: 'one\n',
  },
  {
    situation: 'a commit without a name',
    files: { '$H/.gitconfig': '[user]\nname = Ada\nemail = ada@example.com\n' },
    fails: async (place) => {
      await runs(place, 'git', 'init', '-q')
      return runs(place, 'git', 'commit', '-q', '--allow-empty', '-m', 'x')
    },
    remedy: /cordon run --tool git …/,
    more: '-- git commit -q --allow-empty -m x',
    works: async (place) => (await runs(place, 'git', 'log', '--format=%an')).includes('Ada'),
  },
  {
    situation: 'a server of this machine, in one run',
    served: 'pages',
    fails: fetches,
    remedy: /cordon run --allow-host 127\S+ …/,
    more: '-- curl -sS -m 5 http://127.0.0.1:$PORT/',
    prints: 'answered no one\n',
  },
  {
    situation: 'a server of this machine, added',
    served: 'pages',
    manifest: {},
    fails: fetches,
    remedy: /cordon add host 127[\d.:]+/,
    asks: true,
    works: async (place) => (await fetches(place)).includes('answered'),
  },
  {
    situation: 'a host that was stopped, without a manifest',
    fails: (place) => runs(place, 'curl', '-sS', '-m', '5', 'http://blocked.example/'),
    remedy: /cordon add host blocked\.example/,
    asks: true,
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
    remedy: /cordon add host blocked\.example/,
    asks: true,
    works: async (place) => !(await place.cordon(['status'])).out.includes('add host blocked.example'),
  },
  {
    situation: 'what status says of a host that was stopped on its own port',
    manifest: {},
    fails: async (place) => {
      await runs(place, 'curl', '-sS', '-m', '5', 'http://blocked.example:8080/')
      return (await place.cordon(['status'])).out
    },
    remedy: /cordon add host blocked\.example:8080/,
    asks: true,
    works: async (place) =>
      !(await runs(place, 'curl', '-sS', '-m', '5', 'http://blocked.example:8080/')).includes('to allow:'),
  },
  {
    situation: 'what status says of a project without a manifest',
    fails: async (place) => (await place.cordon(['status'])).out,
    remedy: /cordon init/,
    works: async (place) => place.text('cordon.toml') !== null,
  },
  {
    situation: 'a home that is meant as a project',
    atHome: true,
    fails: (place) => runs(place, 'true'),
    remedy: /cordon run --root \S+ -- true/,
    asks: true,
    works: async (place) => (await place.cordon(['run', '--', 'true'])).code === 0,
  },
  {
    situation: 'a manifest that is not signed',
    files: { 'cordon.toml': 'schema_version = 1\n[permission.tools]\nbash = "allow"\n' },
    fails: (place) => runs(place, 'true'),
    remedy: /cordon sign/,
    asks: true,
    works: async (place) => (await place.cordon(['run', '--', 'true'])).code === 0,
  },
  {
    situation: 'a tool that is not trusted',
    files: HELLO,
    manifest: { permission: { tools: { hello: 'allow' } } },
    fails: async (place) => (await place.cordon(['check', '--tool', 'hello', '--input', '{}'])).out,
    remedy: /cordon tools trust hello/,
    asks: true,
    works: async (place) => (await place.cordon(['check', '--tool', 'hello', '--input', '{}'])).code === 0,
  },
  {
    situation: 'a script of a skill that was not approved',
    files: {
      '.agents/skills/demo/SKILL.md': '---\nname: demo\ndescription: d\n---\nRun go.sh.\n',
      '.agents/skills/demo/go.sh': '#!/bin/sh\necho went\n',
    },
    manifest: { permission: { tools: { bash: 'allow' } } },
    fails: (place) => calls(place, 'session', './.agents/skills/demo/go.sh'),
    remedy: /cordon skills approve demo/,
    works: async (place) => (await calls(place, 'session', './.agents/skills/demo/go.sh')).startsWith('allow'),
  },
  {
    situation: 'a secret that is not stored',
    served: 'pages',
    files: { 'get.sh': '#!/bin/sh\ncurl -sS -m 5 -H "Authorization: Bearer $TOKEN" http://127.0.0.1:$1/\n' },
    manifest: {
      secrets: SECRET_FROM_KEYCHAIN,
      capabilities: { allow: { commands: { patterns: [{ command: './get.sh:*', domains: ['127.0.0.1:$PORT'] }] } } },
    },
    fails: (place) => runs(place, './get.sh', place.fill('$PORT')),
    remedy: /cordon secrets set api/,
    more: `<<< ${REAL}`,
    works: async (place) => (await runs(place, './get.sh', place.fill('$PORT'))).includes('answered the secret'),
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
    remedy: /cordon approvals allow \w+/,
    asks: true,
    works: async (place) => (await calls(place, 'session', 'make x')).startsWith('allow'),
  },
  {
    situation: 'a call of a host that cannot ask',
    manifest: { permission: { tools: { webfetch: 'ask' } } },
    fails: hooked,
    remedy: /cordon approvals allow \w+/,
    asks: true,
    works: async (place) => !(await hooked(place)).includes('deny'),
  },
  {
    situation: 'an undo that is redone, and again',
    files: { 'f.txt': 'here\n' },
    manifest: { permission: { mode: 'contained' } },
    fails: async (place) => {
      await runs(place, 'rm', 'f.txt')
      return (await place.cordon(['undo', '--last'])).out
    },
    remedy: /cordon undo --redo/,
    works: async (place) => place.text('f.txt') === null,
  },
  {
    situation: 'a manifest that does not load',
    files: { 'cordon.toml': 'schema_version = 1\n[permisson]\n' },
    fails: async (place) => (await place.cordon(['status'])).out,
    remedy: /cordon policy lint/,
    code: 2,
    prints: /did you mean permission/,
  },
  {
    situation: 'a manifest that is there already',
    manifest: {},
    fails: async (place) => (await place.cordon(['init'])).err,
    remedy: /cordon init --print/,
    prints: /mode = "contained"/,
  },
  {
    situation: 'a tool of a server that a hook asks about',
    manifest: {},
    fails: async (place) => JSON.parse(await hooked(place, ...CREATE)).hookSpecificOutput.permissionDecisionReason,
    remedy: /cordon add tool "[^"]+"/,
    asks: true,
    works: async (place) => !(await hooked(place, ...CREATE)).includes('"ask"'),
  },
  {
    situation: 'grants that were never used again',
    files: {
      '$H/.local/state/cordon/grants.json': JSON.stringify({
        version: 1,
        grants: [
          {
            ...{ id: 'gold', project: '/gone', kind: 'command', value: 'make x', verdict: 'allow', scope: 'project' },
            ...{ session: 's', created: 1, expires: null, uses: 0 },
          },
        ],
      }),
    },
    fails: async (place) => (await place.cordon(['grants'])).out,
    remedy: /cordon grants prune/,
    works: async (place) => !(await place.cordon(['grants'])).out.includes('make x'),
  },
  {
    situation: 'no key yet',
    files: { 'cordon.toml': 'schema_version = 1\n' },
    fails: async (place) => (await place.cordon(['keys'])).out,
    remedy: /cordon sign/,
    asks: true,
    works: async (place) => !(await place.cordon(['keys'])).out.includes('no key yet'),
  },
  {
    situation: 'a manifest that changed since it was signed',
    manifest: {},
    fails: async (place) => {
      place.write('cordon.toml', 'schema_version = 1\n[permission]\nmode = "auto"\n')
      return (await place.cordon(['status'])).out
    },
    remedy: /cordon sign/,
    asks: true,
    works: async (place) => !(await place.cordon(['status'])).out.includes('cordon sign'),
  },
  {
    situation: 'a hook that is not wanted any more',
    manifest: {},
    fails: async (place) => (await place.cordon(['install', 'claude-code', '--yes'])).out.replace(/\s+/g, ' '),
    remedy: /cordon install claude-code --uninstall/,
    more: '--yes',
    works: async (place) => !(place.text('$H/.claude/settings.json') ?? '').includes('hook claude-code'),
  },
  {
    situation: 'settings that became a manifest',
    files: { '$H/.claude/settings.json': '{"permissions":{"allow":["Bash(make x)"]}}' },
    fails: async (place) => {
      await place.cordon(['import', 'claude-code', '--out', 'cordon.toml'])
      return place.text('cordon.toml') ?? ''
    },
    remedy: /cordon sign/,
    asks: true,
    works: async (place) => (await place.cordon(['check', '--', 'make x'])).code === 0,
  },
  {
    situation: 'a signing key that is lost',
    manifest: {},
    fails: async (place) => {
      removeTree(place.path('$H/.local/state/cordon/keys/signing-key'))
      place.write('cordon.toml', 'schema_version = 1\n[permission]\nmode = "auto"\n')
      return (await place.cordon(['sign', '--yes'])).err
    },
    remedy: /cordon keys reset/,
    more: '--yes && cordon sign --yes',
    works: async (place) => (await place.cordon(['run', '--', 'true'])).code === 0,
  },
  {
    situation: 'more stopped hosts than a status shows',
    manifest: { permission: { tools: { bash: 'allow' } } },
    fails: async (place) => {
      await runs(place, 'sh', '-c', 'for n in 1 2 3 4 5 6 7; do curl -sS -m 3 http://h$n.example/; done')
      return (await place.cordon(['status'])).out
    },
    remedy: /cordon audit query --type end/,
    prints: /h1\.example/,
  },
]

it.each(ROWS)('$situation', async (row) => {
  const { files = {}, manifest, served, atHome, fails, remedy, more = '', asks, code: ends = 0, prints, works } = row
  const place = new Place({ files, ...(atHome && { atHome }) })
  try {
    expect(await place.prepare({ files, ...(manifest && { manifest }), ...(served && { served }) })).toEqual([])
    const said = await fails(place)
    const [found] = remedy.exec(said) ?? [null]
    expect(found, said).not.toBeNull()
    const line = place.fill(found!.endsWith('…') ? found!.replace('…', more) : `${found} ${more}`)
    const { code, out, err } = asks ? await atTerminal(place, line) : await place.shell(line)
    expect(code, `${found}: ${out}${err}`).toBe(ends)
    if (prints !== undefined) expect(out + (ends === 0 ? '' : err)).toMatch(prints)
    if (works) expect(await works(place), said).toBe(true)
  } finally {
    place.close()
  }
})

/** What a message names, that is run by another test than these. */
const RUN_BY: Readonly<Record<string, string>> = {
  'add port': 'test/e2e/add.test.ts',
  'approvals answer': 'test/e2e/look.test.ts',
  approvals: 'test/e2e/look.test.ts',
  'audit verify': 'test/e2e/trust.test.ts',
  bundles: 'test/e2e/terminal/small-things.test.ts',
  'agent run': 'test/components/agents.test.ts',
  'chat -p': 'test/e2e/chat/print.test.ts',
  'completions bash': 'test/e2e/json-schemas.ts',
  doctor: 'test/contract/hooks/process.test.ts',
  'doctor --fix': 'test/e2e/doctor-fix.test.ts',
  'doctor --json': 'test/contract/hooks/process.test.ts',
  explain: 'test/e2e/check.test.ts',
  'fleet machines': 'test/fleet/surfaces.test.ts',
  'grants revoke': 'test/e2e/look.test.ts',
  import: 'test/promises/person-cli.test.ts',
  keys: 'test/e2e/trust.test.ts',
  'keys trust': 'test/e2e/trust.test.ts',
  learn: 'test/e2e/learn.test.ts',
  'mcp add': 'test/e2e/mcp-catalogue.test.ts',
  'mcp wrap': 'test/contract/mcp/gateway-grants.test.ts',
  'mcp wrap --accept': 'test/contract/mcp/gateway-grants.test.ts',
  'policy replay': 'test/e2e/trust.test.ts',
  'policy show': 'test/e2e/check.test.ts',
  'run --port': 'test/e2e/add.test.ts',
  'sign --yes': 'test/e2e/look.test.ts',
  ui: 'test/e2e/page.test.ts',
  'undo --diff': 'test/e2e/undo.test.ts',
  'undo --last': 'test/e2e/undo.test.ts',
  'undo --list': 'test/e2e/undo.test.ts',
  verify: 'test/e2e/trust.test.ts',
}

type Manifest = NonNullable<PromiseRow['manifest']>
const NONE: Call = { tool: 'bash', input: { command: 'true' } }
const of = (tool: string, input: Call['input']): Call => ({ tool, input })

/** Remedies that are lines of the manifest: the call, what is said of it, and the manifest with what was said. */
it.each<
  [
    situation: string,
    surface: SurfaceName | 'unasked',
    call: Call,
    before: Manifest,
    says: RegExp,
    after: Manifest,
    files?: PromiseRow['files'],
  ]
>([
  [
    'a command that no grant covers',
    'page',
    of('bash', { command: 'touch n' }),
    {},
    /\[capabilities\.allow\.commands\] patterns/,
    { capabilities: { allow: { commands: { patterns: ['touch n'] } } } },
  ],
  [
    'a read that no grant covers',
    'page',
    of('read', { path: 'b/x' }),
    { capabilities: { allow: { read: { paths: ['a/**'] } } } },
    /\[capabilities\.allow\.read\] paths/,
    { capabilities: { allow: { read: { paths: ['a/**', 'b/**'] } } } },
    { 'b/x': 'x\n' },
  ],
  [
    'a write that no grant covers',
    'page',
    of('write', { path: 'n', content: 'n' }),
    { capabilities: { allow: { write: { paths: ['a/**'] } } } },
    /\[capabilities\.allow\.write\] paths/,
    { capabilities: { allow: { write: { paths: ['a/**', 'n'] } } } },
  ],
  [
    'a file outside',
    'acp',
    of('read', { path: '$B/aside/x' }),
    {},
    /\[capabilities\.allow\] additional_directories/,
    { capabilities: { allow: { additional_directories: ['$B/aside'] } } },
    { '$B/aside/x': 'x\n' },
  ],
  [
    'a protected path',
    'hook',
    of('write', { path: '.git/hooks/pre-commit', content: 'x' }),
    {},
    /this very path under \[capabilities\.allow\.write\]/,
    { capabilities: { allow: { write: { paths: ['.git/hooks/pre-commit'] } } } },
    { '.git/hooks/old': '' },
  ],
  [
    'a local server',
    'session',
    of('webfetch', { url: 'http://127.0.0.1:$PORT/' }),
    {},
    /\. .*\[http\] allow_private_hosts and list it/,
    { http: { allow_private_hosts: true, allowed_hosts: ['127.0.0.1:$PORT'] } },
  ],
  [
    'a host outside the list of the web tools',
    'page',
    of('webfetch', { url: 'https://b.example.org/' }),
    { http: { allowed_hosts: ['a.example.org'] } },
    /\[http\] allowed_hosts/,
    { http: { allowed_hosts: ['a.example.org', 'b.example.org'] } },
  ],
  [
    'a tool of a host',
    'unasked',
    of('Sketch', {}),
    {},
    /\[permission\.tools\] \\"Sketch\\" = \\"allow\\"/,
    { permission: { tools: { Sketch: 'allow' } } },
  ],
  [
    'a tool of a host that is called almost like one of Cordon',
    'unasked',
    of('Lists', {}),
    {},
    /\[tools\.\\"Lists\\"\] and \[permission\.tools\] \\"Lists\\" = \\"allow\\"/,
    { permission: { tools: { Lists: 'allow' } }, tools: { Lists: {} } },
  ],
  [
    'a tool behind the gateway',
    'gateway',
    of('mcp__s__echo', {}),
    {},
    /\[permission\.tools\] "mcp__s__echo" = "allow"/,
    { permission: { tools: { mcp__s__echo: 'allow' } } },
  ],
  [
    'the level of a tool',
    'session',
    NONE,
    { permission: { tools: { bash: 'deny' } } },
    /change its level at cordon\.toml:\d/,
    { permission: { tools: { bash: 'allow' } } },
  ],
  [
    'git without its files and hosts',
    'run',
    of('bash', { command: 'git ls-remote https://blocked.example.org/x' }),
    {},
    /Add "git" to command_tools under \[sandbox\.os\]/,
    { sandbox: { os: { command_tools: ['git'] } } },
  ],
])('%s: the manifest with what was said allows it', async (_, surface, call, before, says, after, files = {}) => {
  const place = new Place({ files })
  try {
    expect(await place.prepare({ manifest: before, served: 'pages' })).toEqual([])
    const said = await callOnce(place, surface, call)
    expect(said).toMatch(says)
    expect(await place.sign(after)).toEqual([])
    expect(await callOnce(place, surface, call)).not.toMatch(says)
    if (surface !== 'run') expect(await callOnce(place, surface, call)).toMatch(/^allow /)
  } finally {
    place.close()
  }
})

/** `unasked`: a hook whose host asks nobody. */
async function callOnce(place: Place, surface: SurfaceName | 'unasked', { tool, input }: Call): Promise<string> {
  if (surface === 'unasked') {
    const said = await hooked(place, tool, input)
    return `${said.includes('deny') ? 'deny' : 'allow'} ${said}`
  }
  const driver = await DRIVERS[surface](place)
  try {
    const { verdict, text, question } = await driver.call({ tool, input: place.fill(input) }, undefined)
    return `${verdict} ${text} ${question}`
  } finally {
    await driver.close()
  }
}

/** What is not run as it is printed, and why. */
const NOT_RUN: Readonly<Record<string, string>> = {
  fleet: 'It takes a team and its servers: test/fleet runs the functions behind it.',
  login: 'A key is typed for a provider that answers.',
  'mcp login': 'It opens a browser.',
  'chat --model': 'It names a model of a provider.',
  'review model': 'It asks a model of a provider.',
  acp: 'It shows how to write the command, and serves an editor: test/agents runs it.',
  'tools run': 'It shows how to write the command.',
  'sign --all': 'It prints the lines that a long difference left out.',
  'log --all': 'It prints the lines of other projects.',
  'install --uninstall.': 'The row of a hook runs it; this is the end of a sentence.',
}
/** Only help and the schema name these. */
const HELP: readonly string[] = ['check', 'hook', 'agent wit', 'completions', 'doctor --engines']

/** Every command that a message names: its words, and whether they exist. */
const NAMED_COMMANDS = globSync('src/**/*.ts', { exclude: (name) => /\.test\.ts$|generated/.test(name) }).flatMap(
  (path) => {
    const text = readFileSync(path, 'utf8').replace(/^\s*(?:\/\/|\/?\*).*$/gm, '')
    // Cordon itself, that asks.
    return [...text.matchAll(NAMED)].flatMap(([phrase, name, words = '']) =>
      name === 'asks' ? [] : [{ path, phrase, name: name!, words, row: commandRow(name!) }],
    )
  },
)

it('every command that a message names is there, with the words and flags that it names', () => {
  const unknown = NAMED_COMMANDS.flatMap(({ path, phrase, words, row }) => {
    if (!row) return [`${path}: ${phrase}`]
    const known = ['--help', row.usage, ...row.flags.map((flag) => flag.name)].join(' ')
    return (words.match(/--[a-z][a-z-]*/g) ?? [])
      .filter((flag) => !known.includes(flag))
      .map((flag) => `${path}: ${phrase} (${flag})`)
  })
  expect(unknown).toEqual([])
})

it('every command that a message names is run by a row here, or by the test that is named', () => {
  const sources = ROWS.map(({ remedy }) => remedy.source)
  const named = NAMED_COMMANDS.map(({ name, words, row }) => {
    const own = words.split(' ').filter((word) => /^--/.test(word) || row?.usage.includes(`cordon ${name} ${word}`))
    return [name, ...own.filter((word) => word !== '' && word !== '--help')].join(' ')
  })
  const isRun = (command: string): boolean => {
    if (command in NOT_RUN || command.split(' ')[0]! in NOT_RUN || HELP.includes(command)) return true
    const pattern = new RegExp(command.replaceAll(' ', '.*'))
    if (sources.some((source) => pattern.test(source))) return true
    const text = RUN_BY[command] ? readFileSync(RUN_BY[command], 'utf8') : ''
    return text !== '' && command.split(' ').every((word) => new RegExp(`['" ]${word}\\b`).test(text))
  }
  expect([...new Set(named)].filter((command) => !isRun(command))).toEqual([])
})

it.each(['/etc/shadow', '.env', '$H/.ssh/id_rsa'])('nothing offers the secret %s', async (secret) => {
  const place = new Place({ files: { '.env': 'A=1\n', '$H/.ssh/id_rsa': 'KEY\n' } })
  const path = place.fill(secret)
  try {
    const offers: string[] = [await runs(place, 'cat', path), (await place.cordon(['status'])).out]
    await place.sign({})
    offers.push(await runs(place, 'cat', path), (await place.cordon(['status'])).out)
    for (const surface of ['hook', 'mcp', 'session'] as const) offers.push(await calls(place, surface, `cat ${path}`))
    // The remedies of this table work, so only what is offered shows the mistake.
    expect(offers.join('\n')).not.toMatch(/cordon (?:add|run --)/)
  } finally {
    place.close()
  }
})

it('a denied host is not suggested for the list', async () => {
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
