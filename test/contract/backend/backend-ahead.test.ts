/** Sandboxes that are prepared ahead: the next command finds everything as it is by then, and nothing is left of them. */

import { execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Backend } from '../../../src/sandbox/backend.ts'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { buildProber } from '../../attacks/sandbox/fixture.ts'
import { firstWord } from '../../first-word.ts'
import { type PlanChange, planIn } from '../../plan-in.ts'
import { until } from '../../until.ts'
import { openSessionWorld } from '../session/session-world.ts'

const AHEAD = fileURLToPath(new URL('./backend-ahead.ts', import.meta.url))

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
})

let folder: string
let project: string
let backend: Backend
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cordon-ahead-'))
  project = join(folder, 'project')
  mkdirSync(project)
  backend = createBwrapBackend({ commands: 'many' })
})
afterEach(async () => {
  backend.release()
  await until('no space is left', () => children().length === 0)
  rmSync(folder, { recursive: true, force: true })
})

/** bubblewraps that name the folder: those that run, and those that wait. */
function sandboxes(): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      return line.includes('--unshare-user') && line.includes(folder) ? [Number(pid)] : []
    } catch {
      return []
    }
  })
}

/** What this process started and has not ended: sandboxes, from the moment in which they are started. */
function children(): number[] {
  return readdirSync('/proc/self/task').flatMap((thread) =>
    readFileSync(`/proc/self/task/${thread}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
  )
}

/** Control groups that this process created. */
function groups(): string[] {
  const controllers = existsSync('/sys/fs/cgroup') ? readdirSync('/sys/fs/cgroup') : []
  return ['', ...controllers].flatMap((controller) => {
    const place = join('/sys/fs/cgroup', controller, 'cordon')
    return existsSync(place) ? readdirSync(place).filter((name) => name.startsWith(`run-${process.pid}-`)) : []
  })
}

async function run(script: string, change: PlanChange = {}): Promise<string> {
  const plan = planIn(project, ['bash', '-c', script], { limits: { timeoutMs: 240_000 }, ...change })
  const result = await backend.launch(plan, { stdout: 'capture', stderr: 'capture' })
  return result.stdout!.bytes.toString() + result.stderr!.bytes.toString()
}

/** Until nothing but a spare is there: it is prepared a turn after the command, whose own layout the kernel clears away meanwhile. */
async function waiting(): Promise<void> {
  await sleep(2)
  await until('one layout waits', () => children().length === 1)
}

/** A command that runs until it is asked to end; it has started once this resolves. */
async function runHeld(): Promise<() => Promise<string>> {
  const [begun, go] = [join(project, 'begun'), join(project, 'go')]
  const running = run('touch begun; until [ -e go ]; do sleep 0.02; done; rm begun go; echo ended')
  await until('it begins', () => existsSync(begun))
  return () => {
    writeFileSync(go, '')
    return running
  }
}

test('the next command runs in the layout that waits', async () => {
  await run('true')
  await waiting()
  const before = children()
  // Nothing is prepared while it runs: it is not in a hurry.
  await sleep(50)
  const end = await runHeld()
  expect(children()).toEqual(before)
  expect(await end()).toBe('ended\n')
})

test('a project that was replaced meanwhile is the new one', async () => {
  writeFileSync(join(project, 'a'), 'old')
  expect(await run('cat a')).toBe('old')
  await waiting()
  renameSync(project, join(folder, 'away'))
  mkdirSync(project)
  writeFileSync(join(project, 'a'), 'new')
  expect(await run('cat a')).toBe('new')
})

test('a granted file that was replaced meanwhile is the new one', async () => {
  const file = join(folder, 'granted')
  writeFileSync(file, 'old')
  expect(await run(`cat ${file}`, { reads: [file] })).toBe('old')
  await waiting()
  writeFileSync(`${file}.new`, 'new')
  renameSync(`${file}.new`, file)
  expect(await run(`cat ${file}`, { reads: [file] })).toBe('new')
})

test('a file system that was mounted meanwhile is there, and one that was taken away is not', () => {
  const mountPoint = join(project, 'mounted')
  mkdirSync(mountPoint)
  const apart = process.getuid!() === 0 ? ['--mount'] : ['--mount', '--map-root-user']
  const seen = execFileSync('unshare', [...apart, process.execPath, AHEAD, project, mountPoint], { encoding: 'utf8' })
  expect(seen).toBe('mounted\nbelow\n')
})

test('other places, other layout', async () => {
  const other = join(folder, 'other')
  mkdirSync(other)
  writeFileSync(join(other, 'b'), 'there')
  await run('true')
  await waiting()
  expect(await run(`cat ${other}/b`, { reads: [other] })).toBe('there')
  expect(await run(`cat ${other}/b`)).toContain('No such file')
})

test('what a command leaves in /tmp and /dev/shm is not there for the next', async () => {
  await run('true')
  await waiting()
  await run('echo left > /tmp/left; echo left > /dev/shm/left')
  await waiting()
  expect(await run('cat /tmp/left /dev/shm/left 2>&1 | grep -c "No such file"')).toBe('2\n')
})

test.each([{ processes: 20 }, { processes: 60 }])('the limits are those of the command: %o', async (limits) => {
  const prober = buildProber(folder)
  const change = { reads: [prober], limits: { ...limits, timeoutMs: 240_000 } }
  for (let i = 0; i < 2; i++) {
    const count = Number(await run(`${prober} forks 100`, change))
    expect(count).toBeGreaterThan(limits.processes / 2)
    expect(count).toBeLessThanOrEqual(limits.processes)
    await waiting()
  }
})

test('no spare sandbox is prepared while a command runs that could move one of its places', async () => {
  const inner = join(project, 'inner')
  mkdirSync(inner)
  const end = await runHeld()
  const only = children()
  await run('true', { cwd: inner, writes: [inner] })
  await sleep(2)
  await until('its layout is gone', () => children().length === 1)
  expect(children()).toEqual(only)
  await end()
})

test('commands in a hurry find a layout too', async () => {
  // On a busy machine one command may not follow the other soon enough to count as one in a hurry.
  await until('a spare sandbox is prepared while a command runs in another', async () => {
    backend.release()
    await until('no space is left', () => children().length === 0)
    backend = createBwrapBackend({ commands: 'many' })
    await run('true')
    const first = new Set(children())
    await sleep(2)
    const end = await runHeld()
    const found = children().filter((pid) => !first.has(pid)).length
    await end()
    return found > 1
  })
})

test('rest leaves nothing, and no control group', async () => {
  await run('true', { limits: { processes: 50 } })
  await waiting()
  backend.release()
  await until('no space is left', () => sandboxes().length === 0)
  await until('no control group is left', () => groups().length === 0)
})

test('a session leaves nothing when it is closed, and hides a secret that came after its layout', async () => {
  const world = openSessionWorld()
  try {
    const cordon = await world.open({ manifest: { object: { schema_version: 1, permission: { mode: 'auto' } } } })
    const session = cordon.openSession()
    rmSync(folder, { recursive: true })
    folder = world.root
    await session.call('bash', { command: 'true' })
    await waiting()
    world.file('.env', 'TOPSECRET')
    const read = await session.call('bash', { command: 'cat .e*' })
    expect(read.status === 'done' && read.output.text).not.toContain('TOPSECRET')
    await waiting()
    await session.close()
    await until('no space is left', () => sandboxes().length === 0)
  } finally {
    await world.close()
  }
})

test.each(['exit', 'SIGKILL', 'SIGTERM'] as const)('a process that ends by %s leaves nothing', async (how) => {
  const child = spawn(process.execPath, [AHEAD, project], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  await firstWord(child)
  await until('a layout waits', () => sandboxes().length > 0)
  if (how === 'exit') child.stdin.end()
  else child.kill(how)
  expect(await ended).toBe(how === 'exit' ? 0 : null)
  await until('no space is left', () => sandboxes().length === 0)
})
