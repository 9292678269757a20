import { expect, test } from 'vitest'
import { judgeSequence, sequenceFiles } from './baseline.ts'

const TODO = '/p/.git/rebase-merge/git-rebase-todo'
const STRATEGY = '/p/.git/rebase-merge/strategy'
const OPTS = '/p/.git/sequencer/opts'

const rows: readonly [
  note: string,
  file: string,
  before: string | null,
  now: string,
  verdict: ReturnType<typeof judgeSequence>,
][] = [
  ['picks run nothing', TODO, null, 'pick 1 one\nfixup 2 two\n', null],
  ['a command', TODO, null, 'pick 1 one\nexec make\npick 2 two\n', 'pick 1 one\npick 2 two\n'],
  ['its short name', TODO, null, 'x make\n', ''],
  ['indented, with a tab after it', TODO, null, ' \tx\tmake\npick 1 one\n', 'pick 1 one\n'],
  ['no other word that starts so', TODO, null, 'pick 1 exec\nxx make\nexecute\n', null],
  ['what a person wrote before stays', TODO, 'exec make\npick 1 one\n', 'exec make\n', null],
  ['and nothing beside it', TODO, 'exec make\n', 'exec make\nexec evil\n', 'exec make\n'],
  ['a strategy of git', STRATEGY, null, 'ort\n', null],
  ['a path as one', STRATEGY, null, 'x/evil', 'aside'],
  ['one that was there', STRATEGY, 'mine', 'mine', null],
  ['options without one', OPTS, null, '[options]\n\tsignoff = true\n', null],
  ['options with one of git', OPTS, null, '[options]\n\tstrategy = resolve\n', null],
  ['options with a path', OPTS, null, '[Options]\n\tStrategy = "x/evil"\n', 'aside'],
  ['options that git would not read', OPTS, null, '[options\n', 'aside'],
]

test.each(rows)('%s', (_, file, before, now, verdict) => {
  expect(judgeSequence(file, before, now)).toBe(verdict)
})

test('the files of a git directory', () => {
  expect(sequenceFiles('/p/.git')).toEqual([TODO, STRATEGY, OPTS])
})
