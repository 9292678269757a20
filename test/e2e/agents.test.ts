/** `cordon run -- AGENT` with a stand-in for the agent: what its bundle shows it, and what it cannot have or change. */

import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project } from './cordon.ts'

const KEY = 'sk-ant-the-real-key'
const SETTINGS = '{"hooks":{}}'

let project: Project
beforeEach(() => {
  project = new Project({
    'cordon.toml': 'schema_version = 1\n[sandbox.os]\ncommand_tools = ["claude-code"]\n',
    '.env': 'TOKEN=hunter2\n',
  })
  home('.claude/settings.json', SETTINGS)
  home('.claude/.credentials.json', 'login')
  home('.claude.json', 'login')
  home('.ssh/id_ed25519', 'ssh key')
})
afterEach(() => project.remove())

function home(path: string, text: string): string {
  const file = join(project.home, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** Runs a script as the program `claude`. */
function claude(script: string) {
  chmodSync(home('.local/bin/claude', `#!/bin/sh\n${script}\n`), 0o755)
  const env = { PATH: `${join(project.home, '.local/bin')}:${process.env.PATH}`, ANTHROPIC_API_KEY: KEY }
  return project.cordon(['run', '--manifest', 'cordon.toml', '--', 'claude'], { env })
}

it('contains a placeholder for the key, in the environment of every process', () => {
  const { out } = claude('env; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\0" "\\n"')
  expect(out).toMatch(/^ANTHROPIC_API_KEY=cordon_anthropic_api_key_[0-9a-f]+$/m)
  expect(out).toContain('DISABLE_AUTOUPDATER=1')
  expect(out).not.toContain(KEY)
})

it('sees its settings and no login', () => {
  const { out } = claude(
    'cat ~/.claude/settings.json; cat ~/.claude/.credentials.json ~/.claude.json ~/.ssh/id_ed25519 .env',
  )
  expect(out).toBe(SETTINGS)
})

it('changes neither its settings nor those of the project', () => {
  const { code } = claude(
    'echo x > ~/.claude/settings.json; rm -rf ~/.claude; mv ~/.claude ~/c; mkdir .claude; echo "{}" > .claude/settings.json; echo x > .mcp.json; true',
  )
  expect(code).toBe(0)
  expect(readFileSync(join(project.home, '.claude/settings.json'), 'utf8')).toBe(SETTINGS)
  expect(existsSync(join(project.directory, '.claude'))).toBe(false)
  expect(existsSync(join(project.directory, '.mcp.json'))).toBe(false)
})

it('keeps no files, unless the manifest names the place', () => {
  mkdirSync(join(project.home, '.claude/projects'))
  const kept = join(project.home, '.claude/projects/s.jsonl')
  claude('mkdir -p ~/.claude/projects; echo x > ~/.claude/projects/s.jsonl')
  expect(existsSync(kept)).toBe(false)
  const manifest = readFileSync(join(project.directory, 'cordon.toml'), 'utf8')
  project.write('cordon.toml', `${manifest}[capabilities.allow.write]\npaths = ["**", "~/.claude/projects/**"]\n`)
  claude('echo x > ~/.claude/projects/s.jsonl; echo x > ~/.claude/settings.json')
  expect(existsSync(kept)).toBe(true)
  expect(readFileSync(join(project.home, '.claude/settings.json'), 'utf8')).toBe(SETTINGS)
})

it('gets nothing of this for another program', () => {
  const env = { ANTHROPIC_API_KEY: KEY }
  const { out } = project.cordon(
    ['run', '--manifest', 'cordon.toml', '--', 'sh', '-c', 'env; cat ~/.claude/settings.json'],
    { env },
  )
  expect(out).not.toContain('ANTHROPIC')
  expect(out).not.toContain(SETTINGS)
})
