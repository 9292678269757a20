/** One whole task in a repository of 5,000 files, with a model that behaves like a coding agent: nothing is asked on the way. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { ChatWorld } from './chat-world.ts'
import type { ScriptedAnswer } from './scripted-model.ts'

let world: ChatWorld | null = null
afterEach(async () => {
  await world?.close()
  world = null
})

const FILES = 5000
const TEST = `import { test } from 'node:test'
import assert from 'node:assert/strict'
import { total } from '../src/total.mjs'
test('adds up', () => assert.equal(total([1, 2, 3]), 6))
test('of nothing it is 0', () => assert.equal(total([]), 0))
`
const BUG = 'export const total = (list) => list.reduce((sum, one) => sum - one)\n'

const call = (name: string, input: unknown) => ({ name, input })
const edit = (old_string: string, new_string: string) => call('edit', { path: 'src/total.mjs', old_string, new_string })

/** Looks, reads, repairs, tests, fails, repairs again, tests, and commits. */
const STEPS: readonly ScriptedAnswer[] = [
  { text: 'I look around.', calls: [call('glob', { pattern: 'src/*.mjs' }), call('grep', { pattern: 'total' })] },
  { calls: [call('read', { path: 'src/total.mjs' }), call('read', { path: 'test/total.test.mjs' })] },
  { calls: [call('bash', { command: 'git status --short && git log --oneline | head -3' })] },
  { calls: [edit('sum - one', 'sum + one')] },
  { calls: [call('bash', { command: 'node --test test/ 2>&1 | tail -40' })] },
  { text: 'An empty list still fails.', calls: [edit('sum + one)', 'sum + one, 0)')] },
  { calls: [call('bash', { command: 'node --test test/' }), call('bash', { command: 'git diff --stat' })] },
  { calls: [call('bash', { command: "git add src/total.mjs && git commit -q -m 'Add up what is listed'" })] },
  { text: 'Done: `total` adds, also nothing.' },
]

it('repairs, tests and commits in a repository of 5,000 files without a question', async () => {
  world = await ChatWorld.open(({ text }, index) => {
    return { ...STEPS[index]!, usage: { input: Math.ceil(text.length / 4), output: 60 } }
  })
  const { root, home } = world
  for (let part = 0; part < 50; part++) {
    const folder = join(root, 'src', `part${part}`)
    mkdirSync(folder, { recursive: true })
    for (let at = part; at < FILES; at += 50)
      writeFileSync(join(folder, `file${at}.mjs`), `export const value = ${at}\n`)
  }
  world.write('src/total.mjs', BUG)
  world.write('test/total.test.mjs', TEST)
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: root, env: { PATH: process.env.PATH, HOME: home }, encoding: 'utf8' })
  git('init', '-q', '-b', 'main')
  git('config', 'user.name', 'Person')
  git('config', 'user.email', 'person@example.org')
  git('add', '-A')
  git('commit', '-q', '-m', 'Begin')
  const ran = await world.cordon([
    'chat',
    '-p',
    'the totals are wrong: repair them',
    '--mode',
    'contained',
    '--output',
    'stream-json',
  ])
  const lines = ran.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const result = lines.at(-1)
  // Nobody could answer, so a question would have been a refusal.
  expect([result.subtype, result.permission_denials, ran.code]).toEqual(['success', [], 0])
  expect(world.auditLines().filter(({ decision }) => (decision as { verdict?: string })?.verdict === 'ask')).toEqual([])
  expect(git('log', '--format=%s')).toBe('Add up what is listed\nBegin\n')
  expect(git('show', '--stat', '--format=', 'HEAD')).toContain('1 file changed')
  const outputs = lines.filter(({ type }) => type === 'user').map(({ message }) => JSON.stringify(message))
  expect(outputs[4]).toMatch(/fail 1\b/)
  expect(outputs[6]).toMatch(/fail 0\b/)
  expect(world.model.seen[0]!.text).toContain('Git: branch main.')
  expect(result.usage.input_tokens).toBeLessThan(60_000)
})
