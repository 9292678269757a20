import { expect, it } from 'vitest'
import type { RanProgram } from '../sandbox/programs.ts'
import { ranPrograms } from './ran-programs.ts'

const program = (pid: number, parent: number, ...words: readonly string[]): RanProgram => ({
  pid,
  parent,
  name: words[0]!,
  words,
})

it('says who started what, by name and by a hash of the words', () => {
  const list = [
    program(2, 1, 'bash', '-c', 'x'),
    program(3, 2, 'npm', 'test'),
    program(3, 2, 'node', '/usr/bin/npm', 'test'),
    program(4, 3, 'sh', './release.sh', 's3cret'),
    program(5, 4, 'git', 'push', 'https://u:s3cret@h/'),
    program(6, 99, 'my secret'),
  ]
  const { list: programs, leftOut } = ranPrograms({ programs: { list, leftOut: 7 } })!
  expect(programs.map(({ name, by }) => [name, by])).toEqual([
    ['bash', undefined],
    ['npm test', 0],
    ['npm test', 1],
    ['release.sh', 2],
    ['git push', 3],
    ['a program', undefined],
  ])
  expect(JSON.stringify(programs)).not.toContain('s3cret')
  expect(programs[4]!.words).toMatch(/^[0-9a-f]{16}$/)
  expect(leftOut).toBe(7)
})

it('says nothing of a run that was not judged', () => {
  expect(ranPrograms({})).toBeNull()
})
