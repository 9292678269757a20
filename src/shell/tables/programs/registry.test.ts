/** The tables are well-formed: every name once, every role known, every line an option. */

import { describe, expect, test } from 'vitest'
import { compileSpec, roles, type Spec } from '../spec.ts'
import { findProgram, listPrograms, programName } from './registry.ts'

function* specsOf(path: string, spec: Spec): Generator<readonly [string, Spec]> {
  yield [path, spec]
  for (const [name, sub] of Object.entries(spec.subcommands ?? {})) yield* specsOf(`${path} ${name}`, sub)
  if (spec.otherwise !== undefined) yield* specsOf(`${path} …`, spec.otherwise)
}

const all = listPrograms().flatMap(([name, spec]) => [...specsOf(name, spec)])

describe('the program tables', () => {
  test('list every program once', () => {
    const names = listPrograms().map(([name]) => name)
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('name only roles that exist', () => {
    const unknown = all.flatMap(([path, spec]) => {
      const { rows, operands, operandsWith } = compileSpec(spec)
      const written = [operands, ...operandsWith.map(([, other]) => other)]
      const used = written.flatMap(({ head, repeat, tail }) => [...head, ...(repeat === null ? [] : [repeat]), ...tail])
      const named = [...[...rows.values()].map((row) => row.role), ...used, ...(spec.always ? [spec.always[0]] : [])]
      return named.filter((role) => !Object.hasOwn(roles, role)).map((role) => `${path}: ${role}`)
    })
    expect(unknown).toEqual([])
  })

  test('look at the words of a wrapper that has its own effect', () => {
    const blind = listPrograms().filter(
      ([, { effects, verbs, wraps = [] }]) =>
        (effects !== undefined || verbs !== undefined) &&
        wraps.some(({ sub, inspect }) => sub === undefined && !inspect),
    )
    expect(blind.map(([name]) => name)).toEqual([])
  })

  test('start every name of an option with a dash or a plus', () => {
    const odd = all.flatMap(([path, spec]) =>
      [...compileSpec(spec).rows.keys()].filter((name) => !/^[-+]/.test(name)).map((name) => `${path}: ${name}`),
    )
    expect(odd).toEqual([])
  })

  test('refer in `operandsWith` and `ends` only to first names of rows', () => {
    const missing = all.flatMap(([path, spec]) => {
      const { rows } = compileSpec(spec)
      const names = [...Object.keys(spec.operandsWith ?? {}), spec.ends ?? ''].join(' ').split(' ').filter(Boolean)
      return names
        .filter((name) => rows.get(name) !== undefined && rows.get(name)?.name !== name)
        .map((name) => `${path}: ${name}`)
    })
    expect(missing).toEqual([])
  })
})

describe('program names', () => {
  test.each([
    ['/usr/bin/git', 'git'],
    ['./gradlew', 'gradlew'],
    ['python3.11', 'python'],
    ['gcc-12', 'gcc'],
    ['clang++-15', 'clang++'],
    ['x86_64-linux-gnu-gcc', 'gcc'],
    ['aarch64-linux-gnu-g++-12', 'g++'],
    ['pip3.11', 'pip'],
    ['mkfs.ext4', 'mkfs.ext4'],
    ['7z', '7z'],
    ['mytool2', 'mytool2'],
    ['git.exe', 'git'],
  ])('%s is %s', (written, expected) => expect(programName(written)).toBe(expected))
  test('an unknown program has no row', () => expect(findProgram('mytool')).toBeNull())
  test('names of object prototypes are not programs', () => expect(findProgram('constructor')).toBeNull())
})
