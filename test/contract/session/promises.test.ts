/** Promises that take a whole session to see: the breaker, plan mode, baselines, skills, its own directory, the brief. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import type { Session } from '../../../src/session/session.ts'
import { openSessionWorld, type SessionWorld } from './session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  world.file('a.txt', 'one\n')
})
afterEach(() => world.close())

const RUNS = { schema_version: 1, permission: { tools: { bash: 'allow' } }, security: { redirects: 'all' } }

async function sessionOf(object: unknown): Promise<Session> {
  return (await world.open({ manifest: { object } })).openSession()
}

describe('the circuit breaker', () => {
  const settings = { ...RUNS, rings: { breaker: { failures: 3 } } }

  it('does not count commands that fail: mending tests is ordinary work', async () => {
    const session = await sessionOf(settings)
    for (const command of ['false', 'exit 2', 'sh -c "exit 101"', 'no-such-program', 'false', 'false'])
      expect((await session.call('bash', { command })).status).toBe('done')
    expect((await session.call('bash', { command: 'true' })).status).toBe('done')
  })

  it('does not count code that throws, nor a question that nobody answers', async () => {
    const session = await sessionOf({ ...settings, permission: { tools: { bash: 'allow', code_exec: 'allow' } } })
    for (let at = 0; at < 4; at++) {
      expect((await session.call('code_exec', { code: 'throw new Error("x")' })).status).toBe('done')
      expect((await session.call('question', { question: 'which?' })).status).toBe('done')
    }
    expect((await session.call('bash', { command: 'true' })).status).toBe('done')
  })

  it('counts denials and faults', async () => {
    const session = await sessionOf(settings)
    await session.call('bash', { command: 'sudo ls' })
    await session.call('read', { path: 'not-there' })
    await session.call('bash', { command: 'sudo ls' })
    expect(resultText(await session.call('bash', { command: 'true' }))).toContain('circuit breaker')
  })
})

describe('the plan agent', () => {
  it('lists, reads and stops commands in the background, and starts none', async () => {
    const session = await sessionOf(RUNS)
    const started = await session.call('bash', { command: 'echo here; sleep 60', background: true })
    const handle = (started as { output: { data: { handle: string } } }).output.data.handle
    session.setAgent('plan')
    expect((await session.call('bash', { command: 'true' })).status).toBe('denied')
    expect(resultText(await session.call('bash', { action: 'list' }))).toContain(handle)
    expect((await session.call('bash', { action: 'read', handle })).status).toBe('done')
    expect((await session.call('bash', { action: 'kill', handle })).status).toBe('done')
    session.setAgent('build')
    session.setMode('plan')
    expect((await session.call('bash', { action: 'list' })).status).toBe('done')
    expect((await session.call('bash', { command: 'true' })).status).toBe('denied')
  })
})

describe('command_fs = "none"', () => {
  it('runs what is granted, by the merged folders’ links', async () => {
    const session = await sessionOf({
      ...RUNS,
      sandbox: { os: { command_fs: 'none' } },
      capabilities: { allow: { read: { paths: ['/usr/**', './**'] } } },
    })
    const result = await session.call('bash', { command: 'cat a.txt; ls /etc' })
    expect(resultText(result)).toContain('one')
    expect(resultText(result)).toContain("cannot access '/etc'")
  })
})

describe('the discovery brief', () => {
  it('widens the envelope when it grows, and takes nothing away when it shrinks or breaks', async () => {
    const brief = (...globs: string[]) => world.file('brief.json', JSON.stringify({ in_scope_files: globs }))
    brief('src/**')
    const session = await sessionOf({ ...RUNS, files: { discovery_brief: 'brief.json' } })
    const write = async (path: string) => (await session.call('write', { path, content: 'x' })).status
    expect([await write('src/a'), await write('docs/a')]).toEqual(['done', 'denied'])
    brief('src/**', 'docs/**')
    expect(await write('docs/a')).toBe('done')
    expect((await session.call('bash', { command: 'echo y > docs/b' })).status).toBe('done')
    expect(world.text('docs/b')).toBe('y\n')
    brief('lib/**')
    expect([await write('src/b'), await write('docs/c'), await write('lib/a')]).toEqual(['done', 'done', 'done'])
    world.file('brief.json', 'no json')
    expect([await write('src/c'), await write('etc/a')]).toEqual(['done', 'denied'])
  })
})

describe('skills', () => {
  it.each(['system', 'permissive', 'all'])(
    'of the person can be read and run under %s, and not changed',
    async (baseline) => {
      const { home, configDir } = world.machine
      const scripts = [join(home, '.agents/skills/mine/run.sh'), join(configDir, 'skills/other/run.sh')]
      for (const script of scripts) {
        mkdirSync(dirname(script), { recursive: true })
        writeFileSync(join(dirname(script), 'SKILL.md'), '# Mine\n')
        writeFileSync(script, '#!/bin/sh\necho ran $1\n', { mode: 0o755 })
      }
      writeFileSync(join(configDir, 'private'), 'closed')
      const session = await sessionOf({ ...RUNS, sandbox: { os: { command_fs: baseline } } })
      for (const script of scripts) {
        expect(resultText(await session.call('bash', { command: `${script} well` }))).toContain('ran well')
        const changed = await session.call('bash', { command: `echo x >> ${script}` })
        expect(changed.status).toBe('denied')
        expect(resultText(await session.call('bash', { command: `sh -c 'cp /etc/hostname "$0"' ${script}` }))).not.toBe(
          '',
        )
        expect(readFileSync(script, 'utf8')).toBe('#!/bin/sh\necho ran $1\n')
      }
      const looked = await session.call('bash', { command: `sh -c 'cat "$0"/private' ${configDir}` })
      expect(resultText(looked)).not.toContain('closed')
    },
  )
})
