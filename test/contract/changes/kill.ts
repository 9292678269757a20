/** One command that changes a tree all the time, killed with everything around it at some moment, and restored. */

import { spawn } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UNJUDGED } from '../../../src/undo/conflicts.ts'
import { undoCall } from '../../../src/undo/undo.ts'
import { own } from '../../users.ts'
import type { LayoutInput, Place } from './sandbox.ts'
import { lookAtTree } from './tree-look.ts'

const SCRIPT =
  'while :; do echo x >> a/a; mv a/b b/x; rm -rf c; mkdir c; echo y > c/n; mv b/x a/b; ln -f d/a d/z; rm dir/a; cp d/a dir/a; done'
/** On a busy machine a sandbox takes seconds to start. */
const MOST_STARTING_MS = 60_000

/** Kills a while after the first change; returns how the tree was and is, what failed, and how many changes there were. */
export async function killOnce(
  place: Place,
  delay: number,
): Promise<{
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly failed: readonly unknown[]
  readonly changes: number
}> {
  const before = lookAtTree(place.project, 'no times')
  const { id, folder } = place.store.begin({ roots: [place.project], what: 'killed' })
  const input: LayoutInput = { base: place.base, argv: ['/bin/sh', '-c', SCRIPT], mediated: true, folder, uid: own.uid }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'sandbox.ts'), JSON.stringify(input)], {
    stdio: 'ignore',
  })
  const closed = new Promise((resolve) => child.once('close', resolve))
  for (let waited = 0; !hasBegun(folder) && waited < MOST_STARTING_MS; waited += 5) await sleep(5)
  await sleep(delay)
  child.kill('SIGKILL')
  await closed
  // The init ends with its parent; what it was in the middle of is done by then.
  let last = ''
  for (let now = lookNow(place); now !== last; now = lookNow(place)) {
    last = now
    await sleep(100)
  }
  const changes = place.store.journalOf(id).records.length
  forgetKeeper(folder)
  const { failed } = undoCall(place.store, UNJUDGED, id, { force: true })
  return { before, after: lookAtTree(place.project, 'no times'), failed, changes }
}

/** The process that began the call is this one, and lives; of a killed Cordon it is dead. */
function forgetKeeper(folder: string): void {
  const about = join(folder, 'about.json')
  const { by: _, ...rest } = JSON.parse(readFileSync(about, 'utf8')) as Record<string, unknown>
  writeFileSync(about, JSON.stringify(rest))
}

function hasBegun(folder: string): boolean {
  return (statSync(join(folder, 'journal'), { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** The tree, or something else each time while it still changes during the scan. */
function lookNow(place: Place): string {
  try {
    return lookAtTree(place.project, 'times').join('\n')
  } catch {
    return `changing ${performance.now()}`
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
