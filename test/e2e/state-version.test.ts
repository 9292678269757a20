/** State that another version of Cordon wrote: an older one goes on, a newer one is refused by every command that needs it. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project } from './cordon.ts'

let project: Project
const version = () => join(project.home, '.local/state/cordon/version')

beforeEach(() => {
  project = new Project({ 'cordon.toml': 'schema_version = 1\n' })
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
  expect(project.cordon(['run', '--', 'true']).code).toBe(0)
})

afterEach(() => project.remove())

it('state of 0.1.0, which had no version, goes on: its signatures hold, and it gets one', () => {
  expect(readFileSync(version(), 'utf8')).toBe('1\n')
  rmSync(version())
  expect(project.cordon(['run', '--', 'echo', 'inside'])).toMatchObject({ code: 0, out: 'inside\n' })
  expect(readFileSync(version(), 'utf8')).toBe('1\n')
})

it.each([
  ['run', ['run', '--', 'touch', 'ran']],
  ['sign', ['sign', '--yes']],
  ['check', ['check', 'ls']],
  ['grants', ['grants']],
])('%s refuses the state of a newer Cordon, and changes nothing', (_name, words) => {
  writeFileSync(version(), '2\n')
  const { code, err } = project.cordon(words)
  expect(err).toContain('was written by a newer Cordon')
  expect(err).toContain('XDG_STATE_HOME')
  expect(code).toBe(125)
  expect(readFileSync(version(), 'utf8')).toBe('2\n')
  expect(existsSync(join(project.directory, 'ran'))).toBe(false)
})

it('a hook refuses a call there', () => {
  writeFileSync(version(), '2\n')
  const input = JSON.stringify({
    session_id: 's',
    cwd: project.directory,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'touch ran' },
  })
  const { code, out, err } = project.cordon(['hook', 'claude-code', '--root', project.directory], { input })
  expect(out + err).toContain('was written by a newer Cordon')
  expect(code === 2 || /"permissionDecision":"deny"/.test(out)).toBe(true)
})
