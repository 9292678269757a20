/** A host's own rules about commands hold under the hook, which alone sees the command; they close and never open. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { HostName } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { findHost } from '../../../src/surfaces/hook/hosts/hosts.ts'
import { ownRulesTold } from '../../../src/surfaces/hook/install/check.ts'
import { CONTRACT } from './host-contract.ts'
import { type AskOptions, claude, codex, effectOf, type HookWorld, openHookWorld } from './world.ts'

let world: HookWorld
beforeEach(async () => {
  world = await openHookWorld()
})
afterEach(() => world.close())

const put = (name: string, text: string): string => {
  const file = join(world.base, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

const WITH_RULES = Object.entries(CONTRACT).flatMap(([name, { denies }]) =>
  denies === null ? [] : [{ name: name as HostName, denies }],
)

describe.each(WITH_RULES)('$name', ({ name, denies }) => {
  const { shell } = CONTRACT[name]
  const options: AskOptions = 'flags' in denies ? { commandLine: denies.flags } : {}

  it('denies what its person denied, names the rule, and leaves the rest', async () => {
    const before = await world.ask(name, shell('mkdir x'))
    expect(effectOf(name, before)).toBe('sandboxed')
    const [wrapped = ''] =
      /\S*cordon-run [0-9a-f]{12}\S* 'mkdir x'/.exec(JSON.parse(JSON.stringify(before.stdout))) ?? []
    expect(wrapped).not.toBe('')
    const place = 'flags' in denies ? '--deny-tool' : put(denies.file, denies.text)
    // The last is what an agent can write by itself.
    const form = wrapped.slice(wrapped.indexOf('/'))
    for (const command of ['mkdir x', 'ls && /bin/mkdir x', 'sh -c "mkdir x"', 'A=1 command mkdir x', form]) {
      world.forget()
      const answer = await world.ask(name, shell(command), options)
      expect(effectOf(name, answer), command).toBe('deny')
      expect(answer.stdout, command).toContain(place)
      expect(answer.stdout, command).toContain('mkdir')
    }
    world.forget()
    expect(effectOf(name, await world.ask(name, shell('ls'), options))).toBe('sandboxed')
    // There nothing is wrapped: the host sees the command itself.
    expect(effectOf(name, await world.ask(name, shell('mkdir x'), { ...options, inside: true }))).toBe('pass')
  })
})

const bash = (command: string, more: object = {}): object => claude('Bash', { command }, more)
const effect = async (input: object, options: AskOptions = {}): Promise<string> => {
  world.forget()
  return effectOf('claude-code', await world.ask('claude-code', input, options))
}
const rules = (permissions: object): string => JSON.stringify({ permissions })

it('asks what its person wants to be asked, and denies it where nobody can be', async () => {
  put('home/.claude/settings.json', rules({ ask: ['Bash(mkdir:*)'] }))
  expect(await effect(bash('mkdir x'))).toBe('ask')
  expect(await effect(bash('mkdir x', { permission_mode: 'bypassPermissions' }))).toBe('deny')
  expect(await effect(bash('ls'))).toBe('sandboxed')
})

it('takes rules of the project, of a folder above the call, and of the command line', async () => {
  put('project/.claude/settings.local.json', rules({ deny: ['Bash(mkdir:*)'] }))
  expect(await effect(bash('mkdir x'))).toBe('deny')
  expect(await effect(bash('mkdir x', { cwd: '$P/src' }))).toBe('deny')
  rmSync(join(world.project, '.claude'), { recursive: true })
  expect(await effect(bash('mkdir x'))).toBe('sandboxed')
  for (const flags of [
    ['--disallowedTools', 'Edit,Bash(mkdir:*)'],
    ['--settings', rules({ deny: ['Bash(mkdir:*)'] })],
  ])
    expect(await effect(bash('mkdir x'), { commandLine: ['node', 'claude', ...flags, '-p', 'go'] })).toBe('deny')
})

it('applies rules about files to commands, as Claude Code does, except those of the installation', async () => {
  put('home/.claude/settings.json', rules({ deny: ['Read(./src/a.ts)', 'Read(**/.env)'] }))
  expect(await effect(bash('cat src/a.ts'))).toBe('deny')
  expect(await effect(bash('cat a.ts', { cwd: '$P/src' }))).toBe('deny')
  expect(await effect(bash('ls src'))).toBe('sandboxed')
  // Of secrets a person can be asked.
  expect(await effect(bash('cat .env'))).toBe('ask')
  // Its tools reach Claude Code unchanged, so Claude Code enforces that itself.
  expect(await effect(claude('Read', { file_path: '$P/src/a.ts' }))).toBe('pass')
})

it('lets a project’s settings close, not open', async () => {
  put('project/.claude/settings.json', rules({ allow: ['Bash(git push:*)', 'Bash'], defaultMode: 'bypassPermissions' }))
  expect(await effect(bash('git push origin main'))).toBe('deny')
  put('home/.claude/settings.json', rules({ deny: ['Bash(mkdir:*)'] }))
  expect(await effect(bash('mkdir x'))).toBe('deny')
})

it.each([
  ['no JSON', '{"permissions":{"deny":["Bash(mkdir:*)"]}'],
  ['a wrong type', rules({ deny: 'Bash(mkdir:*)' })],
  ['a rule that is cut', rules({ deny: ['Bash(mkdir'] })],
])('asks for every command where settings cannot be understood: %s', async (_, text) => {
  const file = put('project/.claude/settings.json', text)
  const answer = await world.ask('claude-code', bash('ls'))
  expect(effectOf('claude-code', answer)).toBe('ask')
  expect(answer.stdout).toContain(file)
})

it('does not follow the folder that an agent chooses for its call', async () => {
  put('project/.codex/rules/own.rules', 'prefix_rule(pattern = ["mkdir"], decision = "forbidden")')
  mkdirSync(join(world.base, 'other'))
  const answer = await world.ask('codex', codex('Bash', { command: 'mkdir x' }, { cwd: `${world.base}/other` }))
  expect(effectOf('codex', answer)).toBe('deny')
})

it('explains to its person what applies, and what cannot be understood', async () => {
  const { home, env } = world.machine
  const reported = () => ownRulesTold(findHost('claude-code')!.ownRules, { root: world.project, home, env })
  expect(await reported()).toEqual([])
  const user = put(
    'home/.claude/settings.json',
    rules({ deny: ['Bash(mkdir:*)', 'Read(**/.env)'], allow: ['Bash(ls)'] }),
  )
  const project = put('project/.claude/settings.json', '{')
  expect(await reported()).toEqual([
    `applies what ${project} denies or asks: it, which cannot be read, so every command asks`,
    `applies what ${user} denies or asks: Bash(mkdir:*)`,
  ])
})
