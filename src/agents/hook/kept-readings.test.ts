import { describe, expect, it } from 'vitest'
import type { ShellContext } from '../../shell/facts.ts'
import { analyze } from '../../shell/walk/analyze.ts'
import { keepReadings } from './kept-readings.ts'
import { readerOf } from './reading.ts'

const PLACE: ShellContext = { cwd: '/p', home: '/h', roots: ['/p'], variables: { HOME: '/h', PWD: '/p' } }

/** A reader that counts what it is asked. */
function counting(complaint: string | null = null) {
  const asked: string[] = []
  const reader = readerOf({
    analyze: (command, context) => {
      asked.push(`analyze ${command}`)
      return analyze(command, context)
    },
    syntaxError: (command) => {
      asked.push(`bash ${command}`)
      return complaint
    },
  })
  return { asked, analyze: reader.analyze!, syntaxError: reader.syntaxError }
}

describe('how a command was read', () => {
  it('is not kept unless the process serves more than one', () => {
    const one = counting()
    for (let i = 0; i < 2; i++) one.analyze('echo a', PLACE)
    expect(one.asked).toHaveLength(2)
  })

  it('is handed on for the same text in the same place, and read again for every other', () => {
    keepReadings()
    const command = 'cd sub && cat "$HOME/x" > y'
    const [hook, run] = [counting(), counting()]
    const first = hook.analyze(command, PLACE)
    expect(run.analyze(command, { ...PLACE })).toBe(first)
    expect(run.asked).toEqual([])
    expect(first).toEqual(analyze(command, PLACE))
    const others: readonly (readonly [string, ShellContext])[] = [
      [`${command} `, PLACE],
      [command, { ...PLACE, cwd: '/q' }],
      [command, { ...PLACE, home: '/other' }],
      [command, { ...PLACE, roots: ['/p', '/q'] }],
      [command, { ...PLACE, roots: undefined }],
      [command, { ...PLACE, variables: { HOME: '/h', PWD: '/p', TMPDIR: '/tmp' } }],
    ]
    for (const [text, context] of others) expect(run.analyze(text, context)).toEqual(analyze(text, context))
    expect(run.asked).toHaveLength(others.length)
  })

  it('cannot be changed by its receiver', () => {
    keepReadings()
    const { facts } = counting().analyze('rm -rf a', PLACE) as unknown as { facts: { commands: { argv: object[] }[] } }
    expect(() => facts.commands.pop()).toThrow(TypeError)
    expect(() => facts.commands[0]!.argv.pop()).toThrow(TypeError)
  })

  it('keeps what bash accepted, and asks again about what it did not', () => {
    keepReadings()
    const good = counting()
    const bad = counting('unexpected end')
    for (let i = 0; i < 2; i++)
      expect([good.syntaxError('for a'), bad.syntaxError('for b')]).toEqual([null, 'unexpected end'])
    expect([good.asked, bad.asked]).toEqual([['bash for a'], ['bash for b', 'bash for b']])
  })

  it('forgets the oldest, and keeps nothing long', () => {
    keepReadings()
    const reader = counting()
    const long = `echo ${'a'.repeat(10_000)}`
    for (let i = 0; i < 2; i++) reader.analyze(long, PLACE)
    expect(reader.asked.splice(0)).toHaveLength(2)
    for (let i = 0; i < 17; i++) reader.analyze(`echo ${i}`, PLACE)
    reader.asked.splice(0)
    reader.analyze('echo 16', PLACE)
    reader.analyze('echo 0', PLACE)
    expect(reader.asked).toEqual(['analyze echo 0'])
  })
})
