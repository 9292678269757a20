import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { mustBeBuilt } from './backend.ts'

let base = ''
let round = 0
const NAMES = ['cordon-init-x64', 'cordon-launch-x64', 'cordon-client-x64', 'cordon-serve-x64', 'cordon-init-arm64']

/** Its own folder each time: what was hashed is also remembered by the process. */
const folder = (): string => join(base, `native-${round}`)
const file = (name: string): string => join(folder(), name)
const check = (stateDir: string | null = null): void => mustBeBuilt(folder(), 'x64', stateDir)

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-native-files-'))
  round++
  mkdirSync(folder())
  mkdirSync(join(base, 'state'), { mode: 0o700 })
  for (const name of NAMES) writeFileSync(file(name), `program ${name}`)
  const sums = NAMES.map(
    (name) =>
      `${createHash('sha256')
        .update(readFileSync(file(name)))
        .digest('hex')}  ${name}\n`,
  )
  writeFileSync(file('SHA256SUMS'), sums.join(''))
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

it('takes what the build wrote, and needs nothing else for another platform', () => {
  writeFileSync(file('cordon-init-arm64'), 'other')
  expect(() => check()).not.toThrow()
})

it.each([
  [
    'a changed init',
    () => writeFileSync(file('cordon-init-x64'), 'program cordon-init-x65'),
    'cordon-init-x64 is not the file',
  ],
  ['a changed addon', () => writeFileSync(file('cordon-launch-x64'), ''), 'cordon-launch-x64 is not the file'],
  ['a file that is gone', () => rmSync(file('cordon-client-x64')), 'cordon-client-x64 is missing'],
  ['no hashes', () => rmSync(file('SHA256SUMS')), 'cordon-init-x64 is not among the files'],
  [
    'other hashes',
    () => writeFileSync(file('SHA256SUMS'), 'cordon-init-x64\n'),
    'cordon-init-x64 is not among the files',
  ],
])('refuses %s', (_note, change, message) => {
  change()
  expect(() => check()).toThrow(message)
})

it('remembers what it has hashed, and sees a change that leaves size and time as they were', () => {
  const state = join(base, 'state')
  check(state)
  expect(readFileSync(join(state, 'native-files'), 'utf8')).toContain(folder())
  const { atime, mtime } = statSync(file('cordon-init-x64'))
  writeFileSync(file('cordon-init-x64'), 'PROGRAM cordon-init-x64')
  utimesSync(file('cordon-init-x64'), atime, mtime)
  expect(() => check(state)).toThrow('is not the file')
})

it('believes no memory that others could have written', () => {
  const state = join(base, 'state')
  writeFileSync(file('SHA256SUMS'), '')
  const ids = NAMES.slice(0, 4).map((name) => {
    const facts = statSync(file(name), { bigint: true })
    return [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' ')
  })
  writeFileSync(join(state, 'native-files'), [folder(), ...ids].join('\n'))
  chmodSync(join(state, 'native-files'), 0o666)
  expect(() => check(state)).toThrow('is not among the files')
  chmodSync(join(state, 'native-files'), 0o600)
  expect(() => check(state)).not.toThrow()
})
