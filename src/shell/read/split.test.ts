import { describe, expect, it } from 'vitest'
import { splitText } from './split.ts'

describe('texts that come to the same part by part', () => {
  it.each([
    ['a list', 'git fetch; npm test', ['git fetch', 'npm test']],
    ['conditions', 'a && b || c', ['a', '+b', '-c']],
    ['lines', 'a\nb', ['a', 'b']],
    ['a pipeline is one part', 'git log | head -3; npm test', ['git log | head -3', 'npm test']],
    ['a directory', 'cd sub && npm ci && npm test', ['>cd sub', '+npm ci', '+npm test']],
    ['variables of one command', 'A=1 git fetch; B=2 npm test', ['A=1 git fetch', 'B=2 npm test']],
    ['files of the project', 'git log > log.txt; sh x.sh < log.txt', ['git log > log.txt', 'sh x.sh < log.txt']],
  ])('%s', (_, text, expected) => {
    const mark = { always: '', success: '+', failure: '-' }
    const parts = splitText(text)?.map((part) => `${part.moves ? '>' : ''}${mark[part.when]}${part.text}`)
    expect(parts).toEqual(expected)
  })
})

describe('texts that may not', () => {
  it.each([
    ['one command', 'git fetch'],
    ['a variable of the shell', 'X=1; git fetch'],
    ['an export', 'export X=1; git fetch'],
    ['a status', 'git fetch; echo $?'],
    ['the background', 'npm start & git fetch'],
    ['a loop', 'for i in 1 2; do git fetch; done; npm test'],
    ['a subshell', '(git fetch); npm test'],
    ['a function', 'f() { git fetch; }; f'],
    ['settings of the shell', 'set -e; git fetch; npm test'],
    ['an end', 'git fetch || exit 1; npm test'],
    ['a here-document', 'cat <<E; npm test\nx\nE'],
    ['a temporary file', 'git archive HEAD -o /tmp/x.tar; sh x.sh'],
    ['the home directory', 'git -C ~/x fetch; npm test'],
    ['a negation', '! git fetch; npm test'],
    ['a directory that is not written out', 'cd "$D"; npm test'],
    ['the last directory', 'cd -; npm test'],
    ['a text that is broken', 'git fetch; "'],
    ['what bash evaluates', 'eval "git fetch"; npm test'],
  ])('%s', (_, text) => expect(splitText(text)).toBeNull())
})
