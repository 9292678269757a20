import { expect, it } from 'vitest'
import { AnswerLinks } from './answer-page.ts'

it('a link is good once, for its question, and for ten minutes', () => {
  let now = 0
  const links = new AnswerLinks(() => now)
  const [yes, no, other] = [
    links.make({ ask: 'a', kind: 'once' }),
    links.make({ ask: 'a', kind: 'deny' }),
    links.make({ ask: 'b', kind: 'once' }),
  ]
  expect(links.look(yes)).toEqual({ ask: 'a', kind: 'once' })
  expect(links.take(yes)).toEqual({ ask: 'a', kind: 'once' })
  expect([links.take(yes), links.take(no), links.look(other)]).toEqual([null, null, { ask: 'b', kind: 'once' }])
  now = 10 * 60_000
  expect(links.take(other)).toBeNull()
})

it('keeps at most some hundred: a flood of questions ends the oldest links', () => {
  const links = new AnswerLinks(() => 0)
  const codes = Array.from({ length: 450 }, (_, at) => links.make({ ask: String(at), kind: 'deny' }))
  expect(codes.filter((code) => links.look(code) !== null)).toHaveLength(400)
  expect(links.look(codes.at(-1)!)).not.toBeNull()
})
