/** The package gate: what each client installs with it and without, and every way around it. */

import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type RequestListener, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clientSettings } from '../../../src/egress/clients/clients.ts'
import { isTrustedPlace, lookAlike, type PackageRules } from '../../../src/egress/packages/rules.ts'
import type { EgressEvent } from '../../../src/egress/route/event.ts'
import { summarize } from '../../../src/egress/route/event.ts'
import type { HostQuestion } from '../../../src/egress/route/gate.ts'
import { systemRoots } from '../../../src/egress/route/upstream.ts'
import {
  createPackageRegistry,
  FILES_HOST,
  MIRROR_HOST,
  OLD,
  PACKAGE_HOST,
  type PackageRegistry,
  PUBLIC_FILE,
  YOUNG,
} from './package-registry.ts'
import { createWorld, hosts, type OpenProxy, RawClient, type World } from './world.ts'

const RULES: PackageRules = {
  minimumAge: 3 * 86_400,
  newDependencies: 'allow',
  installScripts: 'allow',
  lookAlikes: 'allow',
  trusted: [],
  registries: [
    { ecosystem: 'npm', url: `https://${PACKAGE_HOST}/`, subdomains: false },
    { ecosystem: 'pypi', url: `https://${PACKAGE_HOST}/simple/`, subdomains: false },
    { ecosystem: 'crates', url: `https://${PACKAGE_HOST}/index/`, subdomains: false },
  ],
  managers: ['npm', 'pypi', 'crates'],
  root: '/nowhere',
}

let world: World
let registry: PackageRegistry
let directory: string
/** The registry closes a connection instead of answering on it again. */
let closesUsed = false
const opened: OpenProxy[] = []

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'cordon-packages-'))
  world = createWorld()
  registry = createPackageRegistry(directory)
  const used = new WeakSet()
  const listener: RequestListener = (message, response) => {
    if (closesUsed && used.has(message.socket)) return void message.socket.destroy()
    used.add(message.socket)
    registry.listener(message, response)
  }
  await world.serveHttps(registry.listener)
  await world.serveHttp(listener)
})
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ proxy }) => proxy.close()))
  world.events.length = 0
})
afterAll(async () => {
  await world.close()
  rmSync(directory, { recursive: true, force: true })
})

interface Asks {
  readonly answer?: boolean
  readonly asked?: string[]
}

async function open(rules: Partial<PackageRules> | null, { answer, asked = [] }: Asks = {}): Promise<OpenProxy> {
  const ask = async ({ about }: HostQuestion) => {
    asked.push(about?.message ?? 'a host')
    return answer ?? null
  }
  const proxy = await world.open(
    {
      command: 'client',
      allowed: hosts(PACKAGE_HOST, FILES_HOST, MIRROR_HOST),
      ...(rules && { packages: { ...RULES, ...rules } }),
    },
    { ...(answer !== undefined && { ask }), packages: { committed: () => new Set(['steady', 'expres']) } },
  )
  opened.push(proxy)
  return proxy
}

interface Got {
  readonly status: number
  readonly text: string
  readonly type: string
}

/** A request without TLS, which the proxy reads in the same way. */
function get({ port }: OpenProxy, url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Got> {
  const { host } = new URL(url)
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: url, method, headers: { host, ...headers }, agent: false })
    sent.on('error', reject)
    sent.on('response', (response) => {
      let text = ''
      response.on('data', (piece) => {
        text += piece
      })
      response.on('end', () =>
        resolve({ status: response.statusCode!, text, type: String(response.headers['content-type']) }),
      )
    })
    sent.end()
  })
}

const at = (path: string, host = PACKAGE_HOST): string => `http://${host}${path}`
const summary = (): string => summarize(world.events as EgressEvent[]).join('\n')

describe('what a registry offers', () => {
  it('npm: young versions are left out, and latest is the newest that is old enough', async () => {
    const proxy = await open({})
    const { status, text } = await get(proxy, at('/steady'), { accept: 'application/json' })
    const document = JSON.parse(text)
    expect(status).toBe(200)
    expect(Object.keys(document.versions)).toEqual(['1.0.0', '1.1.0'])
    expect(document['dist-tags']).toEqual({ latest: '1.1.0' })
    expect(document.time['2.0.0']).toBeUndefined()
    expect(summary()).toBe(
      'packages: steady 2.0.0 was published 1 hour ago, and minimum_age is 3 days: 1.1.0 is the newest that is offered',
    )
  })

  it.each([
    ['JSON', 'application/vnd.pypi.simple.v1+json', /"filename":"steady-1\.1\.0-py3-none-any\.whl"/],
    [
      'HTML, from the JSON that has the times',
      'text/html',
      /<a href="https:\/\/files\.example\.org[^"]*#sha256=\w+">steady-1\.1\.0/,
    ],
  ])('PyPI: %s', async (_, accept, expected) => {
    const { text, type } = await get(await open({}), at('/simple/steady/'), { accept })
    expect(type).toContain(accept)
    expect(text).toMatch(expected)
    expect(text).not.toContain('steady-2.0.0')
  })

  it('crates: lines of young versions are left out', async () => {
    const { text } = await get(await open({}), at('/index/st/ea/steady'))
    expect(text.match(/"vers":"[^"]+"/g)).toEqual(['"vers":"1.0.0"', '"vers":"1.1.0"'])
  })

  it('a client cannot keep an older answer: validators are not passed on', async () => {
    const { status, text } = await get(await open({}), at('/steady'), { 'if-none-match': '"one"' })
    expect([status, text.includes('1.1.0')]).toEqual([200, true])
  })

  it.each([
    ['latest', '1.1.0', '2.0.0'],
    ['1.0.0', '1.0.0', '1.0.0'],
    ['2.0.0', undefined, '2.0.0'],
    ['constructor', undefined, undefined],
  ])('npm: what steady/%s is, as pnpm asks: %s, and %s without the gate', async (part, gated, bare) => {
    const versionOf = async (rules: Partial<PackageRules> | null) => {
      const { status, text } = await get(await open(rules), at(`/steady/${part}`))
      return status === 200 ? JSON.parse(text).version : undefined
    }
    expect([await versionOf({}), await versionOf(null)]).toEqual([gated, bare])
  })

  it('a connection that the registry closed meanwhile is not a refusal', async () => {
    const proxy = await open({})
    await get(proxy, at('/steady'))
    closesUsed = true
    try {
      for (const name of ['scripted', 'retired']) expect((await get(proxy, at(`/${name}`))).status).toBe(200)
    } finally {
      closesUsed = false
    }
  })

  it('without the section nothing is judged', async () => {
    const proxy = await open(null)
    expect((await get(proxy, at('/steady'))).text).toContain('2.0.0')
    expect((await get(proxy, at('/steady/-/steady-2.0.0.tgz'))).status).toBe(200)
  })

  it('a trusted name is not judged', async () => {
    const proxy = await open({ trusted: ['new*'] })
    expect((await get(proxy, at('/newborn'))).text).toContain('1.0.0')
    expect((await get(proxy, at('/newborn/-/newborn-1.0.0.tgz'))).status).toBe(200)
  })
})

const FILES: readonly (readonly [note: string, url: string, code: string | null])[] = [
  ['npm: old enough', at('/steady/-/steady-1.1.0.tgz'), null],
  ['PyPI: old enough, from its own host', at('/packages/steady-1.1.0-py3-none-any.whl', FILES_HOST), null],
  ['crates: old enough', at('/crates/steady-1.1.0.crate'), null],
  ['npm: as a lock file names it', at('/steady/-/steady-2.0.0.tgz'), 'package-young'],
  ['npm: with a query', at('/steady/-/steady-2.0.0.tgz?x=1'), 'package-young'],
  ['npm: encoded', at('/%73teady/-/steady-2.0.0.tgz'), 'package-young'],
  ['npm: a segment of dots', at('/steady/-/x/%2e%2e/steady-2.0.0.tgz'), 'package-young'],
  ['npm: two slashes', at('//steady/-/steady-2.0.0.tgz'), 'package-unlisted'],
  ['npm: a version that the registry does not list', at('/steady/-/steady-9.9.9.tgz'), 'package-unlisted'],
  ['npm: a file of another name', at('/steady/-/other-1.0.0.tgz'), 'package-unlisted'],
  ['npm: another place of the registry', at('/elsewhere/steady-2.0.0.tgz'), 'package-unlisted'],
  ['npm: another host', at('/elsewhere/steady-2.0.0.tgz', FILES_HOST), 'package-unlisted'],
  ['npm: the same path on another host', at('/steady/-/steady-9.9.9.tgz', FILES_HOST), 'package-unlisted'],
  ['npm: undated', at('/undated/-/undated-1.0.0.tgz'), 'package-undated'],
  ['npm: metadata that is broken', at('/broken/-/broken-1.0.0.tgz'), 'package-unreadable'],
  ['npm: metadata that is missing', at('/absent/-/absent-1.0.0.tgz'), 'package-unreadable'],
  ['npm: metadata of another package', at('/impostor/-/impostor-1.0.0.tgz'), 'package-unreadable'],
  ['PyPI: as a lock file names it', at('/packages/steady-2.0.0-py3-none-any.whl', FILES_HOST), 'package-young'],
  ['PyPI: the metadata beside it', at('/packages/steady-2.0.0-py3-none-any.whl.metadata', FILES_HOST), 'package-young'],
  ['PyPI: a source archive of another place', at('/elsewhere/steady-2.0.0.tar.gz', FILES_HOST), 'package-unlisted'],
  ['PyPI: an archive that names no version', at('/elsewhere/main.zip', FILES_HOST), 'package-unlisted'],
  ['PyPI: an archive by a rare ending', at('/elsewhere/main.tar.zst', FILES_HOST), 'package-unlisted'],
  ['PyPI: another place', at('/other/steady-1.1.0-py3-none-any.whl', FILES_HOST), 'package-unlisted'],
  ['PyPI: an index without times', at('/packages/plain-1.0-py3-none-any.whl', FILES_HOST), 'package-unreadable'],
  ['crates: as a lock file names it', at('/crates/steady-2.0.0.crate'), 'package-young'],
  ['crates: the address of the API', at('/api/v1/crates/steady/2.0.0/download', FILES_HOST), 'package-unlisted'],
]

describe('attack: a file of a version that is not offered', () => {
  it.each(FILES)('%s', async (_, url, code) => {
    registry.asked.length = 0
    const { status, text } = await get(await open({}), url)
    expect([status, /\((package-\w+)\)/.exec(text)?.[1] ?? null]).toEqual(code === null ? [200, null] : [403, code])
    if (code !== null) expect(registry.asked.filter((one) => /\.(?:tgz|whl|crate)$|download$/.test(one))).toEqual([])
  })

  it.each(FILES.filter(([, url, code]) => code === 'package-young' || url.includes('elsewhere')))(
    'control, without the gate: %s',
    async (_, url) => {
      const { status } = await get(await open(null), url)
      expect(status === 200 || url.endsWith('.metadata') || url.includes('%')).toBe(true)
    },
  )

  it.each(['/broken', '/impostor', '/simple/plain/'])(
    'metadata that cannot be read is not offered: %s',
    async (path) => {
      const { status, text } = await get(await open({}), at(path))
      expect([status, text]).toEqual([403, expect.stringContaining('package-unreadable')])
    },
  )

  it.each([
    ['the layout of the public index', PUBLIC_FILE, 403],
    ['control: another archive', '/elsewhere/steady-2.0.0.tar.gz', 200],
  ])('a source archive that no package manager fetches: %s', async (_, path, status) => {
    expect((await get(await open({ managers: [] }), at(path, FILES_HOST))).status).toBe(status)
  })

  it.each([
    ['gzip', 200],
    ['br', 200],
    ['deflate', 200],
    ['gzip, gzip', 403],
    ['unknown', 403],
  ] as const)('metadata in the encoding %s: %s, without the young version', async (encoding, status) => {
    registry.encode(encoding)
    try {
      const offered = await get(await open({}), at('/steady'))
      expect([offered.status, offered.text.includes('"version":"2.0.0"')]).toEqual([status, false])
      expect((await get(await open({}), at('/steady/-/steady-2.0.0.tgz'))).status).toBe(403)
    } finally {
      registry.encode(null)
    }
  })

  it('the short form of metadata, which has no times: a young package is read whole', async () => {
    const accept = 'application/vnd.npm.install-v1+json'
    const gated = await get(await open({}), at('/steady'), { accept })
    expect(Object.keys(JSON.parse(gated.text).versions)).toEqual(['1.0.0', '1.1.0'])
    const bare = await get(await open(null), at('/steady'), { accept })
    expect(JSON.parse(bare.text)).toMatchObject({ 'dist-tags': { latest: '2.0.0' }, modified: YOUNG })
  })

  it('metadata that loses nothing is passed on as it came', async () => {
    const [gated, bare] = [await get(await open({}), at('/later')), await get(await open(null), at('/later'))]
    expect(gated.text).toBe(bare.text)
  })

  it('attack: not where the times are those of another document, which lacks a version', async () => {
    const accept = 'application/vnd.npm.install-v1+json'
    const [gated, bare] = [{}, null].map(async (rules) => get(await open(rules), at('/crept'), { accept }))
    expect((await bare!).text).toContain('9.9.9')
    expect(Object.keys(JSON.parse((await gated!).text).versions)).toEqual(['1.0.0'])
  })

  it('a version that came up later is found by its file, and judged', async () => {
    const proxy = await open({})
    await get(proxy, at('/later'))
    registry.add({ name: 'later', version: '1.2.0', published: OLD })
    expect((await get(proxy, at('/later/-/later-1.2.0.tgz'))).status).toBe(200)
  })
})

it('an address can be trusted, and what is beside it or comes without TLS is not', async () => {
  const proxy = await open({ trusted: [`https://${FILES_HOST}/elsewhere/`] })
  const file = '/elsewhere/steady-2.0.0.tgz'
  const client = await RawClient.connect(proxy.port)
  await client.tunnel(`${FILES_HOST}:443`)
  const tls = await client.encrypt({ ca: world.ca.pem, servername: FILES_HOST })
  tls.send(`GET ${file} HTTP/1.1\r\nHost: ${FILES_HOST}\r\nConnection: close\r\n\r\n`)
  expect(await tls.receive()).toMatch(/^HTTP\/1.1 200/)
  expect((await get(proxy, at(file, FILES_HOST))).status).toBe(403)
  expect((await get(proxy, at('/elsewhere2/steady-2.0.0.tgz', FILES_HOST))).status).toBe(403)
})

it.each([
  ['http://127.0.0.1:8080/simple/', 'http://127.0.0.1:8080/simple/x', true],
  ['http://127.0.0.1:8080/simple/', 'http://127.0.0.1:8081/simple/x', false],
  ['http://127.0.0.1:8080/simple/', 'https://127.0.0.1:8080/simple/x', false],
  ['http://registry.example/simple/', 'http://registry.example/simple/x', false],
  ['http://127.0.0.1.example/simple/', 'http://127.0.0.1.example/simple/x', false],
  ['https://registry.example/simple/', 'https://registry.example/simple/x', true],
  ['https://registry.example/simple/', 'http://registry.example/simple/x', false],
  ['https://registry.example/simple/', 'https://registry.example/simpler/x', false],
])('trusted = [%j] covers %s: %s', (entry, address, isTrusted) => {
  expect(isTrustedPlace({ trusted: [entry] } as unknown as PackageRules, address)).toBe(isTrusted)
})

it.each(['safer-buffer', '@babel/core', 'enquirer', 'mquery', 'dargs'])('%s is itself popular', (name) => {
  expect(lookAlike('npm', name)).toBeNull()
})

describe('what else a package is asked about', () => {
  const rows: readonly (readonly [note: string, rules: Partial<PackageRules>, name: string, asks: RegExp | null])[] = [
    ['a look-alike', { lookAlikes: 'ask' }, 'lodahs', /lodahs is one edit away from lodash/],
    ['a look-alike in the lock file', { lookAlikes: 'ask' }, 'expres', null],
    ['no look-alike', { lookAlikes: 'ask' }, 'steady', null],
    ['a new dependency', { newDependencies: 'ask' }, 'scripted', /scripted 1\.0\.0 is in no committed lock file/],
    ['a dependency that is locked', { newDependencies: 'ask' }, 'steady', null],
    ['a script', { installScripts: 'ask' }, 'scripted', /scripted 1\.0\.0 runs its own code/],
    ['no script', { installScripts: 'ask' }, 'steady', null],
  ]
  it.each(rows)('%s', async (_, rules, name, asks) => {
    const url = at(`/${name}/-/${name}-1.0.0.tgz`)
    const asked: string[] = []
    const yes = await open(rules, { answer: true, asked })
    expect([(await get(yes, url)).status, (await get(yes, url)).status]).toEqual([200, 200])
    expect(asked).toEqual(asks === null ? [] : [expect.stringMatching(asks)])
    const refused = asks === null ? 200 : 403
    expect((await get(await open(rules, { answer: false }), url)).status).toBe(refused)
    expect((await get(await open(rules), url)).status).toBe(refused)
  })

  it('one yes covers the new packages of a run, and a denial asks nobody', async () => {
    const asked: string[] = []
    const proxy = await open({ newDependencies: 'ask' }, { answer: true, asked })
    for (const name of ['scripted', 'retired']) await get(proxy, at(`/${name}/-/${name}-1.0.0.tgz`))
    expect(asked).toHaveLength(1)
    const closed = await open({ newDependencies: 'deny' }, { answer: true, asked })
    expect((await get(closed, at('/retired/-/retired-1.0.0.tgz'))).text).toContain('package-refused')
    expect(asked).toHaveLength(1)
  })

  it('what is deprecated or yanked is said once', async () => {
    const proxy = await open({})
    for (let time = 0; time < 2; time++) await get(proxy, at('/retired/-/retired-1.0.0.tgz'))
    await get(proxy, at('/packages/retired-1.0.0-py3-none-any.whl', FILES_HOST))
    await get(proxy, at('/crates/retired-1.0.0.crate'))
    expect(summary().split('\n')).toEqual([
      'packages: retired 1.0.0 is deprecated: use steady',
      'packages: retired 1.0.0 is yanked: use steady',
      'packages: retired 1.0.0 is yanked',
    ])
  })
})

/** A folder with clients that are not installed system-wide. */
const EXTRA = process.env.CORDON_TEST_CLIENTS ?? '/nonexistent'

interface Client {
  readonly name: string
  readonly program: string
  readonly install: readonly string[]
  /** Words with which a program ends well that is new enough. */
  readonly probe?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  readonly old: RegExp
  readonly young: RegExp
}

const NPM = { 'package.json': '{"name":"probe","version":"1.0.0"}' }
/** It knows proxies by its settings alone. */
const BERRY = `npmRegistryServer: https://${PACKAGE_HOST}/
enableTelemetry: false
enableGlobalCache: false
npmMinimalAgeGate: 0
`
const CLIENTS: readonly Client[] = [
  {
    name: 'npm',
    program: 'npm',
    install: ['install', 'steady', '--no-audit', '--no-fund', '--registry', `https://${PACKAGE_HOST}/`],
    files: NPM,
    old: /"steady": ?"\^1\.1\.0"/,
    young: /"steady": ?"\^2\.0\.0"/,
  },
  {
    name: 'pnpm',
    program: `${EXTRA}/node_modules/.bin/pnpm`,
    install: ['add', 'steady', '--registry', `https://${PACKAGE_HOST}/`],
    files: { ...NPM, 'pnpm-workspace.yaml': 'minimumReleaseAge: 0\n' },
    old: /"steady": ?"\^1\.1\.0"/,
    young: /"steady": ?"\^2\.0\.0"/,
  },
  {
    name: 'yarn',
    program: `${EXTRA}/node_modules/yarn/bin/yarn.js`,
    install: ['add', 'steady', '--no-lockfile', '--cache-folder', 'cache', '--registry', `https://${PACKAGE_HOST}/`],
    files: NPM,
    old: /"steady": ?"\^1\.1\.0"/,
    young: /"steady": ?"\^2\.0\.0"/,
  },
  {
    name: 'yarn berry',
    program: `${EXTRA}/node_modules/@yarnpkg/cli-dist/bin/yarn.js`,
    install: ['add', 'steady'],
    files: { ...NPM, 'yarn.lock': '', '.yarnrc.yml': BERRY },
    old: /"steady": ?"\^1\.1\.0"/,
    young: /"steady": ?"\^2\.0\.0"/,
  },
  {
    name: 'uv',
    program: 'uv',
    install: [
      'pip',
      'install',
      '--no-cache',
      '--target',
      'lib',
      '--index-url',
      `https://${PACKAGE_HOST}/simple/`,
      'steady',
    ],
    old: /steady==1\.1\.0/,
    young: /steady==2\.0\.0/,
  },
  {
    name: 'pip',
    program: 'pip',
    install: [
      'install',
      '--no-cache-dir',
      '--target',
      'lib',
      '--index-url',
      `https://${PACKAGE_HOST}/simple/`,
      'steady',
    ],
    environment: { PIP_CONFIG_FILE: '/dev/null', PIP_FIND_LINKS: '', PIP_EXTRA_INDEX_URL: '' },
    old: /Successfully installed steady-1\.1\.0/,
    young: /Successfully installed steady-2\.0\.0/,
  },
  {
    name: 'cargo',
    program: 'cargo',
    // Debian's of 2022 has no registries over HTTP; what has this command has them.
    probe: ['remove', '--help'],
    install: ['fetch'],
    files: {
      'Cargo.toml':
        '[package]\nname = "probe"\nversion = "0.1.0"\nedition = "2021"\n[lib]\npath = "lib.rs"\n[dependencies]\nsteady = { version = ">=1", registry = "test" }\n',
      'lib.rs': '',
      '.cargo/config.toml': `[registries.test]\nindex = "sparse+https://${PACKAGE_HOST}/index/"\n`,
    },
    old: /name = "steady"\nversion = "1\.1\.0"/,
    young: /name = "steady"\nversion = "2\.0\.0"/,
  },
]

describe('real clients', () => {
  const installed = CLIENTS.filter(
    ({ program, probe }) => isInstalled(program) && (!probe || spawnSync(program, probe).status === 0),
  )
  it('npm is one of them', () => expect(installed.map(({ name }) => name)).toContain('npm'))

  for (const { name, program, install, environment = {}, files = {}, old, young } of installed) {
    /** What it wrote and said, and the files of packages that it fetched. */
    const installs = async (rules: Partial<PackageRules> | null, wanted = 'steady', host = PACKAGE_HOST) => {
      const proxy = await open(rules)
      registry.asked.length = 0
      const root = mkdtempSync(join(directory, 'client-'))
      for (const [file, text] of Object.entries(files)) {
        mkdirSync(join(root, file, '..'), { recursive: true })
        writeFileSync(join(root, file), text.replace('steady', wanted).replaceAll(PACKAGE_HOST, host))
      }
      mkdirSync(join(root, 'home'), { recursive: true })
      const settings = clientSettings({
        proxyHost: '127.0.0.1',
        proxyPort: proxy.port,
        directory: root,
        caPem: world.ca.pem,
        roots: systemRoots(),
      })
      for (const file of settings.files) {
        writeFileSync(file.path, file.content)
        chmodSync(file.path, file.mode)
      }
      const env = {
        PATH: process.env.PATH,
        HOME: join(root, 'home'),
        ...(process.env.RUSTUP_HOME
          ? { RUSTUP_HOME: process.env.RUSTUP_HOME }
          : { RUSTUP_HOME: `${process.env.HOME}/.rustup` }),
        ...settings.environment,
        ...environment,
      }
      const words = install.map((word) => (word === 'steady' ? wanted : word.replace(PACKAGE_HOST, host)))
      const output = await run(program, words, root, env)
      const written = ['package.json', 'Cargo.lock'].map((file) => read(join(root, file))).join('\n')
      const fetched = registry.asked.filter((one) => /^GET .*\.(?:tgz|whl|crate)$/.test(one) && one.includes(wanted))
      return { said: `${written}\n${output}`, fetched: [...new Set(fetched)].length }
    }

    it.each([
      ['with the gate', {}, old],
      ['without it', null, young],
    ] as const)(`${name} %s`, async (_, rules, expected) => {
      expect((await installs(rules)).said).toMatch(expected)
    })

    it(`attack: ${name} fetches no file of a registry that was not signed, and without the gate it does`, async () => {
      expect((await installs({}, 'steady', MIRROR_HOST)).fetched).toBe(0)
      expect((await installs(null, 'steady', MIRROR_HOST)).fetched).toBe(1)
    })

    const isNpm = !['uv', 'pip', 'cargo'].includes(name)
    const alike = { uv: 'reqeusts', pip: 'reqeusts', cargo: 'sered' }[name] ?? 'lodahs'
    it.each([
      ['a look-alike', { lookAlikes: 'deny' }, alike],
      ...(isNpm ? ([['a package with scripts', { installScripts: 'deny' }, 'scripted']] as const) : []),
    ] as const)(`${name} fetches no file of %s, and without the gate it does`, async (_, rules, wanted) => {
      expect((await installs(rules, wanted)).fetched).toBe(0)
      expect((await installs(null, wanted)).fetched).toBe(1)
    })

    if (isNpm)
      it(`${name} learns of a deprecated package`, async () => {
        expect((await installs({}, 'retired')).fetched).toBe(1)
        expect(summary()).toContain('retired 1.0.0 is deprecated: use steady')
      })
  }
})

function isInstalled(program: string): boolean {
  return program.startsWith('/')
    ? existsSync(program)
    : (process.env.PATH ?? '').split(':').some((one) => existsSync(join(one, program)))
}

function read(path: string): string {
  return existsSync(path) ? String(readFileSync(path)) : ''
}

function run(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd, env, timeout: 60_000 }, (_, out, err) => resolve(out + err))
    child.stdin?.end()
  })
}
