/**
 * Tools against a path that is swapped for a link to the outside all the while: nothing outside is read or written.
 * `node test/attacks/tools/tools-race.ts 100000 20000` runs the long form.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../../src/system/fault.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { InputError } from '../../../src/tools/tool.ts'
import { openWorld, type World } from '../../contract/tools/tools-world.ts'
import { firstWord } from '../../first-word.ts'

const SECRET = 'SECRET-OF-THE-OUTSIDE'
const INSIDE = 'inside the project'

export interface RaceReport {
  readonly reads: number
  readonly writes: number
  /** Calls whose path was already a link when it was resolved: the decision refuses those. */
  readonly denied: number
  /** Calls that the kernel stopped, because the path changed after it was judged. */
  readonly stopped: number
  /** Calls that reached the inside. */
  readonly done: number
  readonly leaks: readonly string[]
}

/** Runs the race; `leaks` is what got out. */
export async function runRace(reads: number, writes: number): Promise<RaceReport> {
  const world = openWorld()
  const flipper = await startFlipper(world)
  const counts = { denied: 0, stopped: 0, done: 0 }
  const leaks: string[] = []
  const attempt = async (tool: string, input: Record<string, unknown>) => {
    // What the runtime decides: a path that points outside now is denied. The tool runs with what was resolved here.
    const given = (input.path ?? input.source ?? 'place/file.txt') as string
    const path = machineFiles.canonical(join(world.root, given))
    if (!path.startsWith(`${world.root}/`)) {
      counts.denied++
      return
    }
    const checked = (name: string) => (name === given ? path : join(world.root, name))
    try {
      const output = await world.call(tool, input, { checked })
      if (JSON.stringify(output).includes(SECRET)) leaks.push(`${tool} ${given} returned the secret`)
      counts.done++
    } catch (error) {
      // Between the flips the name is gone for a moment; every other fault is the guard at work.
      if (!(error instanceof Fault || error instanceof InputError)) throw error
      if (error.message.includes(SECRET)) leaks.push(`${tool} ${given} named the secret in its error`)
      if (error instanceof Fault && error.code === 'path-changed') counts.stopped++
    }
  }
  try {
    for (let index = 0; index < reads; index++) {
      await attempt(...readCalls[index % readCalls.length]!)
      if (index % 500 === 0) await breathe(flipper)
    }
    for (let index = 0; index < writes; index++) {
      await attempt(...writeCalls[index % writeCalls.length]!)
      if (index % 100 === 0) await breathe(flipper)
    }
    await stopFlipper(flipper)
    leaks.push(...outsideChanges(world))
    return { reads, writes, ...counts, leaks }
  } finally {
    await stopFlipper(flipper)
    world.close()
  }
}

/** Ends the other side, and waits until nothing moves any more. */
export async function stopFlipper(flipper: ChildProcess): Promise<void> {
  if (flipper.exitCode !== null || flipper.signalCode !== null) return
  const ended = new Promise((resolve) => flipper.once('exit', resolve))
  flipper.kill('SIGKILL')
  await ended
}

/** How often a check followed by a bare open leaks in the same space; the measure that the race is real. */
export async function runControl(attempts: number): Promise<number> {
  const world = openWorld()
  const flipper = await startFlipper(world)
  let leaks = 0
  try {
    for (let index = 0; index < attempts && leaks === 0; index++) {
      const path = join(world.root, index % 2 === 0 ? 'place/file.txt' : 'plain.txt')
      try {
        if (!machineFiles.canonical(path).startsWith(`${world.root}/`)) continue
        if (readFileSync(path, 'utf8').includes(SECRET)) leaks++
      } catch {
        // The name is gone for a moment between the flips.
      }
      if (index % 500 === 0) await breathe(flipper)
    }
    return leaks
  } finally {
    // One that still flips would make anew what is being removed.
    await stopFlipper(flipper)
    world.close()
  }
}

const readCalls: readonly [string, Record<string, unknown>][] = [
  ['read', { path: 'place/file.txt' }],
  ['read', { path: 'plain.txt' }],
  ['list', { path: 'place' }],
  ['grep', { path: 'place', pattern: 'SECRET' }],
  ['summary', { path: 'plain.txt' }],
  ['stat', { path: 'place/file.txt' }],
  ['copy', { source: 'plain.txt', destination: 'copied.txt' }],
  ['read', { path: 'copied.txt' }],
]

const patch = `*** Begin Patch\n*** Update File: place/file.txt\n@@\n-${INSIDE}\n+${INSIDE}\n*** End Patch`
const writeCalls: readonly [string, Record<string, unknown>][] = [
  ['write', { path: 'place/file.txt', content: `${INSIDE}\n` }],
  ['write', { path: 'plain.txt', content: `${INSIDE}\n` }],
  ['write', { path: 'place/new/deep.txt', content: INSIDE }],
  ['edit', { path: 'place/file.txt', old_string: INSIDE, new_string: `${INSIDE}.` }],
  ['edit', { path: 'place/file.txt', old_string: `${INSIDE}.`, new_string: INSIDE }],
  ['apply_patch', { patch }],
  ['mkdir', { path: 'place/created' }],
  ['chmod', { path: 'place/file.txt', mode: '640' }],
  ['delete', { path: 'place/new', recursive: true }],
  ['delete', { path: 'place/created' }],
]

async function startFlipper(world: World): Promise<ChildProcess> {
  world.file('place/file.txt', `${INSIDE}\n`)
  world.file('plain.txt', `${INSIDE}\n`)
  symlinkSync(world.outside, join(world.root, 'place.link'))
  symlinkSync(join(world.outside, 'file.txt'), join(world.root, 'plain.link'))
  mkdirSync(join(world.outside, 'new'))
  mkdirSync(join(world.outside, 'created'))
  writeFileSync(join(world.outside, 'file.txt'), `${SECRET}\n${INSIDE}\n`, { mode: 0o600 })
  writeFileSync(join(world.outside, 'new', 'deep.txt'), SECRET)
  const flipper = fork(join(import.meta.dirname, 'tools-flipper.ts'), [world.root], { execArgv: [] })
  await firstWord(flipper)
  return flipper
}

/** Lets the channel breathe, and makes sure that the other side still flips. */
async function breathe(flipper: ChildProcess): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  if (flipper.exitCode !== null) throw new Error('the flipper ended; the race was not run')
}

function outsideChanges(world: World): string[] {
  const found = Object.entries(world.snapshot()).filter(([path]) => path.startsWith('outside/'))
  const expected: Record<string, string> = {
    'outside/file.txt': `600 ${Buffer.from(`${SECRET}\n${INSIDE}\n`).toString('base64')}`,
    'outside/created': 'directory',
    'outside/new': 'directory',
    'outside/new/deep.txt': `644 ${Buffer.from(SECRET).toString('base64')}`,
  }
  const changed = found.filter(([path, content]) => expected[path] !== content).map(([path]) => `${path} was changed`)
  const gone = Object.keys(expected).filter((path) => !found.some(([name]) => name === path))
  return [...changed, ...gone.map((path) => `${path} is gone`)]
}

if (import.meta.main) {
  const [reads = 100_000, writes = 20_000] = process.argv.slice(2).map(Number)
  console.log('bare check-then-open leaks:', await runControl(200_000))
  const report = await runRace(reads, writes)
  console.log(report)
  if (report.leaks.length > 0) process.exitCode = 1
}
