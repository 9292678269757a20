/** `cordon run` is a call like every other: a written deny applies, what would ask runs as typed, and all of it is recorded. */

import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { Project } from './cordon.ts'

let project: Project | null = null
afterEach(() => project?.remove())

const MANIFEST = `schema_version = 1
[capabilities.deny.commands]
patterns = ["touch:*"]
[audit]
arguments = ARGUMENTS
`

function signed(storesArguments: boolean): Project {
  project = new Project({ 'cordon.toml': MANIFEST.replace('ARGUMENTS', String(storesArguments)), '.env': 'KEY=1' })
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
  return project
}

type Line = Readonly<Record<string, unknown>>
const lines = (at: Project): Line[] =>
  at
    .cordon(['audit', 'query', '--json'])
    .out.trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Line)

it.each([
  { note: 'as it is', argv: ['touch', 'x'] },
  { note: 'behind a shell', argv: ['sh', '-c', 'touch x'] },
  { note: 'behind a wrapper', argv: ['env', 'A=1', 'touch', 'x'] },
])('a denied command does not run: $note', ({ argv }) => {
  const at = signed(true)
  const ran = at.cordon(['run', '--', ...argv])
  expect(ran.code, ran.err).toBe(126)
  expect(ran.err).toContain('cordon.toml')
  expect(existsSync(join(at.directory, 'x'))).toBe(false)
  const denials = lines(at).filter(({ type }) => type === 'denied')
  expect(denials).toMatchObject([{ tool: 'bash', project: at.directory, trust: 'built-in' }])
})

it('what would ask runs, and is recorded as typed, with what was stopped and how it ended', () => {
  const at = signed(true)
  expect(at.cordon(['run', '--', 'sh', '-c', 'cat .env; exit 3']).code).toBe(3)
  const [first, begin, end] = lines(at)
  expect(first).toMatchObject({ type: 'session', by: 'person', project: at.directory })
  expect(begin).toMatchObject({
    type: 'begin',
    agent: 'person',
    decision: { verdict: 'allow', reason: 'typed', approver: 'typed' },
  })
  expect(begin!.labels).toContain('execute')
  expect(end).toMatchObject({ type: 'end', exit_code: 3, outcome: 'failed' })
  expect(end!.violations).toMatchObject([{ seen: 'observed', kind: 'file', subject: join(at.directory, '.env') }])
  const verified = at.cordon(['audit', 'verify'])
  expect(verified.out).toContain('1 session, 3 lines: no damage found; 3 not signed yet')
  expect(at.cordon(['audit', 'tail']).out).toContain(at.directory)
})

it.each([
  { note: 'plan mode', lines: '[permission]\nmode = "plan"', argv: ['true'], code: 'plan-mode' },
  { note: 'the plan agent', lines: '[permission]\nagent = "plan"', argv: ['true'], code: 'plan-mode' },
  { note: 'a mode of the agent', lines: '[agents.build]\nmode = "plan"', argv: ['true'], code: 'plan-mode' },
  { note: 'ring 3', lines: '[agents.build]\ntrust_score = 0.3', argv: ['true'], code: 'ring' },
  { note: 'a level', lines: '[permission.tools]\nbash = "deny"', argv: ['true'], code: 'level-deny' },
  { note: 'pipes', lines: '[security]\npipes = false', argv: ['sh', '-c', 'true | true'], code: 'shell-syntax-off' },
  {
    note: 'a denied write',
    lines: '[capabilities.deny.write]\npaths = ["x"]',
    argv: ['touch', 'x'],
    code: 'denied-by-rule',
  },
])('what is denied to the agent is denied there too: $note', ({ lines: written, argv, code }) => {
  project = new Project({ 'cordon.toml': `schema_version = 1\n${written}\n` })
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
  const ran = project.cordon(['run', '--', ...argv])
  expect([ran.code, ran.err]).toEqual([126, expect.stringContaining(`[${code}]`)])
  expect(lines(project)).toMatchObject([
    { type: 'session' },
    { type: 'denied', decision: { verdict: 'deny', reason: code } },
  ])
})

it.each([
  { note: 'a level that asks', written: '[permission.tools]\nbash = "ask"', argv: ['true'] },
  { note: 'pipes that nobody uses', written: '[security]\npipes = false', argv: ['true'] },
  { note: 'what is built in against agents', written: '', argv: ['sh', '-c', 'echo $(echo x)'] },
  { note: 'nobody may be asked', written: '[permission]\ninteractive = false', argv: ['true'] },
  { note: 'no grants at run time', written: '[security]\nruntime_grants = false', argv: ['true'] },
])('what would only ask runs: $note', ({ written, argv }) => {
  project = new Project({ 'cordon.toml': `schema_version = 1\n${written}\n` })
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
  expect(project.cordon(['run', '--', ...argv]).code).toBe(0)
  expect(lines(project)[1]).toMatchObject({ type: 'begin', decision: { verdict: 'allow', approver: 'typed' } })
})

it('without arguments no line contains what was typed', () => {
  const at = signed(false)
  expect(at.cordon(['run', '--', 'sh', '-c', 'echo wordthatnobodyelsesays']).code).toBe(0)
  expect(at.cordon(['run', '--', 'touch', 'wordthatnobodyelsesays']).code).toBe(126)
  const text = JSON.stringify(lines(at))
  expect(text).toContain('"verdict":"deny"')
  expect(text).not.toContain('wordthatnobodyelsesays')
})

it('the report is JSON for programs', () => {
  const at = signed(true)
  at.cordon(['run', '--', 'true'])
  const report = JSON.parse(at.cordon(['audit', 'report', '--json']).out) as { calls: object[]; sessions: object[] }
  expect(report.calls).toMatchObject([{ tool: 'bash', agent: 'person', approver: 'typed', outcome: 'ok' }])
  expect(report.sessions).toMatchObject([{ project: at.directory, damage: [] }])
})

it('the report takes the place of nothing but a new file', () => {
  const at = signed(true)
  at.cordon(['run', '--', 'true'])
  const place = (name: string): string => join(at.directory, name)
  writeFileSync(place('notes'), 'mine')
  symlinkSync('notes', place('link'))
  symlinkSync('nowhere', place('dangling'))
  execFileSync('mkfifo', [place('pipe')])
  for (const name of ['notes', 'link', 'dangling', 'pipe', '.', '/dev/null'])
    expect(at.cordon(['audit', 'report', '--out', name]).code).not.toBe(0)
  expect(readFileSync(place('notes'), 'utf8')).toBe('mine')
  expect(lstatSync(place('link')).isSymbolicLink() && lstatSync(place('dangling')).isSymbolicLink()).toBe(true)
  expect(lstatSync(place('pipe')).isFIFO() && lstatSync('/dev/null').isCharacterDevice()).toBe(true)
  expect(at.cordon(['audit', 'report', '--out', 'new.html']).code).toBe(0)
})
