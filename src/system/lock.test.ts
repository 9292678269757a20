import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Keychain, openKeyStore } from './keys/keychain.ts'
import { holdLock, withLock } from './lock.ts'
import { uniqueName } from './made-file.ts'

let base: string
let directory: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-lock-'))
  directory = join(base, 'lock')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const short = { timeoutMs: 30 }

describe('a lock', () => {
  it('is taken once, let go, and taken again', () => {
    const release = holdLock(directory)
    expect(() => holdLock(directory, short)).toThrow(`is locked by process ${process.pid}`)
    release()
    expect(withLock(directory, () => 'done')).toBe('done')
  })

  it('may be let go twice, and after somebody stepped over it', () => {
    const release = holdLock(directory)
    release()
    release()
    const stale = holdLock(directory)
    for (const name of readdirSync(directory)) rmSync(join(directory, name))
    const release2 = holdLock(directory)
    stale()
    expect(() => holdLock(directory, short)).toThrow('is locked')
    release2()
    expect(withLock(directory, () => 1)).toBe(1)
  })

  it('is let go when the work throws', () => {
    expect(() =>
      withLock(directory, () => {
        throw new Error('broken')
      }),
    ).toThrow('broken')
    expect(withLock(directory, () => 1)).toBe(1)
  })

  const stale: readonly (readonly [name: string, owner: Readonly<Record<string, unknown>>])[] = [
    ['of a process that is gone', { pid: 4_194_399, started: '1' }],
    ['of a number that was given to another process', { started: '1' }],
    ['of before the last boot', { boot: 'another' }],
  ]
  it.each(stale)('%s is stepped over', (_, owner) => {
    holdLock(directory)
    const name = join(directory, readdirSync(directory).find((each) => each.endsWith('.lock'))!)
    const mine = JSON.parse(readFileSync(name, 'utf8')) as object
    writeFileSync(name, JSON.stringify({ ...mine, ...owner }))
    expect(withLock(directory, () => 1)).toBe(1)
  })

  it('of an unknown writer is not stepped over at once', () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, '7.lock'), 'garbage')
    expect(() => holdLock(directory, short)).toThrow(/is locked/)
  })

  it('leaves few files behind', () => {
    for (let i = 0; i < 20; i++) withLock(directory, () => i)
    expect(readdirSync(directory).length).toBeLessThanOrEqual(2)
  })

  it('clears away what a process left that was killed while it waited', () => {
    mkdirSync(directory)
    const [old, fresh] = [uniqueName(), uniqueName()].map((name) => join(directory, `.4194399.${name}`))
    for (const path of [old!, fresh!]) writeFileSync(path, '{}')
    utimesSync(old!, 0, 0)
    withLock(directory, () => 1)
    expect([existsSync(old!), existsSync(fresh!)]).toEqual([false, true])
  })
})

describe('the key store', () => {
  it('does not trust a keychain that forgets', () => {
    const forgetful: Keychain = { get: () => null, set: () => undefined, delete: () => undefined }
    const stateDir = join(directory, 'state')
    const store = openKeyStore(stateDir, forgetful)
    expect(store.write('a', 'value')).toMatchObject({ to: 'file', warning: expect.stringMatching(/did not keep/) })
    expect(store.read('a')).toEqual({ value: 'value', from: 'file' })
    store.delete('a')
    expect(store.read('a')).toBeNull()
  })

  it.each(['../x', 'A', '', 'a/b'])('has no key called %j', (name) => {
    const store = openKeyStore(directory, { get: () => null, set: () => undefined, delete: () => undefined })
    expect(() => store.read(name)).toThrow(RangeError)
  })
})
