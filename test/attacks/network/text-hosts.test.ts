/** A host of one command is not for the code of another (S3): what each text has, and how it runs. */

import { describe, expect, it } from 'vitest'
import { planText } from '../../../src/confine/text-plan.ts'
import { newSession } from '../../../src/project/answers.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { analyze } from '../../../src/shell/walk/analyze.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { thisMachine } from '../../../src/system/machine.ts'

const machine = thisMachine()
const object = {
  schema_version: 1,
  permission: { mode: 'contained' },
  capabilities: { allow: { commands: { patterns: [{ command: 'npm test:*', domains: ['test.example.org'] }] } } },
  sandbox: { os: { command_tools: ['git', { tool: 'npm', domains: ['packages.example.org'] }] } },
}
const outcome = await loadPolicy({ machine, files: machineFiles, root: '/', choice: { kind: 'object', object } })
if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
const { loaded } = outcome

function plan(text: string) {
  const session = newSession(loaded, machine)
  const analysis = analyze(text, { cwd: '/p', home: '/h', variables: { HOME: '/h', PWD: '/p' } })
  return planText(text, 'facts' in analysis ? analysis.facts : null, {
    cwd: '/p',
    home: '/h',
    loaded,
    session,
    agreed: [],
  })
}

/** The groups of a text: what each runs, and the first host that it has. */
const runs = (text: string) =>
  plan(text).groups.map(({ text: own, hosts }) => `${own} -> ${hosts[0]?.pattern.host ?? 'nothing'}`)

describe('attacks', () => {
  it.each([
    ['a script beside a local command', 'git status -s; bash x.sh', ['git status -s; bash x.sh -> nothing']],
    ['an interpreter beside one', 'git log -1; python3 -c "x"', ['git log -1; python3 -c "x" -> nothing']],
    ['a script beside a fetch', 'git fetch; bash x.sh', ['git fetch -> github.com', 'bash x.sh -> nothing']],
    ['a script fed by a fetch', 'git fetch | bash x.sh', ['git fetch | bash x.sh -> nothing']],
    ['a script in its output', 'git fetch "$(bash x.sh)"', ['git fetch "$(bash x.sh)" -> nothing']],
    ['an alias', 'git -c alias.fetch=!sh fetch', ['git -c alias.fetch=!sh fetch -> nothing']],
    [
      'an alias beside a fetch',
      'git fetch; git -c alias.x=!sh x',
      ['git fetch -> github.com', 'git -c alias.x=!sh x -> nothing'],
    ],
    [
      'a program of the environment',
      'git fetch; GIT_PAGER=./x git log',
      ['git fetch -> github.com', 'GIT_PAGER=./x git log -> nothing'],
    ],
    ['a program of the project', 'git fetch && ./build', ['git fetch -> github.com', './build -> nothing']],
    ['an unknown program', 'git fetch; sometool', ['git fetch -> github.com', 'sometool -> nothing']],
    ['a shell around it', 'bash -c "git fetch; ./x"', ['bash -c "git fetch; ./x" -> nothing']],
    ['in the background', 'bash x.sh & git fetch', ['bash x.sh & git fetch -> nothing']],
    ['tests with hosts of their own', 'npm test; bash x.sh', ['npm test -> test.example.org', 'bash x.sh -> nothing']],
    ['a loop', 'while true; do git fetch; ./x; done', ['while true; do git fetch; ./x; done -> nothing']],
  ])('%s', (_, text, expected) => expect(runs(text)).toEqual(expected))

  it('says what a text went without, and why', () => {
    expect(plan('git fetch | bash x.sh').note).toMatch(/no way to github\.com.*`bash x\.sh` runs code/)
    expect(plan('git fetch; bash x.sh').note).toBeNull()
    expect(plan('git fetch; bash x.sh').wholeNote).not.toBeNull()
  })
})

describe('controls', () => {
  it.each([
    ['a fetch', 'git fetch', ['git fetch -> github.com']],
    [
      'understood neighbours',
      'cd sub && git pull && git log -1 | head',
      ['cd sub && git pull && git log -1 | head -> github.com'],
    ],
    ['neighbours that have the same', 'npm ci; npm audit', ['npm ci; npm audit -> packages.example.org']],
    ['tests alone', 'npm test', ['npm test -> test.example.org']],
    [
      'an installation and tests',
      'npm ci && npm test',
      ['npm ci -> packages.example.org', 'npm test -> test.example.org'],
    ],
    [
      'a directory told on',
      'cd sub && npm ci && npm test',
      ['cd sub -> nothing', 'npm ci -> packages.example.org', 'npm test -> test.example.org'],
    ],
    ['local work', 'git commit -m x', ['git commit -m x -> nothing']],
  ])('%s', (_, text, expected) => expect(runs(text)).toEqual(expected))
})
