/** `cordon quarantine` from end to end: a command leaves what would run, the settling takes it, and a person looks and puts it back. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SandboxFault } from '../../../src/sandbox/backend.ts'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { parseArguments } from '../../../src/surfaces/cli/arguments.ts'
import { run } from '../../../src/surfaces/cli/commands/run/quarantine.ts'
import { commandRow } from '../../../src/surfaces/cli/start/commands.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  vi.stubEnv('XDG_STATE_HOME', join(world.base, 'xdg'))
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await world.close()
})

/** `cordon quarantine ARGV`: what it printed. */
function quarantine(...argv: string[]): string {
  const out: string[] = []
  const terminal = { out: (text: string) => void out.push(text), err: () => {}, color: false, width: 80 }
  const args = parseArguments(commandRow('quarantine')!, argv)
  expect(run({ terminal, args } as unknown as Parameters<typeof run>[0])).toBe(0)
  return out.join('')
}

/** A command on a machine that cannot hold changes while it runs. */
async function runSettled(script: readonly string[]): Promise<void> {
  world.file('work.py', ['import os', ...script, ''].join('\n'))
  const backend = createBwrapBackend()
  const settled: typeof backend = {
    ...backend,
    capabilities: backend.capabilities,
    launch: async (underway, io) => {
      const plan = 'complete' in underway ? underway.complete() : underway
      if (plan.changes !== null) throw new SandboxFault('changes-broker', 'no Landlock')
      return backend.launch(plan, io)
    },
  }
  const machine = { ...world.machine, stateDir: join(world.base, 'xdg/cordon') }
  const manifest = { object: { schema_version: 1, permission: { mode: 'auto' } } }
  const session = (await world.open({ manifest, machine, backend: settled })).openSession()
  expect(await session.call('bash', { command: 'python3 work.py' })).toMatchObject({ status: 'done' })
  await session.close()
}

it('lists what a command left, shows it, and puts it back with its rights', async () => {
  expect(quarantine()).toBe('nothing is in the quarantine\n')
  await runSettled([
    "os.mkdir('.vscode')",
    "open('.vscode/tasks.json', 'w').write('{\"tasks\": 1}\\n')",
    "open('.envrc', 'w').write('touch /tmp/x\\033[8m\\n')",
    "open('plain', 'w').write('ok')",
    "os.chmod('.vscode/tasks.json', 0o640)",
    "os.chmod('.envrc', 0o740)",
  ])
  const at = (path: string) => join(world.root, path)
  const planted = ['.envrc', '.vscode/tasks.json']
  expect([...planted, 'plain'].map((path) => existsSync(at(path)))).toEqual([false, false, true])

  const listed = JSON.parse(quarantine('list', '--json')) as { id: string; path: string; kept: string }[]
  expect(listed.map(({ path }) => path).sort()).toEqual(planted.map(at))
  const [envrc, tasks] = planted.map((name) => listed.find(({ path }) => path === at(name))!)
  expect(quarantine()).toContain(`${envrc!.id}  ${at('.envrc')}`)
  expect(statSync(envrc!.kept).mode & 0o777).toBe(0)

  const shown = quarantine('diff', envrc!.id)
  expect(shown).toContain('+touch /tmp/x')
  expect(shown).not.toContain('\x1b')
  expect(quarantine('diff', tasks!.id)).toContain('+{"tasks": 1}')
  expect(existsSync(at('.envrc'))).toBe(false)

  expect(quarantine('restore', envrc!.id)).toBe(`restored ${at('.envrc')}\n`)
  expect(quarantine('restore', tasks!.id)).toBe(`restored ${at('.vscode/tasks.json')}\n`)
  expect([statSync(at('.envrc')).mode & 0o777, statSync(at('.vscode/tasks.json')).mode & 0o777]).toEqual([0o740, 0o640])
  expect(readFileSync(at('.vscode/tasks.json'), 'utf8')).toBe('{"tasks": 1}\n')
  expect(quarantine()).toBe('nothing is in the quarantine\n')
})

it('what exists there now is replaced only when asked to, and an id that is not listed is refused', async () => {
  await runSettled(["open('.envrc', 'w').write('planted\\n')"])
  const [{ id }] = JSON.parse(quarantine('--json')) as [{ id: string }]
  world.file('.envrc', 'mine\n')
  expect(() => quarantine('restore', id)).toThrow(/something at .*\.envrc/)
  expect(world.text('.envrc')).toBe('mine\n')
  for (const other of ['', 'x/1', `${id}/../1`, '../../config']) {
    expect(() => quarantine('restore', other)).toThrow(/name an entry of/)
    expect(() => quarantine('diff', other)).toThrow(/name an entry of/)
  }
  expect(quarantine('restore', id, '--force')).toContain('restored')
  expect(world.text('.envrc')).toBe('planted\n')
})
