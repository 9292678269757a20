/** Only a `cd` that is certain to be reached, in the host's own shell, moves it. */

import { describe, expect, it } from 'vitest'
import { analyze } from '../../shell/walk/analyze.ts'
import type { Files } from '../../system/files.ts'
import { directoryAfter } from './answer-hook.ts'

const DIRECTORIES = new Set(['/p', '/p/src', '/p/src/deep', '/p/a b', '/other'])
const files = {
  canonical: (path: string) => path.replace('/p/link', '/other'),
  isDirectory: (path: string) => DIRECTORIES.has(path),
} as Files

function leftIn(command: string, cwd = '/p'): string | null {
  const analysis = analyze(command, { cwd, home: '/home/u' })
  return directoryAfter('facts' in analysis ? analysis.facts : null, { cwd, root: '/p', files })
}

describe('moves', () => {
  it.each([
    ['cd src', '/p/src'],
    ['  cd src', '/p/src'],
    ['cd src && npm test', '/p/src'],
    ['cd src; ls', '/p/src'],
    ['cd src\nls', '/p/src'],
    ['cd src/deep && ls | wc -l', '/p/src/deep'],
    ["cd 'a b'", '/p/a b'],
    ['cd /p/src && (ls)', '/p/src'],
  ])('%j -> %s', (command, expected) => {
    expect(leftIn(command)).toBe(expected)
  })
  it('goes up again', () => {
    expect(leftIn('cd ..', '/p/src')).toBe('/p')
  })
})

describe('does not move', () => {
  it.each([
    ['npm test', 'no cd'],
    ['ls && cd src', 'one that may not be reached'],
    ['(cd src && ls)', 'a subshell'],
    ['cd src | cat', 'a pipeline'],
    ['cd src & ls', 'in the background'],
    ['cd src || ls', 'an alternative'],
    ['cd src && cd deep', 'twice'],
    ['cd src && pushd deep', 'twice by another name'],
    ['cd $x', 'unknown'],
    ['cd -', 'back'],
    ['cd', 'home'],
    ['cd missing', 'not there'],
    ['cd /other', 'outside'],
    ['cd link', 'outside by a link'],
    ['cd ../p', 'the same place'],
    ['CDPATH=/ cd src', 'with an assignment'],
    ['cd src > out', 'with a redirect'],
    ['bash -c "cd src"', 'another shell’s'],
    ['if true; then cd src; fi', 'inside a compound command'],
    ['cd src (', 'no command at all'],
  ])('%j (%s)', (command) => {
    expect(leftIn(command)).toBeNull()
  })
})
