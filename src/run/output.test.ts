import { describe, expect, it } from 'vitest'
import { CommandOutput } from './port.ts'

describe('output of a background command', () => {
  it('is handed out once, and half a character waits for its rest', () => {
    const output = new CommandOutput(100)
    const bytes = Buffer.from('né')
    output.write(bytes.subarray(0, 2))
    expect(output.take()).toEqual({ text: 'n', dropped: false })
    output.write(bytes.subarray(2))
    expect(output.take()).toEqual({ text: 'é', dropped: false })
    expect(output.take()).toEqual({ text: '', dropped: false })
  })

  it('keeps the newest bytes up to its cap, and says that older ones are gone', () => {
    const output = new CommandOutput(5)
    output.write('abc')
    output.write('defg')
    expect(output.tail()).toBe('cdefg')
    expect(output.take()).toEqual({ text: 'cdefg', dropped: true })
    output.write('h')
    expect(output.take()).toEqual({ text: 'h', dropped: false })
  })
})
