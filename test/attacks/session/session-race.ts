/**
 * A whole session against a path that is swapped for a link to the outside all the while: nothing outside is read or written.
 * `node test/attacks/session/session-race.ts 100000 20000` runs the long form.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { resultText, type ToolResult } from '../../../src/call/tool-result.ts'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'
import { firstWord } from '../../first-word.ts'
import { stopFlipper } from '../tools/tools-race.ts'

const SECRET = 'SECRET-OF-THE-OUTSIDE'
const INSIDE = 'inside the project'

export interface SessionRaceReport {
  readonly calls: number
  readonly statuses: Readonly<Record<ToolResult['status'], number>>
  readonly leaks: readonly string[]
}

const reads: readonly [string, Record<string, unknown>][] = [
  ['read', { path: 'place/file.txt' }],
  ['read', { path: 'plain.txt' }],
  ['grep', { path: 'place', pattern: 'SECRET' }],
  ['list', { path: 'place' }],
  ['summary', { path: 'plain.txt' }],
]
const writes: readonly [string, Record<string, unknown>][] = [
  ['write', { path: 'place/file.txt', content: `${INSIDE}\n` }],
  ['write', { path: 'plain.txt', content: `${INSIDE}\n` }],
  ['edit', { path: 'place/file.txt', old_string: INSIDE, new_string: `${INSIDE}.` }],
  ['write', { path: 'place/new/deep.txt', content: INSIDE }],
  ['copy', { source: 'plain.txt', destination: 'place/copied.txt' }],
  ['delete', { path: 'place/new', recursive: true }],
  ['chmod', { path: 'place/file.txt', mode: '640' }],
]

/** Runs the race; `leaks` is what got out. */
export async function runSessionRace(readCount: number, writeCount: number): Promise<SessionRaceReport> {
  const world = openSessionWorld()
  const outside = join(world.base, 'outside')
  furnish(world, outside)
  const before = contents(outside)
  const flipper = await startFlipper(world)
  // A breaker would end the race after five denials in a row.
  const object = { schema_version: 1, permission: { mode: 'auto' }, rings: { breaker: { failures: 1000 } } }
  const session = (await world.open({ manifest: { object } })).openSession()
  const statuses = { done: 0, denied: 0, refused: 0, failed: 0 }
  const leaks: string[] = []
  const attempt = async ([tool, input]: readonly [string, Record<string, unknown>], index: number) => {
    const result = await session.call(tool, input)
    statuses[result.status]++
    if (
      result.status === 'done' &&
      `${resultText(result)}${JSON.stringify(result.output.data ?? '')}`.includes(SECRET)
    ) {
      leaks.push(`${tool} ${JSON.stringify(input)} returned the secret`)
    }
    if (index % 200 === 0) await breathe(flipper)
  }
  try {
    for (let index = 0; index < readCount; index++) await attempt(reads[index % reads.length]!, index)
    for (let index = 0; index < writeCount; index++) await attempt(writes[index % writes.length]!, index)
    const after = contents(outside)
    if (JSON.stringify(after) !== JSON.stringify(before)) leaks.push(`the outside changed: ${JSON.stringify(after)}`)
    return { calls: readCount + writeCount, statuses, leaks }
  } finally {
    await stopFlipper(flipper)
    await world.close()
  }
}

function furnish(world: SessionWorld, outside: string): void {
  mkdirSync(join(outside, 'new'), { recursive: true })
  world.file('place/file.txt', `${INSIDE}\n`)
  world.file('plain.txt', `${INSIDE}\n`)
  symlinkSync(outside, join(world.root, 'place.link'))
  symlinkSync(join(outside, 'file.txt'), join(world.root, 'plain.link'))
  writeFileSync(join(outside, 'file.txt'), `${SECRET}\n${INSIDE}\n`, { mode: 0o600 })
  writeFileSync(join(outside, 'new', 'deep.txt'), SECRET)
}

function contents(directory: string): [string, string][] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry): [string, string] => {
      const path = join(entry.parentPath, entry.name)
      return [path, readFileSync(path, 'utf8')]
    })
    .sort()
}

async function startFlipper(world: SessionWorld): Promise<ChildProcess> {
  const flipper = fork(join(import.meta.dirname, '../tools/tools-flipper.ts'), [world.root], { execArgv: [] })
  await firstWord(flipper)
  return flipper
}

async function breathe(flipper: ChildProcess): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
  if (flipper.exitCode !== null) throw new Error('the flipper ended; the race was not run')
}

if (import.meta.main) {
  const [readCount = 100_000, writeCount = 20_000] = process.argv.slice(2).map(Number)
  const report = await runSessionRace(readCount, writeCount)
  console.log(report)
  if (report.leaks.length > 0) process.exitCode = 1
}
