/** One table of secrets for file tools and commands: each row is hidden in a project that lies outside the home. */

import { spawnSync } from 'node:child_process'
import { linkSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { secretShapes } from '../../../src/files/secret-shapes.ts'
import { Project } from '../../e2e/cordon.ts'

const exampleOf = (shape: string) =>
  shape.endsWith('/') ? `${shape}deep/any-name` : `names/${shape.replaceAll('*', 'x')}`
const examples = secretShapes.map((shape) => `conf/${exampleOf(shape)}`)
const KEY = (at: number) => `KEYTEXT-${at}-END`

let project: Project
beforeAll(() => {
  project = new Project(Object.fromEntries(examples.map((path, at) => [path, `${KEY(at)}\n`])))
  project.write('conf/plain.json', 'shown\n')
})
afterAll(() => project.remove())

const seen = (text: string) => examples.filter((_, at) => text.includes(KEY(at)))
const WORDS = ['sh', '-c', 'find conf -type f -exec cat {} +; cat conf/plain.json']

it('control: without a sandbox all of them are read', () => {
  const { stdout } = spawnSync(WORDS[0]!, WORDS.slice(1), { cwd: project.directory, encoding: 'utf8' })
  expect(seen(stdout)).toEqual(examples)
})

it('no command reads one, nor by a second name, a link or a folder that it moves', () => {
  const { out } = project.cordon(['run', '--', ...WORDS])
  expect([seen(out), out.includes('shown')]).toEqual([[], true])
  const around =
    'ln -s conf/.ssh l; cat l/deep/*; ln conf/.ssh/deep/any-name h; cat h; mv conf/.ssh m; cat m/deep/*; cp -r conf/.ssh n; cat n/deep/*'
  expect(seen(project.cordon(['run', '--', 'sh', '-c', around]).out)).toEqual([])
})

it('no file tool reads one unasked', () => {
  const calls = examples.map((path) => JSON.stringify({ tool: 'read', input: { path } }))
  const { out } = project.cordon(['check', '--batch', '--json'], { input: `${calls.join('\n')}\n` })
  const decisions = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).decision as string)
  expect(decisions).toEqual(examples.map(() => 'ask'))
})

it('a hard link to what a name, a rule or a place hides is hidden, from commands and file tools', () => {
  const own = new Project({
    'cordon.toml':
      'schema_version = 1\n[permission]\nmode = "contained"\n[capabilities.deny.read]\npaths = ["private/**"]\n',
    'private/deep/x': 'DENIED\n',
    '.env': 'NAMED\n',
    'plain/own': 'shown\n',
  })
  mkdirSync(join(own.home, '.aws'))
  writeFileSync(join(own.home, '.aws/credentials'), 'PLACED\n')
  const at = (path: string) => join(own.directory, path)
  linkSync(at('private/deep/x'), at('plain/denied'))
  linkSync(at('.env'), at('plain/named'))
  linkSync(join(own.home, '.aws/credentials'), at('plain/placed'))
  linkSync(at('plain/own'), at('plain/control'))
  own.cordon(['sign', '--yes'])
  const { out } = own.cordon(['run', '--', 'sh', '-c', 'cat plain/*'])
  const decided = ['denied', 'named', 'placed', 'control'].map((name) => {
    const input = JSON.stringify({ path: `plain/${name}` })
    return JSON.parse(own.cordon(['check', '--json', '--tool', 'read', '--input', input]).out).decision
  })
  own.remove()
  expect(out).toBe('shown\nshown\n')
  expect(decided).toEqual(['deny', 'ask', 'ask', 'allow'])
})

it('a grant that names one file of such a folder shows that file and nothing beside it', () => {
  const own = new Project({
    '.ssh/known_hosts': 'HOSTS\n',
    '.ssh/id': 'PRIVATE\n',
    'cordon.toml': 'schema_version = 1\n[capabilities.allow.read]\npaths = [".", ".ssh/known_hosts"]\n',
  })
  own.cordon(['sign', '--yes'])
  const { out, err } = own.cordon(['run', '--', 'sh', '-c', 'cat .ssh/known_hosts .ssh/id'])
  own.remove()
  expect([out.includes('HOSTS'), out.includes('PRIVATE')], err).toEqual([true, false])
})

it('what git has as it is stays shown, so that no commit takes it away', () => {
  const own = new Project({ '.ssh/config': 'Host x\n', '.ssh/id': 'PRIVATE\n' })
  const env = { PATH: process.env.PATH, HOME: own.home, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...words: string[]) => spawnSync('git', words, { cwd: own.directory, env, encoding: 'utf8' }).stdout
  git('init', '-q')
  git('add', '.ssh/config')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', '1')
  const { out } = own.cordon(['run', '--', 'sh', '-c', 'cat .ssh/config .ssh/id; git status --short'])
  own.remove()
  expect([out.includes('Host x'), out.includes('PRIVATE'), out.includes(' D ')]).toEqual([true, false, false])
})
