import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { hooksOff, unguardedLine, unguardedSessions } from './open-sessions.ts'

const OFF = { flags: ['--bare'], variables: ['NO_HOOKS'] }

it.each([
  [['claude', '--bare', 'x'], {}, '--bare'],
  [['claude', 'say --bare'], {}, null],
  [['claude', '--', '--bare'], {}, null],
  [['claude'], { NO_HOOKS: '1' }, 'NO_HOOKS'],
  [['claude'], { NO_HOOKS: '0' }, null],
  [['claude'], {}, null],
])('%j with %j: %s', (words, variables, expected) => {
  expect(hooksOff(OFF, words, () => variables as Record<string, string>)).toBe(expected)
})

it('finds sessions that began before, or have no hooks, by their name', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cordon-open-'))
  const program = `agent-${process.pid}`
  symlinkSync('/bin/cat', join(folder, program))
  const sessions = [[], ['-u', '--bare']].map((args) =>
    spawn(join(folder, program), args.slice(0, 1), { argv0: program, env: args.length > 0 ? { NO_HOOKS: '1' } : {} }),
  )
  try {
    await Promise.all(sessions.map((one) => once(one, 'spawn')))
    const [plain, bare] = sessions.map(({ pid }) => pid!) as [number, number]
    const found = (since: number | null) => unguardedSessions({ program, withoutHooks: OFF }, since)
    const without = { pid: bare, why: 'without hooks', by: 'NO_HOOKS' }
    expect(found(null)).toEqual([without])
    expect(found(0)).toEqual([without])
    expect(found(Date.now() + 60_000)).toEqual(expect.arrayContaining([without, { pid: plain, why: 'older' }]))
    expect(unguardedLine('x', found(null))).toBe(
      `an open session of x was started without hooks: process ${bare} (NO_HOOKS)`,
    )
    expect(unguardedLine('x', [])).toBeNull()
  } finally {
    for (const one of sessions) one.kill()
    rmSync(folder, { recursive: true })
  }
})
