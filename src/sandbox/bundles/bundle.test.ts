import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseBundle, renderBundles } from '../../../scripts/bundle-file.ts'
import { readBundles } from '../../../scripts/generate-bundle-doc.ts'
import { protectedPath } from '../../files/protected-paths.ts'
import { secretOf, secretPlaces } from '../../files/secret-shapes.ts'
import { builtInBundle, builtInBundles } from './built-in.ts'
import { type BundleChoice, furnish, selectBundles } from './bundle.ts'
import { findRegistries, machineRegistries } from './registry.ts'

const bundles = builtInBundles()

const HOME = '/home/u'

function choice(tool: string, change: Partial<BundleChoice> = {}): BundleChoice {
  return { tool, fetch: null, install: null, defaultDomains: true, wrappers: [], ...change }
}

test('the generated list and the page are current', () => {
  expect(bundles).toEqual(readBundles())
  const page = readFileSync(new URL('../../../docs/reference/bundles.md', import.meta.url), 'utf8')
  expect(page).toBe(renderBundles(bundles))
})

test('every tool of the specification has a bundle, once', () => {
  const tools = bundles.map((bundle) => bundle.tool)
  expect(new Set(tools).size).toBe(tools.length)
  const wanted =
    'git gh jj cargo rustup node npm pnpm yarn bun deno python pip uv poetry go java maven gradle make cmake ruby php dotnet terraform container claude-code codex gemini opencode cursor copilot pi qwen cline continue crush amp goose kimi grok droid kilo command-code'
  expect(tools.toSorted()).toEqual(wanted.split(' ').sort())
})

describe.each(bundles.map((bundle) => [bundle.tool, bundle] as const))('%s', (_tool, bundle) => {
  const facts = {
    root: '/home/u/p',
    home: HOME,
    configDir: '/home/u/.config/cordon',
    stateDir: '/home/u/.local/state/cordon',
    manifestPath: '/home/u/p/cordon.toml',
  }
  const at = (path: string) => HOME + path.slice(1)

  test('shows no secret and writes nothing protected', () => {
    for (const path of [...bundle.read, ...bundle.cache, ...bundle.install]) {
      expect([path, secretOf(at(path), { home: HOME })]).toEqual([path, null])
    }
    for (const path of [...bundle.cache, ...bundle.install]) {
      expect([path, protectedPath(at(path), facts)]).toEqual([path, null])
      const above = secretPlaces.filter((place) => place.path.startsWith(`${path}/`)).map((place) => place.path)
      // Installing into a tool's own directory is off by default, and masks hide what is secret in it.
      if (!bundle.install.includes(path)) expect([path, above]).toEqual([path, []])
    }
  })

  test('brokers keys for hosts that it opens, and for no others', () => {
    for (const secret of bundle.secrets) {
      expect(secret.hosts.filter((host) => !bundle.hosts.includes(host))).toEqual([])
      expect(bundle.env).not.toContain(secret.name)
      expect(Object.keys(bundle.set)).not.toContain(secret.name)
    }
  })

  test('names no variable that contains a token', () => {
    expect(bundle.env.filter((name) => /TOKEN|SECRET|PASSWORD|API_KEY/.test(name))).toEqual([])
  })
})

const selections: readonly [
  words: readonly string[],
  choices: readonly BundleChoice[],
  tools: string[],
  note: string,
][] = [
  [['cargo', 'build'], [choice('cargo'), choice('git')], ['cargo'], 'by its program'],
  [['rustc'], [choice('cargo')], ['cargo'], 'by another program of it'],
  [['just', 'ci'], [choice('cargo')], [], 'a runner lifts nothing by itself'],
  [['just', 'ci'], [choice('cargo', { wrappers: ['just'] }), choice('git')], ['cargo'], 'unless it is a wrapper'],
  [['npm', 'run', 'ci'], [choice('cargo', { wrappers: ['npm run'] })], ['cargo'], 'of more than one word'],
  [['npm', 'install'], [choice('cargo', { wrappers: ['npm run'] })], [], 'and then all of them count'],
  [['sh', '-c', 'cargo build'], [choice('cargo', { wrappers: ['sh'] })], [], 'a shell never lifts'],
  [['/bin/bash', '-c', 'x'], [choice('cargo', { wrappers: ['/bin/bash'] })], [], 'by any path'],
  [['env', 'cargo'], [choice('cargo', { wrappers: ['env'] })], [], 'nor does env'],
  [['./cargo'], [choice('cargo')], [], 'a file of the project is not the tool'],
  [['cargo'], [], [], 'only what the manifest asks for'],
  [[], [choice('cargo')], [], 'nothing'],
]

test.each(selections)('%j with %j applies %j (%s)', (words, choices, tools) => {
  expect(selectBundles(choices, words, builtInBundle).map((applied) => applied.bundle.tool)).toEqual(tools)
})

describe('what a bundle furnishes', () => {
  const registries = {
    npm: [{ url: 'https://r.example.com/', host: 'r.example.com', subdomains: false, variable: 'npm_config_registry' }],
    cargo: [{ url: 'https://c.example.com/', host: 'c.example.com', subdomains: true, variable: null }],
  }
  const of = (words: string[], ...choices: BundleChoice[]) =>
    furnish(selectBundles(choices, words, builtInBundle), { home: HOME, registries })

  test('fetching writes the cache and opens the registry', () => {
    const npm = of(['npm'], choice('npm'))
    expect(npm.writes).toContain('/home/u/.npm/_cacache')
    expect(npm.hosts).toEqual(['r.example.com'])
    expect(npm.variables).toEqual({ npm_config_registry: 'https://r.example.com/' })
    expect(of(['cargo'], choice('cargo')).hosts).toEqual(['github.com', 'c.example.com', '*.c.example.com'])
  })

  test('without fetching the cache is read and no host is open', () => {
    const npm = of(['npm'], choice('npm', { fetch: false }))
    expect(npm.writes).toEqual([])
    expect(npm.reads).toContain('/home/u/.npm/_cacache')
    expect(npm.hosts).toEqual([])
  })

  test('default_domains = false keeps the cache and closes the hosts', () => {
    const npm = of(['npm'], choice('npm', { defaultDomains: false }))
    expect(npm.writes).toContain('/home/u/.npm/_cacache')
    expect(npm.hosts).toEqual([])
  })

  test('programs are installed only when the manifest says so', () => {
    expect(of(['cargo'], choice('cargo')).writes).not.toContain('/home/u/.cargo/bin')
    expect(of(['cargo'], choice('cargo')).reads).toContain('/home/u/.cargo/bin')
    expect(of(['cargo'], choice('cargo', { install: true })).writes).toContain('/home/u/.cargo/bin')
  })
})

describe('registries', () => {
  const find = (tool: string, printed: Readonly<Record<string, string>>, files: Readonly<Record<string, string>>) =>
    findRegistries(
      bundles.filter((bundle) => bundle.tool === tool),
      { home: HOME, project: '/p' },
      { run: (command) => printed[command.join(' ')] ?? null, read: (path) => files[path] ?? null },
    )[tool]?.map((fact) => (fact.subdomains ? `*.${fact.host}` : fact.host)) ?? []

  type Texts = Readonly<Record<string, string>>
  const rows: readonly [tool: string, printed: Texts, files: Texts, hosts: readonly string[], note: string][] = [
    ['npm', { 'npm config get registry': 'https://r.example.com/\n' }, {}, ['r.example.com'], ''],
    ['npm', { 'npm config get registry': 'https://u:p@r.example.com:8443/x\n' }, {}, ['r.example.com:8443'], 'a port'],
    ['npm', { 'npm config get registry': 'undefined\n' }, {}, [], 'no URL'],
    [
      'npm',
      { 'npm config list --json': '{\n  "@a:registry": "https://a.example.com/",\n  "x": 1\n}' },
      {},
      ['a.example.com'],
      'of a scope',
    ],
    ['pip', { 'pip config list': "global.index-url='https://i.example.com/simple'" }, {}, ['i.example.com'], ''],
    [
      'cargo',
      { 'cargo help publish': 'The default registry is <https://c.example.com>.' },
      {},
      ['*.c.example.com'],
      'names below it',
    ],
    [
      'cargo',
      {},
      { '/home/u/.cargo/config.toml': '[registries.a]\nindex = "sparse+https://k.example.com/index/"\n' },
      ['k.example.com'],
      'of the user’s file',
    ],
    ['go', { 'go env GOPROXY': 'https://g.example.com,direct\n' }, {}, ['g.example.com'], 'a list'],
    [
      'npm',
      { 'npm config get registry': 'https://r.example.com/\n' },
      {
        '/p/.npmrc':
          '//x/:_authToken=secret\nregistry=https://corp.example.com/npm/\n@a:registry = "https://a.example.com/"\n',
      },
      ['r.example.com', 'corp.example.com', 'a.example.com'],
      'of the project, after the user’s',
    ],
    [
      'pip',
      {},
      { '/p/pip.conf': '[global]\nindex-url = https://u:secret@i.example.com/simple\n' },
      ['i.example.com'],
      'of the project',
    ],
    [
      'yarn',
      {},
      { '/p/.yarnrc.yml': 'npmRegistryServer: "https://y.example.com"\n' },
      ['y.example.com'],
      'of the project',
    ],
    [
      'cargo',
      {},
      { '/p/.cargo/config.toml': '[source.x]\nregistry = "sparse+https://k.example.com/"\n' },
      ['k.example.com'],
      'of the project',
    ],
    ['git', {}, {}, [], 'has none'],
  ]

  test.each(rows)('%s with %j and %j finds %j (%s)', (tool, printed, files, hosts) => {
    expect(find(tool, printed, files)).toEqual(hosts)
  })

  test('the tool gets the project’s own registry, never the public one instead', () => {
    const npm = bundles.filter((bundle) => bundle.tool === 'npm')
    const port = {
      run: () => 'https://public.example.com/\n',
      read: (path: string) => (path === '/p/.npmrc' ? 'registry=https://corp.example.com/\n' : null),
    }
    const registries = findRegistries(npm, { home: HOME, project: '/p' }, port)
    const { variables } = furnish(selectBundles([choice('npm')], ['npm', 'ci'], builtInBundle), {
      home: HOME,
      registries,
    })
    expect(variables.npm_config_registry).toBe('https://corp.example.com/')
  })

  test('credentials of a URL are left behind', () => {
    const port = { run: () => 'https://user:secret@r.example.com/a?token=secret\n', read: () => null }
    expect(JSON.stringify(findRegistries(bundles, { home: HOME, project: '/p' }, port))).not.toContain('secret')
  })

  test('the npm of this machine names one, wherever it is asked', () => {
    const npm = bundles.filter((bundle) => bundle.tool === 'npm')
    const facts = findRegistries(
      npm,
      { home: HOME, project: null },
      machineRegistries('/nonexistent', process.env.PATH ?? ''),
    )
    expect(facts.npm?.map((fact) => fact.variable)).toEqual(['npm_config_registry'])
  })

  test('a tool that is not installed has none', () => {
    expect(
      findRegistries(
        bundles,
        { home: '/nonexistent', project: null },
        machineRegistries('/nonexistent', '/nonexistent'),
      ),
    ).toEqual({})
  })
})

describe('data files', () => {
  const good = { tool: 'x', summary: 'X.', programs: ['x'] }
  const refused: readonly [data: unknown, key: string, note: string][] = [
    [{ ...good, colour: 'red' }, 'colour', 'an unknown key'],
    [{ ...good, programs: [] }, 'programs', 'no program'],
    [{ ...good, read: ['/etc'] }, 'read', 'a place outside the home directory'],
    [{ ...good, cache: ['~/a/../../b'] }, 'cache', 'a place that climbs'],
    [{ ...good, cache: ['~/*'] }, 'cache', 'a glob'],
    [{ ...good, env: ['A B'] }, 'env', 'not a name'],
    [{ ...good, fetch: 'yes' }, 'fetch', 'not a switch'],
    [{ ...good, set: ['A'] }, 'set', 'no table'],
    [{ ...good, set: { 'A B': 'x' } }, 'set', 'not a name'],
    [{ ...good, set: { A: 1 } }, 'set', 'not a text'],
    [{ ...good, secret: [{ name: 'A', hosts: [], header: 'x' }] }, 'secret[0]', 'for no host'],
    [{ ...good, secret: [{ name: 'A', hosts: ['a.example'], header: 'X y' }] }, 'secret[0]', 'no header'],
    [{ ...good, secret: [{ name: 'A', hosts: ['a.example'], header: 'x', value: 'v' }] }, 'secret[0]', 'with a value'],
    [{ ...good, registry: [{ match: 'x' }] }, 'registry[0]', 'neither command nor file'],
    [{ ...good, registry: [{ command: ['a'], match: '(' }] }, 'registry[0].match', 'not an expression'],
    ['text', 'expected a table', 'not a table'],
  ]

  test.each(refused)('%j is refused at %s (%s)', (data, key) => {
    const parsed = parseBundle(data, 'x.toml')
    expect('problems' in parsed ? parsed.problems.join('\n') : '').toContain(key)
  })

  test('a small one is enough', () => {
    expect(parseBundle(good, 'x.toml')).toMatchObject({ bundle: { fetch: true, hosts: [], registries: [] } })
  })
})
