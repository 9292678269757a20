import { describe, expect, test } from 'vitest'
import { commandEnvironment, type EnvironmentRequest, looksSecret } from './environment.ts'

const parent = {
  PATH: '/usr/bin:/bin',
  HOME: '/home/u',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TERM: 'xterm',
  EDITOR: 'vim',
  TMPDIR: '/var/tmp',
  OPENAI_API_KEY: 'sk-1',
  CARGO_HOME: '/c',
  CARGO_REGISTRY_TOKEN: 't',
  LD_PRELOAD: '/evil.so',
  SSH_AUTH_SOCK: '/s',
  'BASH_FUNC_ls%%': '() { evil; }',
}

function environment(change: Partial<EnvironmentRequest> = {}) {
  return commandEnvironment({
    parent,
    platform: 'linux',
    allowlist: null,
    declared: [],
    denied: [],
    fixed: {},
    temporary: '/tmp',
    writable: ['/p'],
    ...change,
  })
}

const rows: readonly [note: string, change: Partial<EnvironmentRequest>, names: readonly string[]][] = [
  ['only the allowlist', {}, ['HOME', 'LANG', 'LC_ALL', 'PATH', 'TERM', 'TMPDIR']],
  ['an own list replaces it', { allowlist: ['EDITOR'] }, ['EDITOR', 'PATH', 'TMPDIR']],
  ['a declared name', { allowlist: [], declared: ['EDITOR'] }, ['EDITOR', 'PATH', 'TMPDIR']],
  ['a glob lets no token through', { allowlist: [], declared: ['CARGO_*'] }, ['CARGO_HOME', 'PATH', 'TMPDIR']],
  [
    'not even the broadest',
    { allowlist: ['*'] },
    ['CARGO_HOME', 'EDITOR', 'HOME', 'LANG', 'LC_ALL', 'LD_PRELOAD', 'PATH', 'TERM', 'TMPDIR'],
  ],
  ['a key by its full name', { allowlist: [], declared: ['OPENAI_API_KEY'] }, ['OPENAI_API_KEY', 'PATH', 'TMPDIR']],
  ['a denial beats a declaration', { allowlist: [], declared: ['EDITOR'], denied: ['EDIT*'] }, ['PATH', 'TMPDIR']],
  ['a denial beats what Cordon sets', { allowlist: [], fixed: { A: '1' }, denied: ['A'] }, ['PATH', 'TMPDIR']],
  [
    'a foreign charset is left out',
    { parent: { ...parent, LANG: 'zh_CN.gbk', LC_ALL: 'zh_CN' } },
    ['HOME', 'PATH', 'TERM', 'TMPDIR'],
  ],
  ['and so is one that a glob covers', { parent: { LANG: 'ja_JP.SJIS' }, allowlist: ['L*'] }, ['PATH', 'TMPDIR']],
  ['unless the manifest names it', { parent: { LANG: 'ja_JP.SJIS' }, declared: ['LANG'] }, ['LANG', 'PATH', 'TMPDIR']],
  [
    'messages are not translated',
    { parent: { TEXTDOMAIN: 'x', TEXTDOMAINDIR: '/p' }, allowlist: ['TEXTDOMAIN*'] },
    ['PATH', 'TMPDIR'],
  ],
  ['an exported function is not a variable', { allowlist: ['BASH_FUNC_ls%%'] }, ['PATH', 'TMPDIR']],
]

/** What every command has. */
const QUIET = ['NO_UPDATE_NOTIFIER', 'npm_config_update_notifier']

test.each(rows)('%s', (_note, change, names) => {
  expect(Object.keys(environment(change)).sort()).toEqual([...names, ...QUIET].sort())
})

test('tools do not look for news of themselves, unless the person’s own variable says so', () => {
  expect(environment({})).toMatchObject({ npm_config_update_notifier: 'false', NO_UPDATE_NOTIFIER: '1' })
  const parent = { PATH: '/usr/bin', npm_config_update_notifier: 'true' }
  expect(environment({ parent, declared: ['npm_config_*'] }).npm_config_update_notifier).toBe('true')
  expect(environment({ parent }).npm_config_update_notifier).toBe('false')
  expect(environment({ denied: ['npm_*'] })).not.toHaveProperty('npm_config_update_notifier')
})

test('the temporary directory is the sandbox’s own, even when TMPDIR is declared', () => {
  expect(environment({ declared: ['TMPDIR', 'TEMP'] }).TMPDIR).toBe('/tmp')
})

test('what Cordon sets beats the parent', () => {
  expect(environment({ fixed: { LANG: 'x' } }).LANG).toBe('x')
})

describe('PATH', () => {
  test.each([
    ['/usr/bin:/bin', '/usr/bin:/bin', 'as it is'],
    [':/usr/bin:.:bin:', '/usr/bin', 'empty and relative entries mean the current directory'],
    ['/p/node_modules/.bin:/usr/bin', '/usr/bin:/p/node_modules/.bin', 'what can be written comes last'],
    ['/usr/bin:/usr/x/../../p/bin:/bin', '/usr/bin:/bin:/p/bin', 'however it is spelled'],
    ['/usr/bin/:/usr/bin', '/usr/bin', 'once'],
    ['/project/bin:/usr/bin', '/project/bin:/usr/bin', 'another directory with a similar name'],
    ['', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', 'never empty'],
    ['/p/bin', '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/p/bin', 'never only the project'],
  ])('%j becomes %j (%s)', (path, expected) => {
    expect(environment({ parent: { PATH: path } }).PATH).toBe(expected)
  })
})

test.each([
  ['OPENAI_API_KEY', true],
  ['GITHUB_TOKEN', true],
  ['NPM_CONFIG__AUTH', true],
  ['AWS_SECRET_ACCESS_KEY', true],
  ['DATABASE_URL', true],
  ['PGPASSWORD', true],
  ['GIT_AUTHOR_NAME', false],
  ['KEYBOARD', false],
  ['CARGO_HOME', false],
  ['MAKEFLAGS', false],
])('%s looks secret: %s', (name, secret) => {
  expect(looksSecret(name)).toBe(secret)
})
