import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openOwnDirectory, openState, readOwnFile, readOwnJson, reapHalfWritten, writeOwnFile } from './state.ts'

let base: string
let stateDir: string

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-state-'))
  stateDir = openOwnDirectory(join(base, 'state'))
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

describe('a file of Cordon\u2019s own', () => {
  it('is written and read as a whole', () => {
    const path = join(stateDir, 'folder', 'file')
    writeOwnFile(path, 'text')
    expect(new TextDecoder().decode(readOwnFile(path)!)).toBe('text')
    expect(readOwnFile(join(stateDir, 'none'))).toBeNull()
  })

  it('is not believed when others may write it', () => {
    const path = join(stateDir, 'file')
    writeOwnFile(path, 'text')
    chmodSync(path, 0o620)
    expect(() => readOwnFile(path)).toThrow(/others may write it/)
  })

  it('is not a link', () => {
    const path = join(stateDir, 'file')
    writeOwnFile(path, '{}')
    symlinkSync(path, join(stateDir, 'link'))
    expect(() => readOwnFile(join(stateDir, 'link'))).toThrow(/cannot be read/)
  })

  it('of another user is not believed', () => {
    const path = join(stateDir, 'file')
    writeOwnFile(path, 'text')
    expect(() => readOwnFile(path, [4_294_000])).toThrow(/belongs to user/)
  })

  it('of unexpected fields is damaged, not empty', () => {
    const path = join(stateDir, 'file')
    writeOwnFile(path, '{"version":2}')
    expect(() => readOwnJson(path, (value): value is never => value === null)).toThrow(/is damaged/)
  })

  it('that is empty is damaged, unless it did not wait for the disk', () => {
    const path = join(stateDir, 'file')
    writeOwnFile(path, '')
    const check = (value: unknown): value is never => value === null
    expect(() => readOwnJson(path, check)).toThrow(/is damaged/)
    expect(readOwnJson(path, check, false)).toBeNull()
    writeOwnFile(path, '{', 0o600, false)
    expect(() => readOwnJson(path, check, false)).toThrow(/is damaged/)
  })
})

describe('a directory of Cordon\u2019s own', () => {
  it('is closed to others when it was open to their eyes', () => {
    mkdirSync(join(base, 'open'), { mode: 0o755 })
    const opened = openOwnDirectory(join(base, 'open'))
    chmodSync(join(base, 'open'), 0o770)
    expect(opened).toBe(join(base, 'open'))
    expect(() => openOwnDirectory(join(base, 'open'))).toThrow(/others may write it/)
  })

  it('is refused below one that everybody may change', () => {
    const open = join(base, 'everybody')
    mkdirSync(open)
    chmodSync(open, 0o777)
    expect(() => openOwnDirectory(join(open, 'state'))).toThrow(/is writable by everybody/)
    chmodSync(open, 0o1777)
    expect(openOwnDirectory(join(open, 'state'))).toBe(join(open, 'state'))
  })

  it('is not checked above one that was opened just now, unless it points outside', () => {
    const open = join(base, 'everybody')
    mkdirSync(join(open, 'state'), { recursive: true, mode: 0o700 })
    chmodSync(open, 0o777)
    symlinkSync(join(open, 'state'), join(stateDir, 'out'))
    expect(openOwnDirectory(join(stateDir, 'in'), stateDir)).toBe(join(stateDir, 'in'))
    expect(() => openOwnDirectory(join(stateDir, 'out'), stateDir)).toThrow(/is writable by everybody/)
  })
})

it('half-written files of killed processes are cleared away, those of now are not', () => {
  const [old, fresh, other] = ['.2d1-1f8zq0c2m0-0x1y2z3.tmp', '.3kx-1f8zq0c2m1-0a9b8c7.tmp', 'grants.json']
  for (const folder of [stateDir, join(stateDir, 'signatures')]) {
    mkdirSync(folder, { recursive: true })
    for (const name of [old!, fresh!, other!]) writeFileSync(join(folder, name), '')
    for (const name of [old!, other!]) utimesSync(join(folder, name), 1, 1)
  }
  reapHalfWritten(stateDir, Date.now())
  for (const folder of [stateDir, join(stateDir, 'signatures')]) {
    expect([old!, fresh!, other!].map((name) => existsSync(join(folder, name)))).toEqual([false, true, true])
  }
})

describe('the version of the state', () => {
  const version = () => join(stateDir, 'version')

  it('is written by what writes, and an older state keeps its content', () => {
    writeOwnFile(join(stateDir, 'grants.json'), '{}')
    openOwnDirectory(stateDir)
    expect(existsSync(version())).toBe(false)
    openState(stateDir)
    openState(stateDir)
    expect(readFileSync(version(), 'utf8')).toBe('1\n')
    expect(readFileSync(join(stateDir, 'grants.json'), 'utf8')).toBe('{}')
  })

  it.each([
    ['of a newer Cordon', '2\n', /was written by a newer Cordon \(version 2 of its state; this one knows 1\)/],
    ['without a number', 'one\n', /is damaged: it has no version/],
    ['cut short', '', /is damaged: it has no version/],
  ])('%s is refused, and nothing is changed', (_name, text, message) => {
    writeOwnFile(version(), text)
    expect(() => openOwnDirectory(stateDir)).toThrow(message)
    expect(() => openState(stateDir)).toThrow(message)
    expect(readFileSync(version(), 'utf8')).toBe(text)
  })

  it('is not a link, nor writable by others', () => {
    symlinkSync('/etc/hostname', version())
    expect(() => openState(stateDir)).toThrow(/cannot be read/)
    rmSync(version())
    writeOwnFile(version(), '1\n')
    chmodSync(version(), 0o666)
    expect(() => openState(stateDir)).toThrow(/others may write it/)
  })
})
