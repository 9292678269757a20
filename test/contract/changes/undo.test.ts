/** Undo: after random commands the tree is as it was before; after a kill at any moment nothing is lost. */

import { spawn } from 'node:child_process'
import { chmodSync, linkSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { undoCall } from '../../../src/undo/undo.ts'
import { compile, makePlace, type RoomInput, runInside } from './room.ts'
import { lookAtTree } from './tree-look.ts'

const place = makePlace()
let program = ''
beforeAll(() => {
  program = compile(place, join(import.meta.dirname, 'tree-calls.c'), 'tree-calls')
})
afterAll(() => place.remove())

function furnish(): void {
  rmSync(place.project, { recursive: true, force: true })
  for (const folder of ['a', 'b', 'c', 'd', 'dir', '.git/objects']) {
    mkdirSync(join(place.project, folder), { recursive: true })
    for (const name of ['a', 'b', 'c', 'A', 'ignored.log'])
      writeFileSync(join(place.project, folder, name), `${folder} ${name}\n`.repeat(20))
    symlinkSync('a', join(place.project, folder, 'l'))
    chmodSync(join(place.project, folder, 'b'), 0o750)
    utimesSync(join(place.project, folder, 'c'), 1_000_000_000, 1_000_000_000)
  }
  mkdirSync(join(place.project, 'empty'))
  linkSync(join(place.project, 'a/a'), join(place.project, 'b/second-name'))
}

it.each([3, 5, 7, 14, 23, 42])('puts back what random calls changed, and redoes it (seed %i)', (seed) => {
  furnish()
  const before = lookAtTree(place.project, 'times')
  const { id, folder } = place.store.begin({ roots: [place.project], what: 'random' })
  runInside(place, [program, String(seed), '400'], { folder })
  const after = lookAtTree(place.project, 'times')
  const undone = undoCall(place.store, id)
  expect(undone).toMatchObject({ conflicts: [], failed: [] })
  expect(lookAtTree(place.project, 'times')).toEqual(before)
  expect(after).not.toEqual(before)
  const redone = undoCall(place.store, undone.id!)
  expect(redone).toMatchObject({ conflicts: [], failed: [] })
  expect(lookAtTree(place.project, 'no times')).toEqual(after.map((line) => line.replace(/ \d+$/, '')))
})

it('refuses to overwrite what changed since, and does it when told', () => {
  furnish()
  const { id, folder } = place.store.begin({ roots: [place.project], what: 'write' })
  runInside(place, ['/bin/sh', '-c', 'echo theirs > a/a; rm b/b'], { folder })
  writeFileSync(join(place.project, 'a/a'), 'mine\n')
  const refused = undoCall(place.store, id)
  expect(refused.id).toBeNull()
  expect(refused.conflicts).toEqual([{ path: join(place.project, 'a/a'), what: 'changed since' }])
  expect(undoCall(place.store, id, { force: true }).failed).toEqual([])
  expect(lookAtTree(place.project, 'no times').join('\n')).not.toContain('mine')
})

it.each([30, 60, 90, 130, 180, 240])('loses nothing when everything is killed after %i ms', async (delay) => {
  furnish()
  const before = lookAtTree(place.project, 'no times')
  const { id, folder } = place.store.begin({ roots: [place.project], what: 'killed' })
  const script =
    'while :; do echo x >> a/a; mv a/b b/x; rm -rf c; mkdir c; echo y > c/n; mv b/x a/b; ln -f d/a d/z; rm dir/a; cp d/a dir/a; done'
  const input: RoomInput = { base: place.base, argv: ['/bin/sh', '-c', script], held: true, folder, uid: 0 }
  const child = spawn(process.execPath, [join(import.meta.dirname, 'room.ts'), JSON.stringify(input)], {
    stdio: 'ignore',
  })
  await new Promise((resolve) => setTimeout(resolve, 400 + delay))
  child.kill('SIGKILL')
  await new Promise((resolve) => child.once('close', resolve))
  // The init ends with its parent; what it was in the middle of is done by then.
  let last = ''
  for (
    let now = lookAtTree(place.project, 'times').join('\n');
    now !== last;
    now = lookAtTree(place.project, 'times').join('\n')
  ) {
    last = now
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const { failed } = undoCall(place.store, id, { force: true })
  expect(failed).toEqual([])
  expect(lookAtTree(place.project, 'no times')).toEqual(before)
})
