/** Links of the project to programs outside it, as virtual environments have them. */

import { describe, expect, it } from 'vitest'
import { bashCall, commandRule, policyOf, ROOT, sessionOf, sourced } from '../../../test/cases/policy-fixture.ts'
import { evaluate } from './evaluate.ts'

const LINKS: Readonly<Record<string, string>> = {
  [`${ROOT}/.venv/bin/python`]: '/usr/bin/python3.11',
  [`${ROOT}/.venv/bin/python3`]: '/home/dev/.pyenv/versions/3.11.7/bin/python3.11',
  [`${ROOT}/tidy`]: '/usr/bin/rm',
  [`${ROOT}/r`]: '/usr/bin/rm',
  [`${ROOT}/rm`]: '/usr/bin/rm',
}

const policy = policyOf({
  mode: sourced('contained', 'permission.mode'),
  outsideRoots: sourced('ask', 'security.outside_roots'),
  commands: { ...policyOf().commands, deny: [commandRule('rm')] },
})

function decide(command: string): string {
  const call = bashCall(command)
  const shell = call.shell && { ...call.shell, canonical: (path: string) => LINKS[path] ?? path }
  return evaluate(policy, sessionOf(), { ...call, ...(shell && { shell }) }).decision
}

describe('a link of the project', () => {
  it.each([
    ['.venv/bin/python x.py', 'allow', 'to the program of its name, which every command sees'],
    [`${ROOT}/.venv/bin/python x.py`, 'allow', 'however it is written'],
    ['.venv/bin/python3 -m pytest', 'allow', 'or that a bundle shows, or nobody'],
    ['cat .venv/bin/python3', 'ask', 'read, it is a file outside'],
    ['./tidy x', 'ask', 'by another name a denied program is not known'],
    ['./r x', 'ask', 'nor by a part of its name'],
    ['./rm x', 'deny', 'by its own it is'],
    ['../../../usr/bin/python3 x.py', 'ask', 'what climbs out is not a link of the project'],
  ])('%s: %s', (command, decision, _note) => {
    expect(decide(command)).toBe(decision)
  })
})
