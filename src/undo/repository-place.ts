/**
 * Whether undo would make git run something: a folder may have become a repository since, whose hooks and settings no one judged when
 * they were a call's own files. Below the name `.git` they never are a call's own.
 */

import { lstatSync } from 'node:fs'
import { posix } from 'node:path'
import type { HeldPlaces } from './held-place.ts'

const SETTINGS: readonly string[] = ['config', 'config.worktree', 'commondir', 'hooks']
const MARKS: readonly string[] = ['objects', 'refs', 'head', 'worktrees']

/** True for a path at which nothing may be put. `restored`: folders that come back as a whole, and are what they were. */
export function plantsInRepository(places: HeldPlaces, path: string, restored: ReadonlySet<string>): boolean {
  const name = posix.basename(path).toLowerCase()
  const folder = posix.dirname(path)
  const isHook = posix.basename(folder).toLowerCase() === 'hooks' && !name.endsWith('.sample')
  if (isHook && isForeign(posix.dirname(folder), restored) && isRepository(places, posix.dirname(folder))) return true
  if (!isForeign(folder, restored)) return false
  if (SETTINGS.includes(name)) return isRepository(places, folder)
  if (!MARKS.includes(name) || isRepository(places, folder)) return false
  return isRepository(places, folder, name) && SETTINGS.some((one) => has(places, folder, one))
}

function isForeign(folder: string, restored: ReadonlySet<string>): boolean {
  return !restored.has(folder) && !folder.split('/').some((name) => name.toLowerCase() === '.git')
}

/** By the marks of git, with one that is about to come. */
function isRepository(places: HeldPlaces, folder: string, more = ''): boolean {
  const found = (name: string): boolean => name.toLowerCase() === more || has(places, folder, name)
  return found('objects') && found('refs') && (found('HEAD') || found('worktrees'))
}

function has(places: HeldPlaces, folder: string, name: string): boolean {
  try {
    return lstatSync(places.at(`${folder}/${name}`), { throwIfNoEntry: false }) !== undefined
  } catch {
    return false
  }
}
