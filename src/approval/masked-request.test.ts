import { expect, it } from 'vitest'
import type { PartDecision } from '../policy/decision.ts'
import { maskedRequest } from './masked-request.ts'

it('covers secrets and keeps every place', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`
  const subject = `curl -H 'Authorization: Bearer ${token}' https://x.example && git push`
  const part: PartDecision = {
    kind: 'command',
    text: subject,
    decision: 'ask',
    reason: { code: 'remote-write', message: `\`${subject}\` sends data` },
    rules: [],
    step: 3,
  }
  const shown = maskedRequest({
    tool: 'bash',
    subject,
    decision: { decision: 'ask', reason: part.reason, rules: [], segments: [part] },
    asks: [part],
    suggestions: [{ kind: 'command', value: subject, admits: 'exactly this command' }],
  })
  expect(JSON.stringify([shown.subject, shown.asks, shown.suggestions])).not.toContain(token)
  expect(shown.subject).toHaveLength(subject.length)
  expect(shown.subject.indexOf('git push')).toBe(subject.indexOf('git push'))
})
