/** A host's own sandbox leaves wrapped commands alone, and ours is then no wider than that one was. */

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { runHookCommand } from '../../../src/agents/hook/run.ts'
import { programPath } from '../../../src/agents/hook/wrapped-runs.ts'
import { codexRules } from '../../../src/surfaces/hook/records/codex-record.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { claude, codex, effectOf, type HookWorld, openHookWorld } from './world.ts'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld()
})
afterAll(() => world.close())
beforeEach(() => world.forget())

function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

describe('Codex', () => {
  const turn = (id: string, type: string | null): unknown => ({
    type: 'turn_context',
    payload: { turn_id: id, ...(type !== null && { sandbox_policy: { type } }) },
  })
  const said = { type: 'response_item', payload: { text: JSON.stringify(turn('t1', 'danger-full-access')) } }
  /** A record with more behind the turn's beginning than is read at once. */
  const long = Array.from({ length: 30 }, () => ({ type: 'x', payload: 'y'.repeat(100_000) }))

  /** The command instead of the agent's, in a session with this record. */
  const rewritten = async (record: readonly unknown[] | null, command = 'ls'): Promise<string> => {
    const path = join(world.base, 'record.jsonl')
    if (record !== null) put(path, record.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const more = { turn_id: 't1', ...(record !== null && { transcript_path: path }) }
    const answer = await world.ask('codex', codex('Bash', { command }, more))
    return effectOf('codex', answer) === 'pass'
      ? command
      : JSON.parse(answer.stdout).hookSpecificOutput.updatedInput.command
  }
  const rules = () => join(world.machine.home, '.codex/rules/cordon.rules')

  beforeEach(() => put(rules(), codexRules(programPath(world.machine))))

  it.each([
    ['may write', [turn('t1', 'workspace-write')], false],
    ['may do all', [turn('t1', 'danger-full-access')], false],
    ['may only read', [turn('t1', 'read-only')], true],
    ['may only read in this turn', [turn('t0', 'workspace-write'), turn('t1', 'read-only')], true],
    [
      'may write in this turn',
      [turn('t0', 'read-only'), turn('t1', 'workspace-write'), turn('t2', 'read-only')],
      false,
    ],
    ['has said so itself, in a text', [turn('t1', 'read-only'), said], true],
    ['has a long turn behind it', [turn('t1', 'workspace-write'), ...long], false],
    ['has a mode that nobody knows', [turn('t1', 'most-things')], true],
    ['has a turn without a mode', [turn('t1', null)], true],
    ['has a record of something else', [{}], true],
    ['has no record', null, true],
  ])('a session that %s', async (_, record, readOnly) => {
    expect(/^\S+ [0-9a-f]{12}(\+read)? 'ls'$/.exec(await rewritten(record))?.[1] === '+read').toBe(readOnly)
  })

  it('contains commands itself unless it was configured not to', async () => {
    rmSync(rules())
    expect(await rewritten([turn('t1', 'read-only')])).toMatch(/[0-9a-f]{12} 'ls'$/)
  })

  it('cannot be had to write by an agent that wraps the command itself', async () => {
    const free = await rewritten([turn('t1', 'workspace-write')])
    const kept = await rewritten([turn('t1', 'read-only')])
    expect(await rewritten([turn('t1', 'read-only')], free)).toBe(kept)
    expect(await rewritten([turn('t1', 'read-only')], kept)).toBe(kept)
  })

  it.each([
    ['a command', 'touch new.txt', 1],
    ['a patch', "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+x\n*** End Patch\nEOF", null],
  ])('%s that may only read writes nothing, and writes otherwise', async (_, command, code) => {
    const created = join(world.project, 'new.txt')
    const run = (readOnly: boolean) =>
      runHookCommand({
        machine: world.machine,
        files: machineFiles,
        host: 'codex',
        session: 's',
        root: world.project,
        command,
        readOnly,
        io: { stdin: 'none', stdout: 'discard', stderr: 'discard' },
      })
    const kept = await run(true)
    expect('denied' in kept ? null : kept.exitCode).toBe(code)
    expect(existsSync(created)).toBe(false)
    expect(await run(false)).toMatchObject({ exitCode: 0 })
    expect(existsSync(created)).toBe(true)
    rmSync(created)
  })
})

it('a command is not combined with others while Claude Code’s sandbox is on, because that leaves no other alone', async () => {
  const settings = join(world.project, '.claude/settings.json')
  const moved = async () => {
    const answer = await world.ask('claude-code', claude('Bash', { command: 'cd src && ls' }))
    return JSON.parse(answer.stdout).hookSpecificOutput.updatedInput.command.startsWith('cd -- ')
  }
  expect(await moved()).toBe(true)
  put(settings, '{"sandbox":{"enabled":true}}')
  expect(await moved()).toBe(false)
  put(settings, '{"sandbox":{"enabled":false}}')
  expect(await moved()).toBe(true)
  put(settings, '{')
  expect(await moved()).toBe(false)
})
