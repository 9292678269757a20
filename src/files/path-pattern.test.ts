import { describe, expect, it } from 'vitest'
import { containsPattern, coversPath, namesPath, parsePathPattern, reachesPath } from './path-pattern.ts'

const parse = (text: string, files: readonly string[] | null = null) => {
  const parsed = parsePathPattern(text, { root: '/p', home: '/home/u', files })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return parsed.pattern
}

describe('coversPath: what a grant covers', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    // pattern        files          path                 covered  note
    ['src/**',        null,          '/p/src/a/b.ts',     true,  '** is any depth'],
    ['src/**',        null,          '/p/src',            true,  'and none'],
    ['src/**',        null,          '/p/srcx/a',         false, 'whole segments only'],
    ['**',            null,          '/p/.env',           true,  'dot files are files'],
    ['**',            null,          '/q/a',              false, 'under the root only'],
    ['src/*.ts',      null,          '/p/src/a.ts',       true,  '* is one level'],
    ['src/*.ts',      null,          '/p/src/a/b.ts',     false, ''],
    ['src/*',         null,          '/p/src/a/b',        false, 'not two levels'],
    ['src/?.ts',      null,          '/p/src/a.ts',       true,  '? is one character'],
    ['src/?.ts',      null,          '/p/src/😀.ts',      true,  'also one outside the BMP'],
    ['src/?.ts',      null,          '/p/src/ab.ts',      false, ''],
    ['SRC/**',        null,          '/p/src/a',          false, 'case counts'],
    ['README.md',     null,          '/p/README.md',      true,  'a literal names its file'],
    ['README.md',     ['*.ts'],      '/p/README.md',      true,  'also beside default_files'],
    ['src',           null,          '/p/src/a.ts',       true,  'or the files directly in it'],
    ['src',           null,          '/p/src/a/b.ts',     false, 'but not deeper'],
    ['.',             ['.env'],      '/p/.env',           true,  ''],
    ['.',             ['.env'],      '/p/a/.env',         false, ''],
    ['**',            ['*.ts'],      '/p/a/b.ts',         true,  ''],
    ['**',            ['*.ts'],      '/p/a/b.js',         false, ''],
    ['~/notes/**',    null,          '/home/u/notes/a',   true,  '~/ is the home directory'],
    ['/opt/x/**',     null,          '/opt/x/y',          true,  'absolute'],
    ['../q/**',       null,          '/q/a',              true,  '.. is resolved at load'],
    ['a/**/z',        null,          '/p/a/z',            true,  ''],
    ['a/**/z',        null,          '/p/a/b/c/z',        true,  ''],
  ] as [string, readonly string[] | null, string, boolean, string][])('%s %j covers %s: %s (%s)', (text, files, path, covered) => {
    expect(coversPath(parse(text, files), path)).toBe(covered)
  })
})

describe('reachesPath: what a denial reaches', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['secrets',       null,          '/p/secrets/a/b',    true,  'everything below'],
    ['secrets/*',     null,          '/p/secrets/a/b/c',  true,  'also below a one-level match'],
    ['**',            ['*.sqlite'],  '/p/a/x.sqlite',     true,  ''],
    ['**',            ['*.sqlite'],  '/p/x.sqlite/wal',   true,  'a directory of that name'],
    ['secrets',       null,          '/p/secrets2',       false, ''],
    ['src',           ['*.key'],     '/p/src/a.key',      true,  'a file of that name in it'],
    ['src',           ['*.key'],     '/p/src/a.ts',       false, 'another file in it'],
    ['src',           ['*.key'],     '/p/src/a.key/b',    true,  'below a directory of that name'],
    ['src',           ['*.key'],     '/p/src',            true,  'the directory, with all that is in it'],
  ] as [string, readonly string[] | null, string, boolean, string][])('%s %j reaches %s: %s (%s)', (text, files, path, reached) => {
    expect(reachesPath(parse(text, files), path)).toBe(reached)
  })
})

describe('namesPath', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['.',    ['.env'],      '/p/.env',  true,  'the basename is written out'],
    ['**',   ['*'],         '/p/.env',  false, 'a catch-all names nothing'],
    ['**',   null,          '/p/.env',  false, ''],
    ['.env', null,          '/p/.env',  true,  ''],
    ['**',   ['*.key'],     '/p/a.key', true,  'an extension is a name'],
  ] as [string, readonly string[] | null, string, boolean, string][])('%s %j names %s: %s (%s)', (text, files, path, named) => {
    expect(namesPath(parse(text, files), path)).toBe(named)
  })
})

it('sees plain containment', () => {
  expect(containsPattern(parse('src/**'), parse('src/a/**'))).toBe(true)
  expect(containsPattern(parse('src/a/**'), parse('src/**'))).toBe(false)
})

describe('parsePathPattern refuses', () => {
  it.each([
    ['', 'empty'],
    ['a**', '** inside a segment'],
    ['{a,b}', 'braces'],
    ['[ab]', 'brackets'],
    ['!src', 'negation'],
    ['~bob/x', 'another home'],
    ['a\nb', 'a newline'],
    ['x'.repeat(2000), 'too long'],
    ['**/**/**/**/**/x', 'many **'],
  ])('%j (%s)', (text) => {
    expect(parsePathPattern(text, { root: '/p', home: '/h', files: null })).toHaveProperty('problem')
  })

  it('a file pattern with a slash', () => {
    expect(parsePathPattern('src', { root: '/p', home: '/h', files: ['a/b'] })).toHaveProperty('problem')
  })
})
