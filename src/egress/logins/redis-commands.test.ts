import { describe, expect, it } from 'vitest'
import { commandsThrough, readCommand, writeCommand } from './redis-commands.ts'

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
    ['an invalid length', '*x\r\n'],
    ['a negative length', '*1\r\n$-1\r\n'],
    ['a text that is a number', '*1\r\n:4\r\nAUTH\r\n'],
    ['a text that is longer than it says', '*1\r\n$3\r\nAUTH\r\n'],
    ['a list without an end', '*99999\r\n'],
    ['quotes', 'AUTH "x"\r\n'],
    ['a line without an end', 'x'.repeat(70_000)],
  ])('%s is a problem', (_, text) => expect(readCommand(Buffer.from(text))).toHaveProperty('problem'))
})

describe('what a client says', () => {
  const through = () =>
    commandsThrough(
      new Set(['AUTH', 'HELLO']),
      (words) => Buffer.from(`<${words.join(' ')}>`),
      (problem) => new Error(problem),
    )
  const said = [
    writeCommand(['PING']),
    writeCommand(['auth', 'x']),
    writeCommand(['SET', 'AUTH', 'AUTH y\r\n*2\r\n$4\r\nAUTH\r\n']),
    Buffer.from('*0\r\n'),
    Buffer.from('GET AUTH\r\n\r\nAuth z\r\n'),
    writeCommand(['MSET', ...Array.from({ length: 3_000 }, (_, at) => `w${at}`)]),
    writeCommand(['', 'AUTH']),
    writeCommand(['Hello', '3']),
    writeCommand(['SET', 'k', 'v'.repeat(200_000)]),
    writeCommand(['AUTH', 'late']),
  ]
  const expected = said
    .map((one) => one.toString('latin1'))
    .join('')
    .replaceAll(writeCommand(['auth', 'x']).toString(), '<auth x>')
    .replaceAll('Auth z\r\n', '<Auth z>')
    .replaceAll(writeCommand(['Hello', '3']).toString(), '<Hello 3>')
    .replaceAll(writeCommand(['AUTH', 'late']).toString(), '<AUTH late>')

  it.each([1, 2, 7, 1_000, 1_000_000])('has its logins taken out wherever they stand, in pieces of %i', (size) => {
    const take = through()
    const all = Buffer.concat(said)
    const out: Buffer[] = []
    for (let at = 0; at < all.length; at += size) out.push(take(all.subarray(at, at + size)))
    expect(Buffer.concat(out).toString('latin1') === expected).toBe(true)
  })

  it.each([
    ['an invalid length', '*x\r\n'],
    ['a negative length', '*-1\r\n'],
    ['a length without an end', '*11111111111111'],
    ['a length that ends elsewhere', '*1\n$4\r\nPING\r\n'],
    ['a length in a later word', '*2\r\n$3\r\nGET\r\n$-1\r\n'],
    ['an invalid word', '*2\r\n$3\r\nGET\r\nAUTH\r\n'],
    ['a line that could be two', '"AU"TH x\r\n'],
    ['a login without an end', `*2\r\n$4\r\nAUTH\r\n$60000000\r\n`],
  ])('%s is refused', (_, text) => expect(() => through()(Buffer.from(`PING\r\n${text}`))).toThrow())
})
