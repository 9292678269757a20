import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Machine, thisMachine } from '../system/machine.ts'
import { approveSkill, skillGate, skillRows } from './skill-gate.ts'

let base: string
let root: string
let machine: Machine

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-skills-')))
  root = join(base, 'project')
  machine = {
    ...thisMachine(),
    home: join(base, 'home'),
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
  }
  put('project/.cordon/skills/deploy/SKILL.md', '# Deploy\n')
  put('project/.cordon/skills/deploy/run.sh', '#!/bin/sh\necho one\n')
  put('project/.agents/skills/other/SKILL.md', '# Other\n')
  put('project/.agents/skills/other/run.sh', '#!/bin/sh\necho two\n')
})

afterEach(() => rmSync(base, { recursive: true, force: true }))

function put(path: string, text: string): string {
  const full = join(base, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
  chmodSync(full, 0o755)
  return full
}

const script = () => join(root, '.cordon/skills/deploy/run.sh')
const problem = (path: string) => skillGate(root, machine).scriptProblem(path)
const below = (path: string) => skillGate(root, machine).scriptBelow(path)

it('a script of a project’s skill does not run before its bytes were approved, nor after they changed', () => {
  expect(problem(script())).toContain('was not approved')
  expect(approveSkill(root, machine, 'deploy', null, new Date())).toEqual(['run.sh'])
  expect(problem(script())).toBeNull()
  put('project/.cordon/skills/deploy/run.sh', '#!/bin/sh\necho evil\n')
  expect(problem(script())).toContain('has changed since')
  expect(skillRows(root, machine).map((row) => [row.skill, row.status])).toEqual([
    ['deploy', 'MISMATCH'],
    ['other', 'no stored hash'],
  ])
})

it('an approval is for one skill, and for the scripts that were there', () => {
  approveSkill(root, machine, 'deploy', null, new Date())
  expect(problem(join(root, '.agents/skills/other/run.sh'))).toContain('was not approved')
  expect(problem(put('project/.cordon/skills/deploy/new.sh', '#!/bin/sh\n'))).toContain('was not approved')
  expect(problem(join(root, '.cordon/skills/nobody/run.sh'))).toContain('was not approved')
  expect(() => approveSkill(root, machine, 'nobody', null, new Date())).toThrow(/there is no skill/)
})

it('a copy of a script is known by its bytes, wherever it is', () => {
  const copy = put('project/build/r.sh', '#!/bin/sh\necho one\n')
  expect(problem(copy)).toContain('a copy of run.sh of the skill deploy')
  approveSkill(root, machine, 'deploy', null, new Date())
  expect(problem(copy)).toBeNull()
  expect(problem(put('project/build/own.sh', '#!/bin/sh\necho own\n'))).toBeNull()
})

it('a script is taken along with every folder above it, and its text is not a script', () => {
  for (const path of [script(), dirname(script()), join(root, '.cordon'), root, '/'])
    expect(below(path)).toContain('was not approved')
  for (const path of [join(dirname(script()), 'SKILL.md'), join(root, 'src'), join(root, '.cordon/skills/none')])
    expect(below(path)).toBeNull()
  approveSkill(root, machine, 'deploy', null, new Date())
  expect([below(script()), below(join(root, '.cordon'))]).toEqual([null, null])
  expect(below(root)).toContain('was not approved')
})

it('a file elsewhere is not a skill', () => {
  expect(problem(join(root, 'scripts/run.sh'))).toBeNull()
  expect(problem(join(root, '.cordon/skillset/run.sh'))).toBeNull()
})

it('a user’s skill of the same name comes before the project’s, whose script is then not approved', () => {
  put('config/skills/deploy/SKILL.md', '# Mine\n')
  put('config/skills/deploy/run.sh', '#!/bin/sh\n')
  expect(problem(script())).toContain('was not approved')
})
