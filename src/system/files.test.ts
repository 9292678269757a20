import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFiles } from './files.ts'

describe('canonical', () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-files-')))
  const at = (path: string) => join(base, path)
  mkdirSync(at('inside/deep'), { recursive: true })
  mkdirSync(at('outside'))
  writeFileSync(at('inside/file'), '')
  symlinkSync('../outside', at('inside/out'))
  symlinkSync('../outside/not-yet', at('inside/dangling'))
  symlinkSync('loop', at('inside/loop'))
  afterAll(() => rmSync(base, { recursive: true, force: true }))

  it.each([
    ['inside/file', 'inside/file', 'a file'],
    ['inside/new/deeper', 'inside/new/deeper', 'what does not exist yet'],
    ['inside/out/new', 'outside/new', 'a new file below a link'],
    ['inside/dangling', 'outside/not-yet', 'a dangling link decides where a write lands'],
    ['inside/deep/../file', 'inside/file', 'dot dot'],
    ['inside/out/../inside/file', 'inside/file', 'dot dot after a link goes up from its target'],
    ['inside/file/below', 'inside/file/below', 'below a file'],
    ['inside/new/../../outside', 'outside', 'dot dot out of what does not exist'],
  ])('%s is %s (%s)', (path, expected) => {
    expect(machineFiles.canonical(`${base}/${path}`)).toBe(at(expected))
  })

  it('does not follow a loop', () => {
    expect(() => machineFiles.canonical(at('inside/loop'))).toThrow(/loop/)
    expect(() => machineFiles.canonical(at('inside/loop/x'))).toThrow(/loop/)
  })
})
