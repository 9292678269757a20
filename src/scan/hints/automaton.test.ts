import { describe, expect, it } from 'vitest'
import { randomFrom } from '../../../test/redact-samples.ts'
import { HintSearch, occurs, stretches } from './automaton.ts'

const HINTS = ['send', ' send ', 'end', ' ai ', 'aa', 'aaa', 'abaa', ' to the', '10']

describe('a search for many hints', () => {
  it('finds what a search for each of them finds', () => {
    const random = randomFrom(3)
    const search = new HintSearch(HINTS)
    const sets = HINTS.map((hint) => search.set([hint]))
    const words = ['send', 'sender', 'ai', 'aid', 'aaa', 'abaa', 'to', 'the', '10', 'é', 'xé10', 'abaaa']
    for (let round = 0; round < 2000; round++) {
      const text = Array.from({ length: Math.floor(random() * 6) }, () => words[Math.floor(random() * words.length)])
      const joined = text.join(' ')
      const hits = search.find(joined)
      for (const [index, hint] of HINTS.entries()) {
        expect(occurs(hits, [[sets[index]!]]), `${hint} in ${joined}`).toBe(` ${joined} `.includes(hint))
      }
    }
  })

  it('wants a hint of every set of a way', () => {
    const search = new HintSearch(HINTS)
    const way = [search.set(['send', '10']), search.set([' ai '])]
    expect(occurs(search.find('ask the ai for 10'), [way])).toBe(true)
    expect(occurs(search.find('ask the aid for 10'), [way])).toBe(false)
    expect(occurs(search.find('ask the aid for 10'), [way, [search.set([' to the', '10'])]])).toBe(true)
  })

  it.each([0, 1, 15, 16, 17, 31, 40, 63, 200])(
    'names the part around hints that stand together, %i words in',
    (before) => {
      const search = new HintSearch(HINTS)
      const ways = [[search.set([' send ']), search.set([' ai '])]]
      const filler = 'x '.repeat(before)
      const text = `${filler}send it to the ai now ${'y '.repeat(300)}send alone${' z'.repeat(300)} ai alone`
      const parts = stretches(search.find(text), ways, 5)
      expect(parts).toHaveLength(1)
      const [from, to] = parts[0]!
      expect(text.slice(from, to)).toContain('send it to the ai')
      expect(to - from).toBeLessThan(200)
    },
  )

  it.each(['', 'é', 'a-b', 'A'])('takes no hint that it could not find: %j', (hint) => {
    expect(() => new HintSearch([hint])).toThrow(RangeError)
  })

  it('grows with a text of short words', () => {
    const search = new HintSearch(HINTS)
    const text = `${'a '.repeat(5000)}send ai`
    const parts = stretches(search.find(text), [[search.set(['send'])]], 3)
    expect(parts).toHaveLength(1)
    expect(text.slice(...parts[0]!)).toContain('send ai')
  })
})
