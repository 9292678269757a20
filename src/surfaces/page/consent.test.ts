import { expect, it } from 'vitest'
import { terminalConsent } from './consent.ts'

const shownCode = (text: string): string => /(\d{3} \d{3})$/.exec(text)![1]!

it('is given for the action that was shown, once', () => {
  const shown: string[] = []
  const consent = terminalConsent((text) => shown.push(text) > 0)
  expect(consent.take('grant a', null)).toContain('shows a code')
  expect(consent.take('grant b', shownCode(shown[0]!))).toContain('shows a code')
  expect(consent.take('grant b', shownCode(shown[1]!))).toBeNull()
  expect(consent.take('grant b', shownCode(shown[1]!))).not.toBeNull()
  expect(shown[0]).toContain('the page wants to grant a')
})

it('asks for one code however often it is tried, ends after three wrong ones, and after two minutes', () => {
  const shown: string[] = []
  let now = 0
  const consent = terminalConsent(
    (text) => shown.push(text) > 0,
    () => now,
  )
  for (let time = 0; time < 5; time++) consent.take('grant a', null)
  expect(shown).toHaveLength(1)
  const wrong = shownCode(shown[0]!) === '000 000' ? '000001' : '000000'
  expect([1, 2, 3].map(() => consent.take('grant a', wrong)!.slice(0, 13))).toEqual([
    'that is not t',
    'that is not t',
    'the code was ',
  ])
  expect(consent.take('grant a', shownCode(shown[0]!))).toContain('shows a code')
  now += 3 * 60_000
  expect(consent.take('grant a', shownCode(shown[1]!))).toContain('shows a code')
  expect(shown).toHaveLength(3)
})

it('is refused where nobody can see a code', () => {
  const consent = terminalConsent(() => false)
  expect(consent.take('grant a', null)).toContain('run cordon ui in a terminal')
  expect(consent.take('grant a', '')).toContain('run cordon ui in a terminal')
})
