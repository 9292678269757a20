/** Saves files for undo before a host's own tool changes them, until the host reports the end. */

import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { join, posix } from 'node:path'
import { sha256 } from '../../system/addon.ts'
import { writeMade } from '../../system/made-file.ts'
import { makeDirectories } from '../../system/state.ts'
import { CallStore } from '../../undo/call-store.ts'
import { Keeper, statAt } from '../../undo/keeper.ts'

export interface HostWrites {
  readonly stateDir: string
  readonly root: string
  readonly host: string
  readonly session: string | null
  readonly what: string
  readonly paths: readonly string[]
}

/** Saves the current files at the paths. */
export function keepHostWrites(writes: HostWrites): void {
  const { stateDir, root, session, what, paths } = writes
  const inside = paths.filter((path) => path.startsWith(`${root}/`) && statAt(path)?.isDirectory() !== true)
  if (inside.length === 0) return
  const store = new CallStore(stateDir)
  const about = { roots: [root], what, ...(session !== null && { session }) }
  const { id, folder } = store.beginOpen(about)
  const keeper = new Keeper(folder)
  const created = new Set<string>()
  for (const path of inside) {
    if (statAt(path)) keeper.willWrite(path)
    else for (const one of missing(path)) if (!created.has(one)) keeper.willMake(one)
    for (const one of missing(path)) created.add(one)
  }
  keeper.leave()
  makeDirectories(join(stateDir, OPEN))
  writeOpen(writes, [...readOpen(writes), id])
}

/** A host's tool has ended. Concurrent calls are distinguished by their changes: the others stay open. */
export function endHostWrites(owner: OpenOwner): void {
  const open = readOpen(owner)
  if (open.length === 0) return
  const store = new CallStore(owner.stateDir)
  writeOpen(
    owner,
    open.filter((id) => !store.endOpen(id)),
  )
}

type OpenOwner = Pick<HostWrites, 'stateDir' | 'host' | 'session'>

/** More than a host runs at once; older ones were declined, or their host reports no results. */
const MOST_OPEN = 50

function readOpen(owner: OpenOwner): readonly string[] {
  const file = openFile(owner)
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

function writeOpen(owner: OpenOwner, ids: readonly string[]): void {
  if (ids.length === 0) rmSync(openFile(owner), { force: true })
  else
    writeMade(
      openFile(owner),
      ids
        .slice(-MOST_OPEN)
        .map((id) => `${id}\n`)
        .join(''),
    )
}

const OPEN = 'undo-open'

function openFile({ stateDir, host, session }: OpenOwner): string {
  return join(stateDir, OPEN, sha256(`${host}\0${session ?? ''}`))
}

function missing(path: string): string[] {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return []
  const above = posix.dirname(path)
  return above === path ? [] : [...missing(above), path]
}
