import { describe, expect, it } from 'vitest'
import { plainWord, unknownWord } from '../../shell/words/pieces.ts'
import { parseCommandPattern } from '../command-pattern.ts'
import { namesPackage } from './command-grant.ts'

const span = { start: 0, end: 0 }

function covers(pattern: string, command: string): boolean {
  const parsed = parseCommandPattern(pattern)
  if (!('pattern' in parsed)) throw new Error(parsed.problem)
  const words = command
    .split(' ')
    .map((word) => (word.startsWith('$') ? unknownWord(word, 'variable', span, true) : plainWord(word, span)))
  return namesPackage(parsed.pattern, words)
}

describe('a grant on a runner', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['npx:*',          'npx vitest run',           true,  'a known tool'],
    ['npx:*',          'npx vitest@3 run',         true,  'with a version'],
    ['npx:*',          'npx -y @biomejs/biome x',  true,  'with a scope, behind an option'],
    ['npx:*',          'npx eslint@latest .',      true,  'with a tag'],
    ['npx:*',          'npx @evil/eslint .',       false, 'the name of a tool in somebody else’s scope'],
    ['npx:*',          'npx eslint@npm:evil .',    false, 'another package under the name of a tool'],
    ['npx:*',          'npx eslint@9@npm:evil .',  false, 'the same behind a version'],
    ['npx:*',          'npx eslint@file:evil .',   false, 'a folder under the name of a tool'],
    ['npx:*',          'npx @evil/x@npm:eslint',   false, 'a tool as the version of another'],
    ['uvx:*',          'uvx evil',                 false, 'as `uv tool run evil`'],
    ['uv tool run:*',  'uv tool run evil',         false, 'any package'],
    ['uvx ruff:*',     'uvx ruff check',           true,  'the package is named'],
    ['npx:*',          'npx evil',                 false, 'any package'],
    ['npx:*',          'npx $x',                   false, 'a package that is not known'],
    ['npx evil:*',     'npx evil now',             true,  'the package is named'],
    ['npm:*',          'npm x evil',               false, 'the runner behind a broader grant'],
    ['npm:*',          'npm test',                 true,  'not a runner'],
    ['npx:*',          'npx --version',            true,  'no package'],
    ['go run:*',       'go run ./cmd/app',         true,  'code of the project'],
    ['go run:*',       'go run example.com/x@v1',  false, 'code that is fetched'],
    ['pipx run:*',     'pipx run black',           false, 'nothing is of the project'],
  ] as [string, string, boolean, string][])('%s and %s: %s (%s)', (pattern, command, expected) => {
    expect(covers(pattern, command)).toBe(expected)
  })
})
