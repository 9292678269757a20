import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { applyChanges, changes } from '../../../test/tree-changes.ts'
import { compileShapes } from '../../files/secret-shapes.ts'
import { FolderClock } from './clock.ts'
import { SecretTree } from './tree.ts'

let root: string
let open: SecretTree[] = []

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-clock-')))
  // Long after every change: what is read counts as settled at once, and only an event of the kernel reveals a change within the same tick.
  vi.useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] })
})
afterEach(() => {
  vi.useRealTimers()
  for (const tree of open) tree.close()
  open = []
  rmSync(root, { recursive: true, force: true })
})

/** A tree that is watched as soon as it is read. */
function watched(most = 1_000): { readonly tree: SecretTree; readonly secrets: () => readonly string[] } {
  const tree = newTree(most)
  return { tree, secrets: () => secretsOf(tree) }
}

function newTree(most: number): SecretTree {
  const tree = new SecretTree([root], compileShapes(), new FolderClock(0, () => most))
  open.push(tree)
  return tree
}

function secretsOf(tree: SecretTree): readonly string[] {
  tree.refresh()
  tree.watchFolders()
  return [...tree.notable()]
    .flatMap((folder) => folder.secrets.map((entry) => join(folder.path, entry.name).slice(root.length + 1)))
    .sort()
}

describe('a tree that the kernel watches', () => {
  it('equals a new one after any series of changes', () => {
    fc.assert(
      fc.property(changes, (steps) => {
        rmSync(root, { recursive: true, force: true })
        mkdirSync(root)
        const { tree, secrets } = watched()
        applyChanges(root, steps, secrets)
        expect(secrets()).toEqual(secretsOf(newTree(0)))
        tree.close()
      }),
      { numRuns: 60 },
    )
  })

  const rows: readonly { readonly note: string; readonly change: () => void; readonly found: readonly string[] }[] = [
    { note: 'a file created', change: () => writeFileSync(join(root, 'a/.env'), ''), found: ['a/.env'] },
    {
      note: 'a second name for a file',
      change: () => linkSync(join(root, 'a/plain'), join(root, 'b/.env')),
      found: ['b/.env'],
    },
    {
      note: 'a file renamed within its folder',
      change: () => renameSync(join(root, 'a/plain'), join(root, 'a/.env')),
      found: ['a/.env'],
    },
    {
      note: 'a folder moved, and a secret created in it',
      change: () => {
        renameSync(join(root, 'a'), join(root, 'b/a'))
        writeFileSync(join(root, 'b/a/.env'), '')
      },
      found: ['b/a/.env'],
    },
  ]
  it.each(rows)('$note', ({ change, found }) => {
    mkdirSync(join(root, 'a'))
    mkdirSync(join(root, 'b'))
    writeFileSync(join(root, 'a/plain'), '')
    const { secrets } = watched()
    expect(secrets()).toEqual([])
    change()
    expect(secrets()).toEqual(found)
  })

  it('a new folder with the number of the old one is watched anew', () => {
    const folder = join(root, 'a')
    const { secrets } = watched()
    let again = false
    for (let round = 0; round < 20 && !again; round++) {
      mkdirSync(folder)
      const { ino } = statSync(folder)
      expect(secrets()).toEqual([])
      rmdirSync(folder)
      mkdirSync(folder)
      again = statSync(folder).ino === ino
      expect(secrets()).toEqual([])
      writeFileSync(join(folder, '.env'), '')
      expect(secrets()).toEqual(['a/.env'])
      rmSync(folder, { recursive: true })
      expect(secrets()).toEqual([])
    }
  })

  it('more changes than the kernel notes: every folder is compared', () => {
    mkdirSync(join(root, 'busy'))
    mkdirSync(join(root, 'other'))
    writeFileSync(join(root, 'busy/0'), '')
    const { secrets } = watched()
    expect(secrets()).toEqual([])
    const noted = Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8'))
    // Each is reported twice: for the folder that a name left and for the one it entered.
    for (let at = 0; at <= noted / 2; at++) renameSync(join(root, `busy/${at}`), join(root, `busy/${at + 1}`))
    // What the full queue dropped; only the time of its folder reveals it.
    writeFileSync(join(root, 'other/.env'), '')
    expect(secrets()).toEqual(['other/.env'])
  })

  it('folders beyond the share of watches go by their times', () => {
    for (const name of ['a', 'b', 'c', 'd']) mkdirSync(join(root, name))
    const { secrets } = watched(2)
    expect(secrets()).toEqual([])
    for (const name of ['a', 'b', 'c', 'd']) chmodSync(join(root, name), 0o700)
    for (const name of ['a', 'b', 'c', 'd']) writeFileSync(join(root, name, '.env'), '')
    expect(secrets()).toHaveLength(4)
  })
})
