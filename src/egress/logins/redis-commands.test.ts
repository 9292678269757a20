import { describe, expect, it } from 'vitest'
import { readCommand, writeCommand } from './redis-commands.ts'

const list = '*3\r\n$4\r\nAUTH\r\n$3\r\nada\r\n$5\r\na\r\nbc\r\n'

describe('commands', () => {
  it('are read whole, and not before', () => {
    for (let end = 1; end < list.length; end++) expect(readCommand(Buffer.from(list.slice(0, end)))).toBeNull()
    expect(readCommand(Buffer.from(`${list}PING`))).toEqual({ words: ['AUTH', 'ada', 'a\r\nbc'], used: list.length })
    expect(readCommand(Buffer.from('auth x\r\nPING'))).toEqual({ words: ['auth', 'x'], used: 8 })
  })

  it('are written as they were read', () => {
    expect(writeCommand(['AUTH', 'ada', 'a\r\nbc']).toString()).toBe(list)
  })

  it.each([
    ['a length that is none', '*x\r\n'],
    ['a negative length', '*1\r\n$-1\r\n'],
    ['a text that is no text', '*1\r\n:4\r\nAUTH\r\n'],
    ['a text that is longer than it says', '*1\r\n$3\r\nAUTH\r\n'],
    ['a list without an end', '*99999\r\n'],
    ['quotes', 'AUTH "x"\r\n'],
    ['a line without an end', 'x'.repeat(70_000)],
  ])('%s is a problem', (_, text) => expect(readCommand(Buffer.from(text))).toHaveProperty('problem'))
})
