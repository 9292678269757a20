import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ShellFacts } from '../shell/facts.ts'
import { analyze } from '../shell/walk/analyze.ts'
import type { Decision, PartDecision } from './decision.ts'
import type { Policy } from './policy.ts'
import type { ReasonCode } from './reason.ts'
import { whyNotReviewed } from './review.ts'
import { asksTheSame, REVIEW_BOUNDS } from './review-bound.ts'
import { BOUNDS, worstCaseOf } from './worst-case.ts'

const part = (given: Partial<PartDecision>, code: ReasonCode = 'not-granted'): PartDecision => ({
  kind: 'command',
  text: 'make',
  decision: 'ask',
  reason: { code, message: 'why' },
  rules: [],
  step: 4,
  ...given,
})

function asking(segments: readonly PartDecision[], kept = false): Decision {
  const reason = { code: 'level-ask', message: 'why' } as const
  return { decision: 'ask', reason, rules: [], segments, ...(kept && { kept: true as const }) }
}

const policy = (hosts: number): Pick<Policy, 'commands'> =>
  ({ commands: { defaultDomains: Array.from({ length: hosts }) } }) as unknown as Pick<Policy, 'commands'>

function factsOf(command: string): ShellFacts {
  const analysis = analyze(command, { cwd: '/p', home: '/home/me' })
  if (!('facts' in analysis)) throw new Error(analysis.rejection.message)
  return analysis.facts
}

/** What a reviewer's yes may open, stated once more and apart from the code: by kind, reason and effect of every part that asks. */
const NOBODY_BUT_A_PERSON: readonly ReasonCode[] = [
  'grant-prompts',
  'not-understood',
  'secret',
  'maybe-denied',
  'rule-asks',
  'flow',
  'needs-confirmation',
  'outside-sandbox',
  'unapproved-script',
  'protected-path',
  'port-not-opened',
]
const OTHERS: readonly ReasonCode[] = [
  'not-granted',
  'level-ask',
  'outside-roots',
  'outside-cwd',
  'host-not-granted',
  'remote-write',
  'destructive',
]
const COMMANDS = [
  'make',
  'git push origin x',
  'git push -f origin x',
  'npm publish',
  'git reset --hard',
  'rm -rf src',
  'gh pr create',
  'terraform destroy',
  'gh pr view 3',
  'ls',
]

const COMMENT = 'gh api repos/o/r/pulls/1/comments -f body=fixed'

const anyPart = fc.record({
  kind: fc.constantFrom('command', 'read', 'write', 'list', 'host', 'tool', 'redirect', 'syntax'),
  code: fc.constantFrom(...NOBODY_BUT_A_PERSON, ...OTHERS),
  decision: fc.constantFrom('ask', 'ask', 'allow'),
  firm: fc.boolean(),
})

describe('a hostile reviewer', () => {
  it('that always says yes opens nothing above its bound', () => {
    fc.assert(
      fc.property(
        fc.array(anyPart, { maxLength: 4 }),
        fc.constantFrom(...COMMANDS),
        fc.constantFrom('none' as const, ...REVIEW_BOUNDS),
        fc.boolean(),
        fc.nat({ max: 1 }),
        (parts, command, upTo, kept, hosts) => {
          const facts = factsOf(command)
          const segments = parts.map(({ kind, code, decision, firm }): PartDecision => {
            const text = kind === 'command' ? command : kind === 'host' ? 'x.example' : '/p/a'
            return part(
              { kind, text, decision, ...(firm && { firm }), ...(kind === 'command' && { command: 0 }) },
              code,
            )
          })
          const decision = asking(segments, kept)
          const worst = worstCaseOf(decision, facts)
          if (whyNotReviewed({ decision, facts, worst }, upTo, policy(hosts)) !== null) return
          const asks = segments.filter((one) => one.decision === 'ask')
          expect(upTo).not.toBe('none')
          expect(asks.length).toBeGreaterThan(0)
          expect(asks.filter(({ firm }) => firm)).toEqual([])
          expect(asks.filter(({ reason }) => NOBODY_BUT_A_PERSON.includes(reason.code))).toEqual([])
          expect(asks.filter(({ kind }) => kind === 'tool')).toEqual([])
          const bound = BOUNDS.indexOf(upTo as (typeof BOUNDS)[number])
          if (bound < BOUNDS.indexOf('adds')) {
            expect(asks.filter(({ reason }) => reason.code === 'remote-write')).toEqual([])
            expect(asks.filter(({ kind, reason }) => kind === 'host' && reason.code === 'destructive')).toEqual([])
          }
          if (bound < BOUNDS.indexOf('host')) expect(asks.filter(({ kind }) => kind === 'host')).toEqual([])
          const changes = asks.filter(({ kind }) => kind === 'write' || kind === 'redirect')
          if (!kept) expect(changes).toEqual([])
          expect(changes.filter(({ reason }) => reason.code.startsWith('outside'))).toEqual([])
          const ran = asks.some(({ kind }) => kind === 'command')
          if (ran) expect(['git push -f origin x', 'npm publish', 'terraform destroy']).not.toContain(command)
        },
      ),
      { numRuns: 3000 },
    )
  })
})

describe('a reviewer may answer', () => {
  const rows: readonly [string, Decision, string | null, string, number, string | null][] = [
    ['what undo restores', asking([part({ command: 0 })], true), 'ls', 'undo', 0, null],
    ['but not what is not kept', asking([part({ command: 0 })]), 'ls', 'undo', 0, 'lost, not undo'],
    ['a push to a branch', asking([part({ command: 0 }, 'remote-write')]), 'git push origin x', 'adds', 1, null],
    [
      'but not by default',
      asking([part({ command: 0 }, 'remote-write')]),
      'git push origin x',
      'granted-host',
      1,
      'adds',
    ],
    ['a program of nobody without hosts', asking([part({ command: 0 })], true), './x', 'undo', 0, null],
    ['but not with hosts', asking([part({ command: 0 })], true), './x', 'undo', 1, 'default_domains'],
    ['nothing that cannot be read', asking([part({ command: 0 })], true), '$X y', 'adds', 0, 'read for certain'],
    ['a comment at the forge', asking([part({ command: 0 }, 'remote-write')]), COMMENT, 'adds', 1, null],
    ['a read outside', asking([part({ kind: 'read' }, 'outside-roots')]), 'cat /x', 'reads', 0, null],
    [
      'but not with hosts for every command',
      asking([part({ kind: 'read' }, 'outside-roots')]),
      'cat /x',
      'adds',
      1,
      'hosts',
    ],
    ['nothing that says nothing', asking([]), null, 'adds', 0, 'nothing says'],
  ]
  it.each(rows)('%s', (_, decision, command, upTo, hosts, why) => {
    const facts = command === null ? null : factsOf(command)
    const reviewed = { decision, facts, worst: worstCaseOf(decision, facts) }
    const said = whyNotReviewed(reviewed, upTo as (typeof REVIEW_BOUNDS)[number], policy(hosts))
    if (why === null) expect(said).toBeNull()
    else expect(said).toContain(why)
  })
})

describe('what is decided after the answer', () => {
  const reviewed = asking([part({})], true)
  it.each([
    ['the same', asking([part({})], true), true],
    ['allowed meanwhile', { ...reviewed, decision: 'allow' as const }, true],
    ['denied meanwhile', { ...reviewed, decision: 'deny' as const }, false],
    ['about something else', asking([part({ text: 'other' })], true), false],
    ['about more', asking([part({}), part({ text: '/etc/x', kind: 'read' })], true), false],
    ['no longer kept by undo', asking([part({})]), false],
    ['firm now', asking([part({ firm: true })], true), false],
  ] as const)('%s', (_, now, same) => expect(asksTheSame(now, reviewed)).toBe(same))
})
