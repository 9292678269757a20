import { describe, expect, it } from 'vitest'
import { Fault } from '../../system/fault.ts'
import { InputError } from '../tool.ts'
import { openLineSearch } from './grep.ts'

const quiet = { ignoreCase: false, timeoutMs: 240_000, signal: new AbortController().signal }

async function find(pattern: string, text: string, ignoreCase = false) {
  const search = openLineSearch(pattern, { ...quiet, ignoreCase })
  try {
    return (await search.search(text, 100)).map(({ line, column }) => [line, column])
  } finally {
    await search.close()
  }
}

describe('matching lines', () => {
  const rows: readonly [note: string, pattern: string, text: string, found: number[][]][] = [
    [
      'a word',
      'two',
      'one\ntwo\nthree two\n',
      [
        [2, 0],
        [3, 6],
      ],
    ],
    [
      'repetition, in a worker',
      't\\w+o',
      'one\ntwo\ntoo\n',
      [
        [2, 0],
        [3, 0],
      ],
    ],
    ['anchors are those of the line', '^b$', 'a\nb\nbb', [[2, 0]]],
    ['a carriage return is not part of the line', 'b$', 'a\r\nb\r\n', [[2, 0]]],
    ['nothing crosses a line', 'a\\s*b', 'a\nb', []],
    ['look-ahead sees its line only', 'foo(?!\\s*bar)', 'foo\nbar', [[1, 0]]],
    ['case by a leading (?i)', '(?i)TWO', 'two', [[1, 0]]],
    ['characters beyond 16 bits', '😀{2}', 'x😀😀', [[1, 1]]],
    ['an expression that only loose syntax knows', '\\-a{', 'x-a{', [[1, 1]]],
    ['an empty text has no lines', '$', '', []],
  ]
  it.each(rows)('%s', async (_note, pattern, text, found) => {
    expect(await find(pattern, text)).toEqual(found)
  })

  it('takes upper and lower case for one when asked to', async () => {
    expect(await find('two', 'TWO', true)).toEqual([[1, 0]])
  })

  it('stops at its limit', async () => {
    const search = openLineSearch('x', quiet)
    expect(await search.search('x\n'.repeat(50), 3)).toHaveLength(3)
    await search.close()
  })
})

describe('expressions that never end', () => {
  const text = `${'a'.repeat(60)}!`

  it('are ended when their time is up', async () => {
    const search = openLineSearch('^(a+)+$', { ...quiet, timeoutMs: 300 })
    await expect(search.search(text, 1)).rejects.toMatchObject({ code: 'search-timeout' })
    await expect(search.search('later', 1)).rejects.toBeInstanceOf(Fault)
    await search.close()
  })

  it('are ended also when they repeat without a sign of repetition', async () => {
    const search = openLineSearch(`${'(a|a)'.repeat(40)}b`, { ...quiet, timeoutMs: 300 })
    await expect(search.search('a'.repeat(60), 1)).rejects.toMatchObject({ code: 'search-timeout' })
    await search.close()
  })

  it('are ended when the call is cancelled', async () => {
    const controller = new AbortController()
    const search = openLineSearch('^(a+)+$', { ...quiet, signal: controller.signal })
    const found = search.search(text, 1)
    setTimeout(() => controller.abort(new Error('cancelled')), 50)
    await expect(found).rejects.toThrow('cancelled')
    await search.close()
  })
})

it.each(['', '(', '[', 'x'.repeat(5000), '(?<a'])('%j is refused', (pattern) => {
  expect(() => openLineSearch(pattern, quiet)).toThrow(InputError)
})
