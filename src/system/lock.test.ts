import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Keychain, openKeyStore } from './keychain.ts'
import { holdLock, withLock } from './lock.ts'

let directory: string

beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), 'cordon-lock-')), 'lock')
})

const short = { timeoutMs: 30 }

describe('a lock', () => {
  it('is taken once, let go, and taken again', () => {
    const release = holdLock(directory)
    expect(() => holdLock(directory, short)).toThrow(`is held by process ${process.pid}`)
    release()
    expect(withLock(directory, () => 'done', short)).toBe('done')
  })

  it('is let go when the work throws', () => {
    expect(() =>
      withLock(directory, () => {
        throw new Error('broken')
      }),
    ).toThrow('broken')
    expect(withLock(directory, () => 1, short)).toBe(1)
  })

  it.each([
    ['of a process that is gone', { pid: 4_194_399, started: '1', boot: null }],
    ['of a number that was given to another process', { pid: process.pid, started: '1' }],
    ['of before the last boot', { pid: process.pid, started: null, boot: 'another' }],
  ])('%s is stepped over', (_, owner) => {
    const release = holdLock(directory)
    const [name] = readdirSync(directory)
    const { readFileSync } = process.getBuiltinModule('node:fs')
    const mine = JSON.parse(readFileSync(join(directory, name!), 'utf8')) as object
    writeFileSync(
      join(directory, name!),
      JSON.stringify({ ...mine, ...owner, ...(owner.boot === null ? { boot: (mine as { boot: string }).boot } : {}) }),
    )
    expect(withLock(directory, () => 1, short)).toBe(1)
    release()
  })

  it('of an unknown writer is not stepped over at once', () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, '7.lock'), 'garbage')
    expect(() => holdLock(directory, short)).toThrow(/is held/)
  })

  it('leaves few files behind', () => {
    for (let i = 0; i < 20; i++) withLock(directory, () => i)
    expect(readdirSync(directory).length).toBeLessThanOrEqual(2)
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
