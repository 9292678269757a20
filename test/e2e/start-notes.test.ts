/** What is dangerous about a set-up, or written in vain, is said where people look: by `run` at a terminal, and by the gateway. */

import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { CLI, Project } from './cordon.ts'

const MANIFEST = `schema_version = 1
[permission]
mode = "contained"
[security]
privilege_wrappers = true
[http]
allowed_hosts = ["\${CORDON_NOBODY_SET_THIS}", "example.org"]
`

let project: Project
beforeEach(() => {
  project = new Project({ 'cordon.toml': MANIFEST })
  project.cordon(['sign', '--yes'])
})
afterEach(() => project.remove())

it('what a manifest is warned of is said at every load, the other notes not into a script’s output', () => {
  const { code, out, err } = project.cordon(['run', '--', 'echo', 'x'])
  expect([code, out]).toEqual([0, 'x\n'])
  expect(err).toContain('${CORDON_NOBODY_SET_THIS} is not set')
  expect(err).toContain('sudo and doas can be granted')
  expect(err).not.toContain('as root')
})

it('at a terminal everything is said', () => {
  const line = `${process.execPath} ${CLI} run -- echo x`
  const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home },
    encoding: 'utf8',
  })
  expect(stdout).toContain('sudo and doas can be granted')
  expect(stdout).toContain('${CORDON_NOBODY_SET_THIS} is not set')
})

it('the gateway says it before it starts a server', () => {
  const { err } = project.cordon(['mcp', 'wrap', '--', 'true'])
  expect(err).toContain('sudo and doas can be granted')
  expect(err).toContain('${CORDON_NOBODY_SET_THIS} is not set')
})
