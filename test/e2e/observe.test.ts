/** Observe mode, end to end: nothing is asked, walls stay, the record says what would have been asked, and learn takes it. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project } from './cordon.ts'

const MANIFEST = `schema_version = 1
[permission]
mode = "contained"
[security]
redirects = "all"
outside_roots = "ask"
[capabilities.allow.read]
paths = ["**", ".env.local"]
[capabilities.allow.commands]
default_domains = ["api.example.org"]
[capabilities.deny.commands]
patterns = ["terraform apply:*"]
[flows]
"secret -> *" = "deny"
[audit]
arguments = true
`

let project: Project
beforeEach(() => {
  project = new Project({ 'cordon.toml': MANIFEST, '.env': 'A=b\n', '.env.local': 'A=b\n' })
  mkdirSync(join(project.home, 'notes'))
  writeFileSync(join(project.home, 'notes/a.txt'), 'a\n')
  for (const words of [
    ['init', '-q'],
    ['remote', 'add', 'origin', 'git@github.com:acme/shop.git'],
  ])
    execFileSync('git', words, { cwd: project.directory })
  expect(project.cordon(['sign', '--yes']).code).toBe(0)
})
afterEach(() => project.remove())

function observe(): void {
  mkdirSync(join(project.home, '.config/cordon'), { recursive: true })
  writeFileSync(
    join(project.home, '.config/cordon/cordon.toml'),
    'schema_version = 1\n[permission]\nmode = "observe"\n',
  )
}

function hook(command: string): string {
  const input = JSON.stringify({
    session_id: 's',
    permission_mode: 'default',
    hook_event_name: 'PreToolUse',
    cwd: project.directory,
    tool_name: 'Bash',
    tool_input: { command },
  })
  const { out } = project.cordon(['hook', 'claude-code', '--root', project.directory], { input })
  const { permissionDecision, updatedInput } = JSON.parse(out).hookSpecificOutput
  // The host runs what the hook returned.
  const env = { PATH: process.env.PATH, HOME: project.home }
  if (permissionDecision === 'allow') spawnSync('bash', ['-c', updatedInput.command], { cwd: project.directory, env })
  return permissionDecision
}

const COMMANDS = [
  'git push origin main',
  'curl https://new.example.net/',
  'cat ~/notes/a.txt',
  'cat .env',
  'terraform apply',
]

it('asks nothing and keeps denials, firm asks and the record', () => {
  expect(COMMANDS.map(hook)).toEqual(['ask', 'ask', 'ask', 'ask', 'deny'])
  observe()
  expect(COMMANDS.map(hook)).toEqual(['allow', 'allow', 'allow', 'deny', 'deny'])
  const lines = project
    .cordon(['audit', 'query', '--json'])
    .out.trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const observed = lines.filter(({ type, decision }) => type === 'begin' && decision.reason === 'observed')
  expect(observed.map(({ subject }) => subject)).toEqual(COMMANDS.slice(0, 3))
  expect(observed.map(({ decision }) => decision.message)).toEqual(
    Array(3).fill(expect.stringMatching(/^Observe mode did not ask: /)),
  )
  const learned = JSON.parse(project.cordon(['learn', '--from', 'record', '--json']).out)
  expect(
    learned.lines.map(({ kind, value }: { kind: string; value: string }) => `${kind} ${value}`).toSorted(),
  ).toEqual(['command git push github.com/acme/shop:kind', 'host new.example.net', `read ${project.home}/notes/a.txt`])
  expect(learned.text).toContain('"git push github.com/acme/shop:kind"')
})

it('cordon run --observe asks nothing, and denials hold', () => {
  const run = (...command: readonly string[]) => project.cordon(['run', '--observe', '--', ...command])
  expect(run('true').code).toBe(0)
  expect(run('terraform', 'apply').code).toBe(126)
  const sent = run('curl', '-d', '@.env.local', 'https://api.example.org/')
  expect([sent.code, sent.err]).toEqual([126, expect.stringContaining('the secret .env.local')])
})
