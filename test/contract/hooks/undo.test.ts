/** What a hook lets pass because undo covers it runs only with undo, however the command came to be wrapped. */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type HookRunResult, runHookCommand } from '../../../src/agents/hook/run.ts'
import { ProjectUndo } from '../../../src/run/undo.ts'
import { UndoCover } from '../../../src/run/undo-cover.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { claude, cursor, effectOf, type HookWorld, openHookWorld } from './world.ts'

let world: HookWorld
beforeAll(async () => {
  world = await openHookWorld()
})
afterAll(() => world.close())
beforeEach(() => {
  world.forget()
  mkdirSync(join(world.project, 'lost'), { recursive: true })
  writeFileSync(join(world.project, 'lost/a.txt'), 'precious\n')
})

const COMMAND = 'rm -rf lost'
const ask = (command: string) => world.ask('claude-code', claude('Bash', { command }))

async function rewritten(command: string): Promise<string> {
  return JSON.parse((await ask(command)).stdout).hookSpecificOutput.updatedInput.command
}

function run(undo: boolean, command = COMMAND): Promise<HookRunResult> {
  const { machine, project: root } = world
  const io = { stdin: 'none', stdout: 'discard', stderr: 'discard' } as const
  return runHookCommand({
    machine,
    files: machineFiles,
    host: 'claude-code',
    session: 's',
    root,
    command,
    agreed: command === COMMAND ? null : [],
    undo,
    io,
  })
}

it('says so in the command that replaces the agent’s, and of nothing else', async () => {
  expect(await rewritten(COMMAND)).toContain(`+undo '${COMMAND}'`)
  expect(await rewritten('ls')).not.toContain('+undo')
})

it('adds it where an agent wrapped the command itself and left it out', async () => {
  const whole = await rewritten(COMMAND)
  expect(effectOf('claude-code', await ask(whole))).toBe('pass')
  const forged = whole.replace('+undo', '')
  expect(await rewritten(forged)).toBe(whole)
  // A host whose hook cannot rewrite takes only the whole form.
  const shown = await world.ask('cursor', cursor('beforeShellExecution', { command: COMMAND, cwd: '$P' }))
  expect(shown.stdout).toContain('+undo')
})

it('runs, and can be undone', async () => {
  expect(await run(true)).toMatchObject({ exitCode: 0 })
  expect(existsSync(join(world.project, 'lost'))).toBe(false)
  const undo = new ProjectUndo(world.machine)
  expect(undo.undo(undo.calls()[0]!, false)).toMatchObject({ conflicts: [], failed: [] })
  expect(existsSync(join(world.project, 'lost/a.txt'))).toBe(true)
})

it('keeps what a patch in a command changes', async () => {
  const lines = [
    '*** Begin Patch',
    '*** Update File: lost/a.txt',
    '@@',
    '-precious',
    '+other',
    '*** Add File: lost/b.txt',
    '+b',
  ]
  const patch = ["apply_patch <<'EOF'", ...lines, '*** End Patch', 'EOF', ''].join('\n')
  const text = () => readFileSync(join(world.project, 'lost/a.txt'), 'utf8')
  expect(await run(false, patch)).toMatchObject({ exitCode: 0 })
  expect(text()).toBe('other\n')
  const undo = new ProjectUndo(world.machine)
  const call = undo.calls()[0]!
  expect(call.about).toMatchObject({ what: 'apply_patch lost/a.txt lost/b.txt', session: 's' })
  expect(undo.undo(call, false)).toMatchObject({ conflicts: [], failed: [] })
  expect([text(), existsSync(join(world.project, 'lost/b.txt'))]).toEqual(['precious\n', false])
})

it('is asked about where undo was seen not to cover it; what passed before does not run', async () => {
  new UndoCover(world.machine.stateDir).noteUnkept(world.project, COMMAND)
  expect(effectOf('claude-code', await ask(COMMAND))).toBe('ask')
  expect(await run(true)).toMatchObject({ denied: expect.stringContaining('Call it again') })
  expect(existsSync(join(world.project, 'lost/a.txt'))).toBe(true)
  // The person said yes in the host.
  expect(await run(false)).toMatchObject({ exitCode: 0 })
  expect(existsSync(join(world.project, 'lost'))).toBe(false)
})

it('is asked about inside `cordon run`, where the calls of one agent are not kept apart', async () => {
  const answer = await world.ask('claude-code', claude('Bash', { command: 'rm -rf lost src' }), { inside: true })
  expect(effectOf('claude-code', answer)).toBe('ask')
})

const edit = (name: string, file_path: string) =>
  world.ask('claude-code', claude(name, { file_path, content: 'new', old_string: 'precious', new_string: 'new' }))
const done = (name: string) =>
  world.ask('claude-code', { ...claude(name, {}), hook_event_name: 'PostToolUse', tool_response: {} })

it('keeps what the host’s own Write and Edit change, several at once, and undoes them one after the other', async () => {
  const [old, created] = [join(world.project, 'lost/a.txt'), join(world.project, 'lost/deep/new.txt')]
  await edit('Edit', old)
  await edit('Write', created)
  writeFileSync(old, 'by the host\n')
  await done('Edit')
  mkdirSync(join(world.project, 'lost/deep'))
  writeFileSync(created, 'new')
  await done('Write')
  await edit('Edit', old)
  writeFileSync(old, 'by the host again\n')
  await done('Edit')
  const undo = new ProjectUndo({ ...world.machine, cwd: world.project })
  const calls = undo.calls().slice(0, 3)
  expect(calls.map(({ about }) => about.what.split(' ')[0])).toEqual(['Edit', 'Write', 'Edit'])
  expect(undo.undo(calls[0]!, false)).toMatchObject({ conflicts: [], failed: [] })
  expect(readFileSync(old, 'utf8')).toBe('by the host\n')
  expect(undo.undo(calls[1]!, false)).toMatchObject({ conflicts: [], failed: [] })
  expect(existsSync(join(world.project, 'lost/deep'))).toBe(false)
  expect(undo.undo(calls[2]!, false)).toMatchObject({ conflicts: [], failed: [] })
  expect(readFileSync(old, 'utf8')).toBe('precious\n')
})

it('keeps nothing of a write that did not happen, and does not take what the person wrote after it', async () => {
  const old = join(world.project, 'lost/a.txt')
  const before = new ProjectUndo({ ...world.machine, cwd: world.project }).calls().length
  await edit('Edit', old)
  await done('Edit')
  const undo = new ProjectUndo({ ...world.machine, cwd: world.project })
  expect(undo.calls()).toHaveLength(before)
  await edit('Edit', old)
  writeFileSync(old, 'by the host\n')
  await done('Edit')
  await new Promise((resolve) => setTimeout(resolve, 20))
  writeFileSync(old, 'by the person\n')
  expect(undo.undo(undo.calls()[0]!, false)).toMatchObject({ id: null, conflicts: [{ what: 'changed since' }] })
})
