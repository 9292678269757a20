import { describe, expect, it } from 'vitest'
import { mostWords, type Piece, parsePattern, waysOf } from '../../../scripts/injection/pattern-hints.ts'
import { type Random, randomFrom } from '../../../test/redact-samples.ts'
import { INJECTION_HINTS, INJECTION_RULES } from '../injection/injection.ts'

const CHARACTERS = 'zq7é_指,.:;-=#*[]<>({"\'%$&?!@ \n'
const known = new Map<string, string[]>()

/** Characters of a class. */
function charactersOf(source: string): string[] {
  const before = known.get(source)
  if (before) return before
  const pattern = new RegExp(`^${source}$`, 'u')
  // A class that lists characters may have none but those.
  const found = [...CHARACTERS, ...source].filter((char) => pattern.test(char))
  expect(found, `no character for ${source}`).not.toEqual([])
  known.set(source, found)
  return found
}

/** A text that the pattern describes, as far as what is behind a match allows. */
function sample(piece: Piece, random: Random): string {
  const below = (limit: number) => Math.floor(random() * limit)
  switch (piece.kind) {
    case 'text':
      return piece.text
    case 'any': {
      const characters = charactersOf(piece.of)
      return characters[below(characters.length)]!
    }
    case 'all':
      return piece.parts.map((part) => sample(part, random)).join('')
    case 'one':
      return sample(piece.parts[below(piece.parts.length)]!, random)
    case 'ahead':
      return sample(piece.part, random)
    case 'times': {
      const count = piece.least + below(Math.min(piece.most, piece.least + 5) - piece.least + 1)
      return Array.from({ length: count }, () => sample(piece.part, random)).join('')
    }
    default:
      return ''
  }
}

describe('every rule of the table', () => {
  it.each(INJECTION_RULES.map((rule) => [rule.rule, rule] as const))(
    '%s contains its hints wherever it matches',
    (_, rule) => {
      const random = randomFrom(7)
      const pattern = parsePattern(rule.pattern.source)
      const ways = waysOf(pattern)
      let matched = 0
      for (let round = 0; round < 1000; round++) {
        const text = sample(pattern, random)
        rule.pattern.lastIndex = 0
        const match = rule.pattern.exec(text)
        if (match === null) continue
        matched++
        const words = ` ${text.replaceAll("'", '').replace(/[^\p{L}\p{N}]+/gu, ' ')} `
        const has = (where: string, sets: readonly (readonly string[])[]) =>
          sets.every((set) => set.some((hint) => where.includes(hint)))
        const hasHints = ways.some((way) => has(words, way.words) && has(text, way.signs))
        expect(hasHints, `${JSON.stringify(text)} has no hint of ${rule.rule}`).toBe(true)
        if (rule.on !== 'words') continue
        expect(text.split(' ').length).toBeLessThanOrEqual(mostWords(pattern))
        expect(match[0]).not.toContain('   ')
      }
      expect(matched).toBeGreaterThan(50)
      if (rule.on === 'words') expect(ways.every((way) => way.words.length > 0)).toBe(true)
    },
  )

  it.each(INJECTION_RULES.map((rule) => [rule.rule, rule] as const))(
    '%s has its hints in the generated file',
    (_, rule) => {
      const pattern = parsePattern(rule.pattern.source)
      const generated = INJECTION_HINTS[rule.rule]
      const setsOf = (text: string) => (text === '' ? [] : text.split('\n').map((set) => set.split('\t')))
      const ways = generated?.ways.map(([words, signs]) => ({ words: setsOf(words), signs: setsOf(signs) }))
      expect(ways, 'run node scripts/generate-injection-hints.ts').toEqual(waysOf(pattern))
      expect(generated?.reach).toBe(rule.on === 'words' ? mostWords(pattern) : 0)
    },
  )

  it('reaches over a few dozen words at most', () => {
    const words = INJECTION_RULES.filter((rule) => rule.on === 'words')
    expect(Math.max(...words.map((rule) => mostWords(parsePattern(rule.pattern.source))))).toBeLessThan(48)
  })
})

describe('what a pattern requires', () => {
  const word = (...words: string[][]) => ({ words, signs: [] })
  it.each([
    ['a word', '(?<![^ ])(?:ignore)(?![^ ])', [word([' ignore '])]],
    ['a stem', '(?<![^ ])(?:agents?)(?![^ ])', [word([' agent'])]],
    ['optional text is not a hint', 'ab(?:cd)?', [word(['ab'])]],
    ['one of several', '(?:ab|cd)efg', [word(['efg'], ['ab', 'cd'])]],
    ['alternatives', '(?<![^ ])(?:ab cd|ef)(?![^ ])', [word([' ab cd ']), word([' ef '])]],
    ['nothing, where a branch has nothing', '(?:ab|[xy])ef', [word(['ef'])]],
    ['the first of several rounds', '(?<![^ ])(?:(?:ab ){1,3}cd)(?![^ ])', [word([' ab '], [' cd '])]],
    ['letters between signs, as words', '\\[\\/inst\\]', [word([' inst '])]],
    ['gaps beside letters', '\\s(?:curl|nc)\\s{1,3}', [word([' curl ', ' nc '])]],
    ['an apostrophe is not a gap', "['.]ai[:,]", [word(['ai '])]],
    ['signs', '<\\|ab', [{ words: [[' ab']], signs: [] }]],
    ['signs alone', '!\\[.{1,9}ab', [{ words: [['ab']], signs: [['![']] }]],
  ])('%s', (_, source, ways) => {
    expect(waysOf(parsePattern(source))).toEqual(ways)
  })

  it.each(['(ab', 'ab)', '*a'])('throws on %j', (source) => {
    expect(() => parsePattern(source)).toThrow(SyntaxError)
  })
})
