/** Keys whose subject has its own tests elsewhere: the value really arrives, and changes what happens. */

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { manifestServers, serverNarrowing } from '../../../src/agents/mcp/servers.ts'
import { askView } from '../../../src/approval/ask-view.ts'
import { resultText } from '../../../src/call/tool-result.ts'
import { entryOf, hashOf } from '../../../src/chat/component/component.ts'
import { confine } from '../../../src/confine/confinement.ts'
import { openCustomTools } from '../../../src/custom/tools.ts'
import { toolRows, trustTool } from '../../../src/custom/trust.ts'
import { isPassedThrough } from '../../../src/egress/route/rules.ts'
import { parseAuthority, type Target } from '../../../src/egress/wire/target.ts'
import { type LoadedManifest, loadPolicy } from '../../../src/project/load/load.ts'
import { postAsk } from '../../../src/questions/waiting.ts'
import { noticeSettings } from '../../../src/surfaces/cli/commands/agents/ui.ts'
import { terminalConsent } from '../../../src/surfaces/page/consent.ts'
import { servePage } from '../../../src/surfaces/page/page-server.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { createWorld, listen, type World } from '../egress/world.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'
import { KeyWorld } from './key-world.ts'

const HOST = 'api.example.org'
let world: SessionWorld
let internet: World
let served: AddressInfo

beforeEach(async () => {
  world = openSessionWorld()
  internet = createWorld()
  const server = await internet.serveHttps((message, response) => response.end(`reached ${message.url}`))
  served = server.address() as AddressInfo
})
afterEach(async () => {
  await world.close()
  await internet.close()
})

async function load(object: object): Promise<LoadedManifest> {
  const choice = { kind: 'object', object: { schema_version: 1, ...object } } as const
  const outcome = await loadPolicy({ machine: world.machine, files: machineFiles, root: world.root, choice })
  if ('problems' in outcome) throw new Error(outcome.problems.map(({ message }) => message).join('\n'))
  return outcome.loaded
}

/** What a command says in a session whose commands reach the host. */
async function bash(command: string, object: object, more: object = {}): Promise<string> {
  const capabilities = { allow: { commands: { default_domains: [HOST] } } }
  const manifest = { object: { schema_version: 1, permission: { mode: 'auto' }, capabilities, ...object } }
  const { resolver, upstream } = internet
  const cordon = await world.open({ manifest, resolver, upstream, ...more })
  return resultText(await cordon.openSession().call('bash', { command }))
}

/** Writes the person's own file, the only one that says how this machine reaches the network and where questions are sent. */
function own(toml: string): void {
  mkdirSync(world.machine.configDir, { recursive: true })
  writeFileSync(join(world.machine.configDir, 'cordon.toml'), `schema_version = 1\n${toml}\n`)
}

/** The same in a signed project, where the person's own file counts. */
async function signedBash(command: string, os: string, more: object): Promise<string> {
  const grants = `[capabilities.allow.commands]\ndefault_domains = ["${HOST}"]`
  await world.sign(`schema_version = 1\n[permission]\nmode = "auto"\n${grants}\n[sandbox.os]\n${os}\n`)
  const { resolver, upstream } = internet
  const cordon = await world.open({ resolver, upstream, ...more })
  return resultText(await cordon.openSession().call('bash', { command }))
}

const GET = `curl -sS -m 60 https://${HOST}/`

it('network.parent_proxy, parent_proxy_login, no_proxy and sandbox.os.ca_files: who is asked, as whom, and who is believed', async () => {
  const heads: string[] = []
  const parent = createServer().on('connect', (message, socket) => {
    heads.push(`${message.url} ${message.headers['proxy-authorization']}`)
    const far = connect(served.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(far).pipe(socket)
    })
    far.on('error', () => {}).on('close', () => socket.destroy())
    socket.on('error', () => {}).on('close', () => far.destroy())
  })
  await listen(parent)
  try {
    const file = join(world.base, 'ca.pem')
    writeFileSync(file, internet.authority.pem)
    const believed = `ca_files = [${JSON.stringify(file)}]`
    const machine = { ...world.machine, env: { PATH: process.env.PATH ?? '' } }
    writeFileSync(join(world.base, 'login'), 'ada:secret-of-ada', { mode: 0o600 })
    // No name is known here: only a proxy could look it up.
    const resolver = { resolve: () => Promise.reject(new Error('ENOTFOUND')) }
    const through = (network: string, os: string) => {
      own(`[network]\n${network}`)
      return signedBash(GET, os, { machine, resolver, upstream: undefined })
    }
    const proxy = `parent_proxy = "http://127.0.0.1:${(parent.address() as AddressInfo).port}"`
    const login = `parent_proxy_login = "file:${join(world.base, 'login')}"`
    expect(await through(`${proxy}\n${login}`, believed)).toContain('reached /')
    expect(heads.splice(0)).toEqual([`${HOST}:443 Basic ${Buffer.from('ada:secret-of-ada').toString('base64')}`])
    expect(await through(proxy, '')).not.toContain('reached')
    expect(new Set(heads.splice(0))).toEqual(new Set([`${HOST}:443 undefined`]))
    expect(await through(`${proxy}\nno_proxy = ["${HOST}"]`, believed)).not.toContain('reached')
    expect(await through('', believed)).not.toContain('reached')
    expect(heads).toEqual([])
  } finally {
    await new Promise((resolve) => parent.close(resolve))
  }
})

it('network.special_ranges: a name may lead there', async () => {
  const resolver = { resolve: async () => ['198.18.0.9'] }
  expect(await signedBash(GET, '', { resolver })).not.toContain('reached')
  own('[network]\nspecial_ranges = ["benchmarking"]')
  expect(await signedBash(GET, '', { resolver })).toContain('reached /')
})

it('secrets[].pass_headers and pass_parameters: what may go there beside the secret', async () => {
  const machine = { ...world.machine, env: { ...world.machine.env, KEY: 'value-of-the-key-0123456789' } }
  const secret = { name: 'KEY', source: 'env:KEY', hosts: [HOST] }
  const asks = [`${GET} -H 'X-Auth-Token: of the app'`, `curl -sS -m 60 'https://${HOST}/?oauth_token=1'`]
  const both = (more: object) => bash(asks.join('; '), { secrets: [{ ...secret, ...more }] }, { machine })
  expect(await both({})).not.toContain('reached')
  const headers = await both({ pass_headers: ['X-Auth-Token'] })
  expect([headers.includes('reached /?'), headers.includes('reached /')]).toEqual([false, true])
  const parameters = await both({ pass_parameters: ['oauth_token'] })
  expect(parameters.match(/reached \/.*/g)).toEqual(['reached /?oauth_token=1'])
})

const TOOL = `#!/bin/bash
for ask in "-X GET https://${HOST}/v1" "-X POST https://${HOST}/v1" "-X GET https://${HOST}/v2"; do
  curl -sv -m 60 $ask 2>&1 | grep -E 'issuer|reached|unlisted' | head -2
  echo "---"
done
`

it('tools.*.domains[]: host, methods, paths and tls hold for the tool', async () => {
  const tool = { name: 'probe', description: 'Probes.', script: 'probe.sh', labels: ['execute', 'network'] }
  world.file('.cordon/tools/probe.sh', TOOL, 0o755)
  world.file('.cordon/tools/probe.json', JSON.stringify({ ...tool, domains: [HOST] }))
  const tools = openCustomTools(await load({}), world.machine, () => new Date())
  trustTool(tools, toolRows(tools)[0]!, new Date())
  const seen = async (entry: object) => {
    const object = {
      schema_version: 1,
      permission: { tools: { probe: 'allow' } },
      tools: { probe: { domains: [entry] } },
    }
    const { resolver, upstream } = internet
    const session = (await world.open({ manifest: { object }, resolver, upstream })).openSession()
    const parts = resultText(await session.call('probe', {}))
      .split('---')
      .slice(0, 3)
    return parts.map((text) => [text.includes('reached'), text.includes('Test internet')])
  }
  const [open, shut, unread] = [
    [true, false],
    [false, false],
    [true, true],
  ]
  expect(await seen({ host: HOST })).toEqual([open, open, open])
  expect(await seen({ host: HOST, methods: ['GET'] })).toEqual([open, shut, open])
  expect(await seen({ host: HOST, paths: ['/v1'] })).toEqual([open, open, shut])
  expect(await seen({ host: HOST, tls: 'pass' })).toEqual([unread, unread, unread])
})

it('mcp_servers.*: requests, and of domains[] host, methods, paths, tls, ssh and signs, are those of its start', async () => {
  const domains = [
    { host: HOST, methods: ['GET'], paths: ['/v1/**'] },
    { host: 'pinned.example.org', tls: 'pass' },
    { host: 'git.example.org:22', ssh: 'push' },
    { host: 'unix:/run/agent.sock', signs: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
  ]
  // What the project's commands may send unread, the server may not.
  const capabilities = { allow: { commands: { default_domains: [{ host: HOST, tls: 'pass' }] } } }
  const loaded = await load({
    capabilities,
    mcp_servers: { one: { command: '/bin/true', requests: ['roots'], domains }, two: { command: '/bin/true' } },
  })
  const [one, two] = manifestServers(loaded)
  expect([one!.requests, two!.requests]).toEqual([['roots'], ['elicitation']])
  const decided = { command: { words: one!.argv }, cwd: loaded.root }
  const { rules } = confine(loaded, decided, serverNarrowing(one!, world.machine)).network
  expect(rules.allowed).toMatchObject([
    { pattern: { host: HOST }, methods: ['GET'], paths: ['/v1/**'] },
    { pattern: { host: 'pinned.example.org' }, tls: 'pass' },
    { pattern: { host: 'git.example.org', port: 22 }, ssh: 'push' },
    { pattern: { host: '/run/agent.sock', kind: 'unix' }, signs: 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
  ])
  const unread = (host: string) => isPassedThrough(rules, parseAuthority(host, 443) as Target)
  expect([unread('pinned.example.org'), unread(HOST)]).toEqual([true, false])
})

it('sandbox.run.timeout, memory and image: of the program that sandbox_run runs', async () => {
  const run = async (settings: object, code: string) => {
    const object = {
      schema_version: 1,
      permission: { tools: { sandbox_run: 'allow' } },
      sandbox: { run: { engines: ['os'], ...settings } },
    }
    const session = (await world.open({ manifest: { object } })).openSession()
    return resultText(await session.call('sandbox_run', { language: 'bash', code }))
  }
  expect(await run({ timeout: '1s' }, 'sleep 30; echo late')).toContain('stopped by its limit of time')
  const eats = 'tail -c 90000000 <(head -c 90000000 /dev/zero) | wc -c'
  expect(await run({}, eats)).toContain('90000000')
  expect(await run({ memory: '48 MiB' }, eats)).not.toContain('90000000')
  expect(await run({ image: `debian@sha256:${'a'.repeat(64)}` }, 'echo ran')).not.toContain('ran\n')
})

it('components.*: sha256, tools, model, storage and memory are what a component is run with', async () => {
  const bytes = Uint8Array.from([0x00, 0x61, 0x73, 0x6d])
  const sha256 = hashOf(bytes)
  const given = { sha256, tools: ['read'], model: true, storage: '64 KiB', memory: '32 MiB' }
  const { session } = await load({ components: { one: given } })
  expect(entryOf(session.components, bytes)).toEqual({
    name: 'one',
    sha256,
    tools: ['read'],
    model: true,
    storageBytes: 65_536,
    memoryBytes: 33_554_432,
  })
})

it('rings.3.seconds and rings.breaker: how long a call may take, how many may fail, and for how long it is over then', async () => {
  world.file('a.txt', 'a')
  const object = {
    schema_version: 1,
    permission: { agent: 'low' },
    agents: { low: { trust_score: 0.1 } },
    rings: { 3: { seconds: 7 }, breaker: { failures: 2, cooldown: '70s' } },
  }
  const session = (await world.open({ manifest: { object } })).openSession()
  const timeout = vi.spyOn(AbortSignal, 'timeout')
  try {
    expect((await session.call('read', { path: 'a.txt' })).status).toBe('done')
    // Two seconds for what ends by itself.
    expect(timeout).toHaveBeenCalledWith(9000)
  } finally {
    timeout.mockRestore()
  }
  for (let failed = 0; failed < 2; failed++) await session.call('read', { path: 'missing.txt' })
  expect(resultText(await session.call('read', { path: 'a.txt' }))).toMatch(/circuit breaker is open for (70|69) s/)
})

it.each(['session', 'mcp', 'hook', 'run'] as const)(
  'audit.arguments on the surface %s: without it no line contains the text of a command, run, stopped or denied',
  async (surface) => {
    const keys = new KeyWorld({ 'peek.sh': '#!/bin/sh\ncat .env\n', '.env': 'A=1\n' }, {})
    try {
      const record = async (stores: boolean): Promise<string> => {
        const commands = { allow: { commands: { patterns: ['./peek.sh oneword'] } } }
        const deny = { deny: { commands: { patterns: ['touch:*'] } } }
        const manifest = { schema_version: 1, capabilities: { ...commands, ...deny }, audit: { arguments: stores } }
        await keys.seen(surface, manifest, ['./peek.sh', 'oneword'])
        const denied = await keys.seen(surface, manifest, ['touch', 'otherword']).catch(String)
        expect(denied).toMatch(/^denied/)
        const logs = join(keys.machine.stateDir, 'audit')
        const text = readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8'))
        rmSync(logs, { recursive: true })
        return text.join('\n')
      }
      const stored = await record(true)
      expect([stored.includes('oneword'), stored.includes('otherword')]).toEqual([true, true])
      const kept = await record(false)
      expect(kept).toContain('"violations"')
      expect(kept).toContain('"type":"denied"')
      expect([kept.includes('oneword'), kept.includes('otherword')]).toEqual([false, false])
    } finally {
      keys.close()
    }
  },
)

it.each(['session', 'mcp', 'hook', 'run'] as const)(
  'sandbox.os.command_tools on the surface %s: a shell never lifts the bundle of what it starts',
  async (surface) => {
    const script = '#!/bin/sh\ncd "$HOME/.cargo/bin" && test -e old && echo lifted\n'
    const keys = new KeyWorld({ 'build.sh': script, '$H/.cargo/bin/old': 'old\n' }, {})
    try {
      const tools = [{ tool: 'cargo', wrappers: ['./build.sh'] }, { tool: 'cmake' }]
      const manifest = {
        schema_version: 1,
        permission: { tools: { bash: 'allow' } },
        capabilities: { allow: { commands: { patterns: ['./build.sh', 'cmake:*'] } } },
        sandbox: { os: { command_tools: tools } },
      }
      expect(await keys.seen(surface, manifest, ['./build.sh'])).toBe('lifted')
      expect(await keys.seen(surface, manifest, ['sh', '-c', './build.sh'])).toBe('fails')
      expect(await keys.hosts(surface, manifest, 'cmake .')).toContain('github.com')
      expect(await keys.hosts(surface, manifest, 'sh -c cmake')).toBe('')
    } finally {
      keys.close()
    }
  },
)

it('approvals.webhook, format, answer_url and desktop: where a question is sent', async () => {
  const bodies: string[] = []
  const hook: Server = createServer((incoming, response) => {
    let body = ''
    incoming.on('data', (chunk) => {
      body += String(chunk)
    })
    incoming.on('end', () => {
      bodies.push(body)
      response.end()
    })
  })
  await listen(hook)
  const shown = join(world.base, 'shown')
  const before = process.env.PATH
  const program = join(world.base, 'notify-send')
  writeFileSync(program, `#!/bin/sh\n: > '${shown}'\n`)
  chmodSync(program, 0o755)
  try {
    process.env.PATH = `${world.base}:${before}`
    const machine = { ...world.machine, env: { ...world.machine.env, DISPLAY: ':0' } }
    const reported = async (lines: string): Promise<string> => {
      const webhook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/topic`
      own(`[approvals]\nwebhook = "${webhook}"\n${lines}`)
      const notices = await noticeSettings(machine, world.root, () => {})
      const page = await servePage({
        machine,
        root: world.root,
        port: 0,
        notices,
        consent: terminalConsent(() => false),
        health: () => Promise.reject(new Error('unasked')),
        warn: () => {},
      })
      try {
        const decision = { decision: 'ask', reason: { code: 'x', message: 'x' }, rules: [], segments: [] }
        const request = {
          tool: 'bash',
          input: { command: 'git push' },
          call: 'x',
          facts: null,
          worst: { text: 'anything' },
          subject: 'git push',
          decision,
          asks: [],
          suggestions: [],
        }
        const view = askView(request as unknown as Parameters<typeof askView>[0])
        const ask = { host: 'chat', project: world.root, tool: 'bash', subject: 'git push', view }
        postAsk(machine, ask, Date.now())
        await expect.poll(() => bodies.length).toBe(1)
        return bodies.pop()!
      } finally {
        await page.close()
      }
    }
    const plain = JSON.parse(await reported('desktop = false')) as { subject: string; answers: { deny: string } }
    expect(plain.subject).toBe('git push')
    expect(plain.answers.deny).toMatch(/^http:\/\/127\.0\.0\.1:/)
    expect(existsSync(shown)).toBe(false)
    const ntfy = await reported('format = "ntfy"\nanswer_url = "https://phone.example"')
    expect(JSON.parse(ntfy)).toMatchObject({ topic: 'topic' })
    expect(ntfy).toContain('"https://phone.example/answer/')
    await expect.poll(() => existsSync(shown)).toBe(true)
  } finally {
    process.env.PATH = before
    await new Promise((resolve) => hook.close(resolve))
  }
})

it('max_requests and max_upload: of every list of hosts', async () => {
  const entry = (limit: number) => ({ host: HOST, max_requests: limit, max_upload: `${limit}KB` })
  const loaded = await load({
    capabilities: {
      allow: {
        commands: { default_domains: [entry(1)], patterns: [{ command: 'curl:*', domains: [entry(2)] }] },
      },
    },
    http: { allowed_hosts: [entry(3)] },
    sandbox: { os: { command_tools: [{ tool: 'npm', domains: [entry(4)] }] } },
    tools: { probe: { domains: [entry(5)] } },
    mcp_servers: { one: { command: '/bin/true', domains: [entry(6)] } },
  })
  const found = new Map(limitsIn(loaded).map(({ maxRequests, maxUpload }) => [maxRequests, maxUpload]))
  expect([...found].sort()).toEqual([1, 2, 3, 4, 5, 6].map((limit) => [limit, limit * 1000]))
})

it('packages: minimum_age, new_dependencies, install_scripts, look_alikes and trusted', async () => {
  const packages = {
    minimum_age: '2d',
    new_dependencies: 'deny',
    install_scripts: 'ask',
    look_alikes: 'deny',
    trusted: ['acme-*'],
  }
  expect((await load({ packages })).sandbox.packages).toMatchObject({
    minimumAge: 2 * 24 * 3600,
    newDependencies: 'deny',
    installScripts: 'ask',
    lookAlikes: 'deny',
    trusted: ['acme-*'],
  })
})

interface Limited {
  readonly maxRequests: number
  readonly maxUpload: number
}

/** The host rules with a limit, anywhere in a value. */
function limitsIn(value: unknown): Limited[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'maxRequests' in value && 'maxUpload' in value ? [value as Limited] : []
  const parts = value instanceof Map ? [...value.values()] : Object.values(value)
  return [...own, ...parts.flatMap(limitsIn)]
}
