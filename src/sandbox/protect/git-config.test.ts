import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardedKeys, includedFiles, parseGitConfig, repairGitConfig } from './git-config.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-git-config-'))
})
afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

/** What git itself reads from the text; null when it refuses. */
function git(text: string): string[] | null {
  const file = join(folder, 'config')
  writeFileSync(file, Buffer.from(text, 'latin1'))
  try {
    const env = { PATH: process.env.PATH ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' }
    const args = ['config', '-f', file, '--no-includes', '--null', '--list']
    const printed = execFileSync('git', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] })
    return printed.toString('latin1').split('\0').slice(0, -1)
  } catch {
    return null
  }
}

function ours(text: string): string[] | null {
  return parseGitConfig(text)?.map((entry) => `${entry.key}\n${entry.value}`) ?? null
}

// A key without a value is printed by git without one; it means true.
function comparable(lines: string[] | null): string[] | null {
  return lines?.map((line) => (line.includes('\n') ? line : `${line}\ntrue`)) ?? null
}

const texts: readonly [text: string, note: string][] = [
  ['[core]\n\tbare = false\n', 'plain'],
  ['[core]\nbare', 'no value, no newline'],
  ['[core]bare=1', 'on the section line'],
  ['[CORE] FSMonitor = x', 'upper case'],
  ['[a "B c"]\n\tD = e\n', 'a subsection keeps its case'],
  ['[a "b\\"c\\\\d"]\nx=1\n', 'escapes in a subsection'],
  ['[a.B]\nx=1\n', 'the old form folds case'],
  ['[a]\nx = "  y  " z \n', 'quotes keep spaces'],
  ['[a]\nx = y # comment\nz = "#" ; c\n', 'comments'],
  ['[a]\nx = one \\\n  two\n', 'a continued line'],
  ['[a]\nx = "one \\\ntwo"\n', 'continued inside quotes'],
  ['[a]\nx = one  \\\n\n', 'blanks before a line that is continued by nothing'],
  ['[a]\nx = one  \\\n  ', 'the same at the end'],
  ['[a]\nx = \\t\\n\\b\\"\\\\\n', 'escapes'],
  ['[a]\nx = \\q\n', 'an unknown escape'],
  ['[a]\nx = "open\n', 'an open quote'],
  ['[a\nx = 1\n', 'an open section'],
  ['x = 1\n', 'no section'],
  ['[a]\n1x = 1\n', 'a bad name'],
  ['[a]\nx y = 1\n', 'a name with a space'],
  ['[a]\r\nx = 1\r\n[b]\r\ny\r\n', 'carriage returns'],
  ['[a]\nx = 1\ry\n', 'a lone carriage return'],
  ['\u00ef\u00bb\u00bf[a]\nx = 1\n', 'a byte order mark'],
  ['[a]\nx =\n', 'an empty value'],
  ['[a]\nx = \n\n; c\n# d\n[b]\ny = \u00e4\u00a0\n', 'bytes beyond ASCII'],
  ['', 'nothing'],
  ['# only a comment', ''],
]

test.each(texts)('%j is read as git reads it (%s)', (text) => {
  expect(ours(text)?.map(squeeze)).toEqual(comparable(git(text))?.map(squeeze))
})

test('whatever is written, git never sees a key that this reader misses', () => {
  const piece = fc.constantFrom(
    ...[
      '[core]',
      '[a "b"]',
      '[a.b]',
      '[',
      ']',
      '\n',
      '\r\n',
      '\t',
      ' ',
      '=',
      '"',
      '\\',
      '#',
      ';',
      'x',
      'fsmonitor',
      'Y1',
      '-',
    ],
    ...['\\n', '\\\n', 'true', '\u00a0', '\v', '.', '"b"', '[include]', 'path'],
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
      const text = pieces.join('')
      const expected = comparable(git(text))
      // Stricter than git is fine: what cannot be read is restored as a whole.
      const found = ours(text)
      if (found !== null && expected !== null) expect(found.map(squeeze)).toEqual(expected.map(squeeze))
    }),
    { numRuns: 150 },
  )
})

// How blanks inside a value count changed between versions of git.
function squeeze(line: string): string {
  return line.replace(/[ \t\r]+/g, ' ')
}

describe('repair', () => {
  const guarded = guardedKeys('/p/.git', ['/p'], ['example.com', '*.example.org'], posix.normalize)
  const base = '[core]\n\tbare = false\n'

  const repairs: readonly [string, string, readonly string[], readonly string[], string][] = [
    [base, `${base}[user]\n\tname = a\n`, [], [], 'ordinary keys stay'],
    [base, `${base}\tpager = evil\n`, ['core.pager'], [], 'an added key goes'],
    [base, `[core] pager = evil\n${base}`, ['core.pager'], [], 'from the section line too'],
    [`${base}\teditor = vim\n`, `${base}\teditor = evil\n`, ['core.editor'], [], 'a changed value returns'],
    [`${base}\teditor = vim\n`, base, [], ['core.editor'], 'a missing one returns'],
    [base, `${base}\tworktree = ../sub\n`, [], [], 'a work tree inside the project'],
    [base, `${base}\tworktree = /etc\n`, ['core.worktree'], [], 'a work tree elsewhere'],
    [base, `${base}\tworktree = ../a/../sub\n`, ['core.worktree'], [], 'what a later link of that name would change'],
    [base, `${base}[remote "o"]\n\turl = https://example.com/a\n`, [], [], 'a granted host'],
    [base, `${base}[remote "o"]\n\turl = https://a.example.org/a\n`, [], [], 'a host of a granted domain'],
    [base, `${base}[remote "o"]\n\turl = https://evil.example/a\n`, ['remote.o.url'], [], 'a host that nobody granted'],
    [
      '[remote "o"]\n\turl = https://evil.example/a\n',
      '[remote "o"]\n\turl = https://evil.example/a\n[remote "p"]\n\turl = https://evil.example/b\n',
      [],
      [],
      'a host that was there before',
    ],
    ['', '[alias]\n\tst = !evil\n', ['alias.st'], [], 'a new file'],
    [
      '[credential]\nhelper = a\nhelper = b\n',
      '[credential]\nhelper = b\nhelper = a\n',
      ['credential.helper'],
      [],
      'order counts',
    ],
  ]

  test.each(repairs)('%j to %j reverts %j, restores %j (%s)', (before, after, reverted, restored) => {
    const repair = repairGitConfig(before, after, guarded)
    expect(repair).toMatchObject({ reverted, restored })
    const isGuarded = guarded(parseGitConfig(before)!)
    const entries = (text: string) => parseGitConfig(text)!.filter((entry) => isGuarded(entry.key, entry.value))
    const values = (text: string) => entries(text).map((entry) => [entry.key, entry.value])
    expect(values(repair!.text)).toEqual(values(before))
    expect(git(repair!.text)).not.toBeNull()
  })

  test('a section that goes as a whole takes its keys along, one that stays does not', () => {
    const before = '[remote "o"]\n\turl = ../a\n\tpushurl = no-push\n'
    expect(repairGitConfig(before, '', guarded)).toMatchObject({ text: '', reverted: [], restored: [] })
    const after = '[remote "o"]\n\turl = ../a\n'
    expect(repairGitConfig(before, after, guarded)).toMatchObject({ restored: ['remote.o.pushurl'] })
  })

  test('a million entries are read and repaired in one go', () => {
    const many = `[a]\n${'x=1\n'.repeat(1_000_000)}`
    expect(repairGitConfig(base, many, guarded)).toMatchObject({ text: '[a]\n', reverted: ['a.x'] })
  })

  test('a text that cannot be read with certainty is not repaired', () => {
    expect(repairGitConfig(base, '[core\n', guarded)).toBeNull()
  })

  test('values survive being written again', () => {
    const value = fc.string({ maxLength: 20, unit: 'binary-ascii' }).filter((text) => !/[\0\r\v\f]/.test(text))
    fc.assert(
      fc.property(value, (text) => {
        const before = `[core]\n\taskpass = "${text.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replaceAll('\b', '\\b')}"\n`
        const repair = repairGitConfig(before, '', guarded)
        expect(parseGitConfig(repair!.text)?.map((entry) => entry.value)).toEqual([text])
      }),
    )
  })

  test('includes are found whatever their condition', () => {
    const text = '[include]\npath = a\n[includeIf "gitdir:/x/"]\npath = ~/b\n[other]\npath = c\n'
    expect(includedFiles(text, '/p/.git', '/home/u')).toEqual(['/p/.git/a', '/home/u/b'])
  })
})
