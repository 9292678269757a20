import { describe, expect, it } from 'vitest'
import { knownTool } from '../evaluate/network-use.ts'
import type { HostRule } from '../policy.ts'
import { type CallerFact, type CallerHosts, type CallerScene, hostsOfCaller } from './callers.ts'

const rule = { rule: 'r', source: 's', pattern: { text: 'github.com' } } as unknown as HostRule
const LINKS: Readonly<Record<string, string>> = {
  '/usr/bin/npm': '/usr/share/npm/bin/npm-cli.js',
  '/usr/bin/go': '/usr/lib/go/bin/go',
}
const scene: CallerScene = {
  limited: {
    rules: [rule],
    programs: ['git'],
    own: ([, use]) => (/^(?:fetch|ci|install|list|lfs)$/.test(use ?? '') ? [rule] : []),
  },
  path: '/usr/bin:/p/node_modules/.bin',
  scripts: '/c',
  fixed: (path) => (!path.startsWith('/') || /^\/(?:p|tmp)(?:\/|$)/.test(path) ? null : (LINKS[path] ?? path)),
}
const caller = (argv: readonly string[], more: Partial<CallerFact> = {}): CallerFact => ({
  parent: 0,
  plain: false,
  cut: false,
  file: argv[0]!,
  aliases: [],
  argv,
  variables: [],
  ...more,
})
const GIT: CallerHosts = { rules: [rule], tool: knownTool('git') }
const NPM: CallerHosts = { rules: [rule], tool: knownTool('npm') }
const PIP: CallerHosts = { rules: [rule], tool: knownTool('pip') }
const has = (one: CallerFact, from?: CallerHosts): boolean => hostsOfCaller(scene, one, from).rules.length > 0

const FETCH = ['/usr/bin/git', 'fetch']
const HELPER = ['/usr/lib/git-core/git-remote-https', 'origin']
const NAMED = ['/usr/bin/node', '/usr/bin/npm', 'ci']

describe('attacks', () => {
  it.each<[string, CallerFact, CallerHosts?]>([
    ['another use of it', caller(['/usr/bin/git', 'status'])],
    ['what says so only itself', caller(FETCH, { plain: true })],
    ['more words than are known', caller(FETCH, { cut: true })],
    ['a copy in the project', caller(['/p/git', 'fetch'], { aliases: ['git'] })],
    ['one in a folder of the PATH that is the project’s', caller(['/p/node_modules/.bin/git', 'fetch'])],
    ['another program with its name as first word', caller(['git', 'fetch'], { file: '/usr/bin/python3' })],
    ['a library that is loaded first', caller(FETCH, { variables: ['LD_PRELOAD=/p/x.so'] })],
    ['a folder of libraries', caller(FETCH, { variables: ['LD_LIBRARY_PATH=/usr/lib:/p'] })],
    ['the working directory as one', caller(FETCH, { variables: ['LD_LIBRARY_PATH=/usr/lib:'] })],
    ['a folder of libraries behind a sign', caller(FETCH, { variables: ['LD_LIBRARY_PATH=/usr/lib/x=:/p'] })],
    ['settings of OpenSSL', caller(FETCH, { variables: ['OPENSSL_CONF=/p/x'] })],
    ['a helper that somebody else started', caller(HELPER)],
    ['a shell that a tool started', caller(['/bin/sh', '-c', 'curl x'], { file: '/bin/dash' }), GIT],
    ['a hook', caller(['/bin/sh', '/p/.git/hooks/post-merge'], { file: '/bin/dash' }), GIT],
    [
      'Cordon’s script by name alone',
      caller(['/bin/sh', '-c', '\'/c/git-ssh\' "$@"; curl x'], { file: '/bin/dash' }),
      GIT,
    ],
    [
      'its connection by name alone',
      caller(['/bin/sh', '-c', "exec '/c/ssh-connect' a 22; x"], { file: '/bin/dash' }),
      GIT,
    ],
    ['Cordon’s script without a tool', caller(['/bin/bash', '/c/ssh-connect', 'a', '22'])],
    [
      'the same with programs of the project',
      caller(['/bin/bash', '/c/ssh-connect', 'a', '22'], { variables: ['PATH=/p:/usr/bin'] }),
      GIT,
    ],
    [
      'the same with a function',
      caller(['/bin/bash', '/c/ssh-connect', 'a', '22'], { variables: ['BASH_FUNC_cat%%=() { x; }'] }),
      GIT,
    ],
    ['a lifecycle script', caller(['/usr/bin/node', '/p/node_modules/x/install.js']), NPM],
    ['code beside the script', caller(['/usr/bin/node', '-r', '/p/x.js', '/usr/bin/npm', 'ci'])],
    ['code by a variable', caller(NAMED, { variables: ['NODE_OPTIONS=--require /p/x.js'] })],
    ['packages of another home', caller(NAMED, { variables: ['HOME=/p'] })],
    ['a module by its name', caller(['/usr/bin/python3', '-m', 'pip', 'install'])],
    ['a build of pip', caller(['/usr/bin/python3', '/p/setup.py', 'install']), PIP],
    [
      'modules of the project',
      caller(['/usr/bin/python3', '/usr/bin/pip', 'install'], { variables: ['PYTHONPATH=/p'] }),
    ],
  ])('%s', (_, one, from) => expect(has(one, from)).toBe(false))
})

describe('controls', () => {
  it.each<[string, CallerFact, CallerHosts?]>([
    ['a tool by its words', caller(FETCH)],
    ['a tool with harmless variables', caller(FETCH, { variables: ['HOME=/p', 'NODE_ENV=x', 'PATH=/p'] })],
    ['a tool by a link', caller(['go', 'list'], { file: '/usr/lib/go/bin/go', aliases: ['go'] })],
    [
      'one of several tools in a file',
      caller(['cargo', 'install'], { file: '/h/.cargo/bin/rustup', aliases: ['rustc', 'cargo'] }),
    ],
    ['git-lfs', caller(['/usr/bin/git-lfs', 'filter-process'])],
    ['its own helper', caller(HELPER), GIT],
    ['itself again', caller(['/usr/bin/git', 'submodule--helper']), GIT],
    [
      'a script of its installation',
      caller(['/bin/sh', '/usr/lib/git-core/git-submodule'], { file: '/bin/dash' }),
      GIT,
    ],
    [
      'Cordon’s script for it',
      caller(['/bin/sh', '-c', '\'/c/git-ssh\' "$@"', "'/c/git-ssh'", 'a'], { file: '/bin/dash' }),
      GIT,
    ],
    [
      'the script itself',
      caller(['/bin/bash', '/c/git-ssh', 'a'], { variables: ['PATH=/usr/lib/git-core:/usr/bin'] }),
      GIT,
    ],
    ['ssh', caller(['ssh', '-F', '/c/x', 'a'], { file: '/usr/bin/ssh' }), GIT],
    ['its connection', caller(['/bin/bash', '/c/ssh-connect', 'a', '22']), GIT],
    ['a script that is a tool', caller(NAMED)],
    ['a script of its packages', caller(['/usr/bin/node', '/usr/share/npm/node_modules/x/cli.js']), { ...NPM }],
    ['pip', caller(['/usr/bin/python3', '/usr/bin/pip', 'install'], { variables: ['PYTHONNOUSERSITE=1'] })],
    [
      'what pip runs of itself',
      caller(['/usr/bin/python3', '/usr/lib/python3/dist-packages/pip/__pip-runner__.py', 'install']),
      PIP,
    ],
  ])('%s', (_, one, from) => expect(has(one, from)).toBe(true))
})
