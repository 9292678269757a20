import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ChunkLoader } from './code-cache.ts'

/** A file of one chunk, as the build writes it. */
function chunk(name: string, code: string): string {
  return `({"./${name}":function(exports,require,module,__filename,__dirname){${code}\n}})`
}

describe('the chunk loader', () => {
  let base: string
  let cache: string
  let options: string | undefined
  let execArgv: string[]

  beforeEach(() => {
    options = process.env.NODE_OPTIONS
    // A test runner starts its workers with its own options, and those runs do not learn.
    delete process.env.NODE_OPTIONS
    execArgv = process.execArgv.splice(0)
    base = mkdtempSync(join(tmpdir(), 'cordon-chunks-'))
    cache = join(base, 'cache')
    mkdirSync(join(base, 'chunks'))
    write('main.cjs', 'exports.answer = () => require("./part.cjs").double(21); exports.path = require("node:path")')
    write('part.cjs', 'exports.double = (n) => n * 2')
  })
  afterEach(() => {
    delete process.env.NODE_OPTIONS
    if (options !== undefined) process.env.NODE_OPTIONS = options
    process.execArgv.push(...execArgv)
    rmSync(base, { recursive: true, force: true })
  })

  function write(name: string, code: string): void {
    writeFileSync(join(base, 'chunks', name), chunk(name, code))
  }

  function run(command = 'check'): number {
    const loader = new ChunkLoader(join(base, 'chunks'), cache, command, (name) => process.getBuiltinModule(name))
    const { answer } = loader.load('./main.cjs') as { answer: () => number }
    const result = answer()
    loader.remember()
    return result
  }

  const kept = (file: string): Buffer => readFileSync(join(cache, file))

  test('chunks load each other, and built-in modules by their names', () => {
    const loader = new ChunkLoader(join(base, 'chunks'), cache, 'check', (name) => process.getBuiltinModule(name))
    const main = loader.load('./main.cjs') as { path: unknown }
    expect(main.path).toBe(process.getBuiltinModule('node:path'))
    expect(loader.load('./main.cjs')).toBe(main)
  })

  test('a command keeps what its first runs compiled, and then only reads it', () => {
    for (let at = 1; at <= 22; at++) {
      expect(run()).toBe(42)
      expect(kept('main.cjs.check').at(-1)).toBe(Math.min(at, 20))
    }
    expect(readdirSync(cache).sort()).toEqual(['main.cjs.check', 'part.cjs.check'])
  })

  test('commands do not share what they keep', () => {
    run('check')
    run('run')
    expect(readdirSync(cache)).toContain('part.cjs.run')
  })

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(4096)],
    ['text', Buffer.from('not code at all')],
  ])('a cache of %s is replaced, and the answer stays', (_, bytes) => {
    run()
    for (const file of readdirSync(cache)) writeFileSync(join(cache, file), bytes)
    expect(run()).toBe(42)
    expect(kept('main.cjs.check').at(-1)).toBe(1)
  })

  test('half a cache is refused, and the answer stays', () => {
    run()
    for (const file of readdirSync(cache)) writeFileSync(join(cache, file), kept(file).subarray(0, 200))
    expect(run()).toBe(42)
  })

  test('where nothing can be written, it works all the same', () => {
    writeFileSync(cache, 'a file instead of the directory')
    expect(run()).toBe(42)
  })

  test('a run with options of Node replaces nothing', () => {
    process.env.NODE_OPTIONS = '--no-warnings'
    expect(run()).toBe(42)
    expect(() => readdirSync(cache)).toThrow('ENOENT')
  })
})
