import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { answerBasis, SavedGrants, stillRests } from './saved-grants.ts'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cordon-basis-'))
})
afterEach(() => rmSync(root, { recursive: true }))

const write = (file: string, text: string): void => writeFileSync(join(root, file), text)
const scripts = (own: Readonly<Record<string, string>>): string => JSON.stringify({ scripts: own })
const lock = (...addresses: readonly string[]): string =>
  JSON.stringify(
    addresses.map((resolved) => ({ resolved, funding: { url: `https://fund.example/${resolved.length}` } })),
    null,
    1,
  )
const NPM = 'https://packages.example.org/a/-/a-1.0.0.tgz'

it.each<readonly [note: string, value: string, file: string, before: string, after: string, lives: boolean]>([
  ['its script', 'npm run deploy', 'package.json', scripts({ deploy: 'a' }), scripts({ deploy: 'b' }), false],
  [
    'a script before it',
    'npm run deploy',
    'package.json',
    scripts({ deploy: 'a' }),
    scripts({ deploy: 'a', predeploy: 'b' }),
    false,
  ],
  [
    'another script',
    'npm run deploy',
    'package.json',
    scripts({ deploy: 'a' }),
    scripts({ deploy: 'a', test: 'b' }),
    true,
  ],
  ['the script of npm test', 'npm test:*', 'package.json', scripts({ test: 'a' }), scripts({ test: 'b' }), false],
  ['a file that is not JSON', 'npm run deploy', 'package.json', scripts({ deploy: 'a' }), '{', false],
  [
    'a package of a new source',
    'npm ci',
    'package-lock.json',
    lock(NPM),
    lock(NPM, 'https://evil.example/b.tgz'),
    false,
  ],
  [
    'a package from git',
    'npm ci',
    'package-lock.json',
    lock(NPM),
    lock(NPM, 'git+ssh://git@github.com/x/y.git#1'),
    false,
  ],
  [
    'a package of the same source',
    'npm ci',
    'package-lock.json',
    lock(NPM),
    lock(NPM, NPM.replace('1.0.0', '2.0.0')),
    true,
  ],
  [
    'a crate of a new registry',
    'cargo publish',
    'Cargo.lock',
    'source = "registry+https://git.example/index"\n',
    'source = "registry+https://evil.example/index"\n',
    false,
  ],
  ['another program', 'make deploy', 'package.json', scripts({ deploy: 'a' }), scripts({ deploy: 'b' }), true],
])('a yes and a change of %s', (_, value, file, before, after, lives) => {
  write(file, before)
  const saved = new SavedGrants(join(root, 'state'), () => 1)
  const project = { root, policy: { runtimeGrants: { value: true, rule: '', source: '' } } }
  const grant = { project: root, kind: 'command', value, session: 's', scope: 'session', expires: null } as const
  saved.add({ ...grant, verdict: 'allow' })
  saved.add({ ...grant, verdict: 'deny' })
  const verdicts = () => saved.forSession(project, 's').map(({ verdict }) => verdict)
  expect(verdicts()).toEqual(['allow', 'deny'])
  write(file, after)
  expect(verdicts()).toEqual(lives ? ['allow', 'deny'] : ['deny'])
})

it.each([
  ['a named pipe', () => execFileSync('mkfifo', [join(root, 'package.json')])],
  ['a link to a device', () => symlinkSync('/dev/zero', join(root, 'package.json'))],
  ['a link to itself', () => symlinkSync('package.json', join(root, 'package.json'))],
])('ends, and stops nothing, with %s as package.json', (_, put) => {
  const grant = { kind: 'command', value: 'npm run deploy' } as const
  write('package.json', scripts({ deploy: 'a' }))
  const basis = answerBasis(grant, root)
  expect(stillRests(basis, grant, root)).toBe(true)
  rmSync(join(root, 'package.json'))
  put()
  expect(stillRests(basis, grant, root)).toBe(false)
})

it('of npm’s short words for test is that of the script', () => {
  write('package.json', scripts({ test: 'a' }))
  for (const value of ['npm t', 'npm tst', 'npm run test']) {
    expect(answerBasis({ kind: 'command', value }, root)).toEqual(
      answerBasis({ kind: 'command', value: 'npm test' }, root),
    )
  }
})
