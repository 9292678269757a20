import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
import { holdLock, isLockHeld, withLock } from './lock.ts'
import { uniqueName } from './made-file.ts'

let base: string
let directory: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-lock-'))
  directory = join(base, 'lock')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

const WAYS = [
  ['by the kernel', {}],
  ['by files, as where the kernel cannot', { byFiles: true }],
] as const

describe.each(WAYS)('a lock %s', (_, way) => {
  const short = { ...way, timeoutMs: 30 }

  it('is taken once, let go, and taken again', () => {
    const release = holdLock(directory, way)
    expect(isLockHeld(directory)).toBe(true)
    for (const [, other] of WAYS)
      expect(() => holdLock(directory, { ...other, timeoutMs: 30 })).toThrow(`is locked by process ${process.pid}`)
    release()
    expect(isLockHeld(directory)).toBe(false)
    for (const [, other] of WAYS) expect(withLock(directory, () => 'done', other)).toBe('done')
  })

  it('may be let go twice, and after somebody stepped over it', () => {
    const release = holdLock(directory, way)
    release()
    release()
    const stale = holdLock(directory, way)
    rmSync(directory, { recursive: true })
    const release2 = holdLock(directory, way)
    stale()
    expect(() => holdLock(directory, short)).toThrow('is locked')
    release2()
    expect(withLock(directory, () => 1, way)).toBe(1)
  })

  it('is let go when the work throws', () => {
    const broken = () => {
      throw new Error('broken')
    }
    expect(() => withLock(directory, broken, way)).toThrow('broken')
    expect(withLock(directory, () => 1, way)).toBe(1)
  })

  it('of a killed process is free', async () => {
    const code = `import(process.argv[1]).then((m) => { m.holdLock(process.argv[2], ${JSON.stringify(way)}); console.log('locked'); setInterval(() => {}, 1000) })`
    const child = spawn(process.execPath, ['-e', code, join(import.meta.dirname, 'lock.ts'), directory])
    await once(child.stdout, 'data')
    expect(() => holdLock(directory, short)).toThrow(`is locked by process ${child.pid}`)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(withLock(directory, () => 1, way)).toBe(1)
  })

  it('leaves few files behind', () => {
    for (let i = 0; i < 20; i++) withLock(directory, () => i, way)
    expect(readdirSync(directory).length).toBeLessThanOrEqual(2)
  })

  it('of an unknown writer is not stepped over at once', () => {
    mkdirSync(directory, { recursive: true })
    writeFileSync(join(directory, '7.lock'), 'garbage')
    expect(() => holdLock(directory, short)).toThrow(/is locked/)
  })
})

describe('a lock by files', () => {
  const byFiles = { byFiles: true }
  const stale: readonly (readonly [name: string, owner: Readonly<Record<string, unknown>>])[] = [
    ['of a process that is gone', { pid: 4_194_399, started: '1' }],
    ['of a number that was given to another process', { started: '1' }],
    ['of before the last boot', { boot: 'another' }],
  ]
  it.each(stale)('%s is stepped over', (_, owner) => {
    holdLock(directory, byFiles)
    const name = join(directory, readdirSync(directory).find((each) => each.endsWith('.lock'))!)
    const mine = JSON.parse(readFileSync(name, 'utf8')) as object
    writeFileSync(name, JSON.stringify({ ...mine, ...owner }))
    for (const [, way] of WAYS) expect(withLock(directory, () => 1, way)).toBe(1)
  })

  it('clears away what a process left that was killed while it waited', () => {
    mkdirSync(directory)
    const [old, fresh] = [uniqueName(), uniqueName()].map((name) => join(directory, `.4194399.${name}`))
    for (const path of [old!, fresh!]) writeFileSync(path, '{}')
    utimesSync(old!, 0, 0)
    withLock(directory, () => 1, byFiles)
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
