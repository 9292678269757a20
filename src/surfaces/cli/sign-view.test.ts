import { describe, expect, it } from 'vitest'
import type { SignatureView } from '../../project/sign/signature-view.ts'
import { pieces, widthOf } from '../../scan/display-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { describeSignature } from './sign-view.ts'

const screen = (width: number): Terminal => ({ out: () => {}, err: () => {}, color: false, width })

const view: SignatureView = {
  again: false,
  summary: { alarms: [], lines: [{ label: 'writes', items: ['the project'] }] },
  changes: [{ direction: 'opens', text: 'The command "npm test:*" runs without asking.' }],
  absent: [],
}

describe('what is read before signing', () => {
  it('has the headline first for a first signature, and what changed first for a later one', () => {
    expect(describeSignature(screen(80), view, false)).toBe(
      `With this manifest, an agent in this project:
  writes          the project
In words:
  + The command "npm test:*" runs without asking.
`,
    )
    expect(describeSignature(screen(80), { ...view, again: true }, false)).toBe(
      `Since you last signed it:
  + The command "npm test:*" runs without asking.
With that, this project:
  writes          the project
`,
    )
  })

  it.each([60, 80, 120])(
    'fits %i columns, and nothing in it acts on the terminal, whatever the manifest says',
    (width) => {
      const hostile = `\u001b[2J\u202e${'日本/'.repeat(80)}\r\nsigned`
      const lines = [
        { label: 'reaches', items: [hostile, ...Array.from({ length: 99 }, (_, index) => `${index}${hostile}`)] },
      ]
      const changes = Array.from({ length: 40 }, () => ({ direction: 'opens' as const, text: hostile }))
      const text = describeSignature(
        screen(width),
        { again: true, summary: { alarms: [hostile], lines }, changes, absent: [hostile] },
        false,
      )
      for (const row of text.trimEnd().split('\n')) {
        expect(pieces(row).filter((piece) => piece.escape)).toEqual([])
        expect(widthOf(row)).toBeLessThanOrEqual(width)
      }
      expect(text).not.toMatch(/^signed/m)
    },
  )

  it('shows the widest and counts the rest: no number of narrow grants pushes a wide one, or the count, away', () => {
    const items = ['*.evil.example', ...Array.from({ length: 500 }, (_, index) => `host-${index}.example.com`)]
    const text = describeSignature(
      screen(60),
      { ...view, summary: { alarms: [], lines: [{ label: 'reaches', items }] } },
      false,
    )
    const [, first, second] = text.split('\n')
    expect(first).toContain('*.evil.example,')
    const shown = `${first}${second}`.match(/\S+(?=,)/g)!.length
    expect(second).toMatch(new RegExp(`and ${501 - shown} more$`))
  })

  it('leaves sentences out only with their number, and none when all are wanted', () => {
    const changes = Array.from({ length: 30 }, (_, index) => ({
      direction: 'opens' as const,
      text: `Number ${index}.`,
    }))
    expect(describeSignature(screen(80), { ...view, changes }, false)).toContain('and 18 more, none of them broader')
    expect(describeSignature(screen(80), { ...view, changes }, true)).toContain('Number 29.')
  })
})
