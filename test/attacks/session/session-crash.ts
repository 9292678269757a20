/**
 * Kills a session at random points of writes, edits, patches and grant changes: every file is either old or new, the manifest
 * stays signed, the grants can be read. `node test/attacks/session/session-crash.ts 500` runs the long form.
 */

import { fork } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { openSavedGrants } from '../../../src/project/answer-counts.ts'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

const LINES = 2000

/** A file of one generation: every line names it. */
export function contentOf(generation: number): string {
  return `generation ${generation}\n`.repeat(LINES)
}

export interface CrashReport {
  readonly kills: number
  readonly faults: readonly string[]
  /** Files that the workers created, and rules that their answers added: they show that it worked. */
  readonly written: number
  readonly amended: number
  /** Temporary files of killed writes that the next start removed. */
  readonly reaped: number
}

const MANIFEST = `schema_version = 1
[permission]
mode = "custom"
[capabilities.allow.commands]
patterns = ["git status"]
[capabilities.allow.write]
paths = ["written.txt", "edited.txt", "patched-*"]
`

/** Runs and kills. */
export async function runCrashes(kills: number, seed = 1): Promise<CrashReport> {
  const world = openSessionWorld()
  const faults: string[] = []
  let reaped = 0
  let random = seed
  const next = () => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648
    return random / 2_147_483_648
  }
  try {
    world.file('written.txt', contentOf(0))
    world.file('edited.txt', contentOf(0))
    await world.sign(MANIFEST)
    // On a busy machine the workers get nothing done so soon: then they are given longer.
    for (let round = 0; round < kills || (round < kills * 4 && Math.min(...progress(world)) === 0); round++) {
      await crash(world, round, next() * (round < kills ? 300 : 5000))
      const left = temporaries(world)
      faults.push(...(await inspect(world)).map((fault) => `after kill ${round}: ${fault}`))
      reaped += left - temporaries(world)
      if (temporaries(world) > 0) faults.push(`after kill ${round}: a temporary file stayed`)
    }
    const [written, amended] = progress(world)
    return { kills, faults, written, amended, reaped }
  } finally {
    await world.close()
  }
}

/** Files that the workers created, and rules that their answers added. */
function progress(world: SessionWorld): readonly [written: number, amended: number] {
  const names = readdirSync(world.root, { recursive: true }).map(String)
  const written = names.filter((name) => /patched|asked\//.test(name)).length
  return [written, (world.text('cordon.toml').match(/always\//g) ?? []).length]
}

async function crash(world: SessionWorld, round: number, milliseconds: number): Promise<void> {
  const worker = fork(join(import.meta.dirname, 'session-crash-worker.ts'), [world.base, String(round * 1000)], {
    execArgv: [],
  })
  const ended = new Promise((resolve) => worker.once('exit', resolve))
  await Promise.race([new Promise((resolve) => worker.once('message', resolve)), ended])
  if (worker.exitCode !== null) throw new Error('the worker ended by itself')
  await new Promise((resolve) => setTimeout(resolve, milliseconds))
  worker.kill('SIGKILL')
  await ended
}

async function inspect(world: SessionWorld): Promise<string[]> {
  const faults: string[] = []
  const names = readdirSync(world.root, { recursive: true }).map(String)
  for (const name of names.filter(
    (name) => /\.txt(?:\.\d+)?$/.test(name) && statSync(join(world.root, name)).isFile(),
  )) {
    const lines = world.text(name).split('\n')
    const whole =
      lines.length === LINES + 1 && lines.at(-1) === '' && lines.slice(0, -1).every((line) => line === lines[0])
    if (!whole) faults.push(`${name} is neither old nor new (${lines.length} lines)`)
  }
  try {
    openSavedGrants(world.machine).list()
  } catch (error) {
    faults.push(`the grants cannot be read: ${error}`)
  }
  try {
    if (!world.text('cordon.toml').startsWith(MANIFEST.slice(0, 40))) faults.push('the manifest is damaged')
    // Opening fails when the manifest does not load or is not signed.
    const cordon = await world.open()
    const result = await cordon.openSession().call('read', { path: 'written.txt' })
    if (result.status !== 'done') faults.push(`a session after the crash reads nothing: ${result.status}`)
    await cordon.close()
  } catch (error) {
    faults.push(`the project does not open: ${error}\n${readFileSync(join(world.root, 'cordon.toml'), 'utf8')}`)
  }
  return faults
}

function temporaries(world: SessionWorld): number {
  return readdirSync(world.root, { recursive: true }).filter((name) => /\.cordon[-.].*tmp$/.test(String(name))).length
}

if (import.meta.main) {
  const report = await runCrashes(Number(process.argv[2] ?? 500), Number(process.argv[3] ?? 1))
  console.log(report)
  if (report.faults.length > 0) process.exitCode = 1
}
