import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isIgnored, parseIgnoreFile } from '../files/tree.ts'
import { InputError } from '../tool.ts'
import { parseGlob } from './glob.ts'

describe('globs', () => {
  const rows: readonly [pattern: string, path: string, matches: boolean, note: string][] = [
    ['*.ts', 'a.ts', true, 'one level'],
    ['*.ts', 'src/a.ts', false, 'one level only'],
    ['**/*.ts', 'a.ts', true, '** is also none'],
    ['**/*.ts', 'x/y/a.ts', true, '** is any depth'],
    ['src/**', 'src/a/b', true, '** at the end'],
    ['*.{ts,tsx}', 'a.tsx', true, 'alternatives'],
    ['{a,b}/{c,d}', 'b/c', true, 'alternatives twice'],
    ['app/[id]/page.tsx', 'app/[id]/page.tsx', true, 'brackets are names'],
    ['?.ts', 'ä.ts', true, 'one character'],
    ['./a', 'a', true, 'a dot means here'],
    ['{a}', '{a}', true, 'braces without a comma are names'],
  ]
  it.each(rows)('%s and %s: %s (%s)', (pattern, path, matches) => {
    expect(parseGlob(pattern).matches(path)).toBe(matches)
  })

  it.each([
    ['src/*.ts', 'src', true],
    ['src/*.ts', 'test', false],
    ['src/*.ts', 'src/deep', false],
    ['**/x', 'any/where', true],
    ['a/**/b', 'a/c/d', true],
    ['a/**/b', 'c', false],
    ['a/**/b', 'a', true],
    ['{a,b}/x', 'b', true],
  ])('%s descends into %s: %s', (pattern, directory, descends) => {
    expect(parseGlob(pattern).leadsInto(directory)).toBe(descends)
  })

  it('of one name match at any depth where they filter', () => {
    expect(parseGlob('*.ts', { floating: true }).matches('x/y/a.ts')).toBe(true)
    expect(parseGlob('x/*.ts', { floating: true }).matches('y/x/a.ts')).toBe(false)
  })

  it.each(['', '/etc/*', '../*', 'a/../../b', 'x'.repeat(2000), '{a,b}'.repeat(10), '.'])(
    '%j is refused',
    (pattern) => {
      expect(() => parseGlob(pattern)).toThrow(InputError)
    },
  )
})

describe('.gitignore', () => {
  const rules = [parseIgnoreFile('# note\nnode_modules/\n*.log\n!keep.log\n/build\ndocs/*.pdf\n\\#odd\n', '')]
  const rows: readonly [path: string, directory: boolean, ignored: boolean, note: string][] = [
    ['node_modules', true, true, 'a directory'],
    ['a/node_modules', true, true, 'at any depth'],
    ['node_modules', false, false, 'directories only'],
    ['a/b.log', false, true, 'a name at any depth'],
    ['keep.log', false, false, 'negated'],
    ['build', true, true, 'anchored'],
    ['a/build', true, false, 'anchored at the top only'],
    ['docs/a.pdf', false, true, 'with a slash'],
    ['a/docs/a.pdf', false, false, 'with a slash it is anchored'],
    ['#odd', false, true, 'escaped'],
  ]
  it.each(rows)('%s (directory: %s) ignored: %s (%s)', (path, directory, ignored) => {
    expect(isIgnored(rules, path, directory)).toBe(ignored)
  })

  it('says what git says', () => {
    const lines = [
      '*.log',
      '!keep.log',
      '/build',
      'docs/*.pdf',
      'a/**/z',
      'tmp/',
      '**/deep',
      '\\!bang',
      'tr\\ ',
      '[ab].c',
      'x?y',
    ]
    const paths = [
      ...[
        'a.log',
        'keep.log',
        'sub/keep.log',
        'build/x',
        'sub/build/x',
        'docs/a.pdf',
        'docs/b/a.pdf',
        'a/z/1',
        'a/b/c/z/1',
      ],
      ...['tmp/x', 'sub/tmp/x', 'deep/1', 'q/deep/1', '!bang', 'a.c', 'c.c', 'xzy', 'x/y', 'plain'],
    ]
    const base = mkdtempSync(join(tmpdir(), 'cordon-ignore-'))
    try {
      const git = (args: string[], input = '') => spawnSync('git', args, { cwd: base, input, encoding: 'utf8' })
      git(['init', '-q'])
      writeFileSync(join(base, '.gitignore'), lines.join('\n'))
      for (const path of paths) {
        mkdirSync(join(base, dirname(path)), { recursive: true })
        writeFileSync(join(base, path), '')
      }
      const said = git(['check-ignore', '--stdin', '--no-index'], paths.join('\n')).stdout.split('\n').filter(Boolean)
      const files = [parseIgnoreFile(lines.join('\n'), '')]
      const found = paths.filter((path) => isIgnored(files, path, false))
      expect(said.length).toBeGreaterThan(8)
      expect(found).toEqual(said)
    } finally {
      rmSync(base, { recursive: true })
    }
  })

  it('below the top applies below its own directory', () => {
    const below = [parseIgnoreFile('*.tmp\n/out', 'sub/')]
    expect(isIgnored(below, 'sub/x/a.tmp', false)).toBe(true)
    expect(isIgnored(below, 'a.tmp', false)).toBe(false)
    expect(isIgnored(below, 'sub/out', true)).toBe(true)
  })
})
