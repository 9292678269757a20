/**
 * The quarantine, for surfaces: files of commands that could run code on this machine, and how to
 * restore them.
 */

import { chmodSync, cpSync, existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { posix } from 'node:path'
import { attempt, errorCode, Fault } from '../system/fault.ts'
import { HeldPlaces, MovedPlace } from '../undo/held-place.ts'

/**
 * Restores one. `force` replaces the current file. It regains its own mode, so a person should have
 * read it first: it could run code. Links are not followed: a command may have replaced the folder
 * by one.
 */
export function restoreQuarantined(entry: QuarantinedFile, force: boolean): void {
  const places = new HeldPlaces()
  try {
    restoreAt(entry, places.at(entry.path).toString(), force)
  } catch (error) {
    if (error instanceof MovedPlace) throw elsewhere(entry)
    if (errorCode(error) === 'ENOENT') throw gone(entry)
    throw error
  } finally {
    places.forget()
  }
}

/** Throws if a folder above the compared or restored path is now a link. */
export function requirePlace(entry: QuarantinedFile): void {
  const places = new HeldPlaces()
  try {
    places.at(entry.path)
  } catch (error) {
    if (error instanceof MovedPlace) throw elsewhere(entry)
  } finally {
    places.forget()
  }
}

function restoreAt(entry: QuarantinedFile, path: string, force: boolean): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    if (!force)
      throw new Fault('quarantine-occupied', `there is something at ${entry.path} now`, {
        remedy: `Compare both with cordon quarantine diff ${entry.id}; then restore it with --force.`,
      })
    rmSync(path, { recursive: true, force: true })
  }
  const { isDirectory } = readable(entry)
  if (!isDirectory && !lstatSync(entry.kept).isSymbolicLink()) chmodSync(entry.kept, entry.mode ?? 0o644)
  try {
    renameSync(entry.kept, path)
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error
    cpSync(entry.kept, path, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false })
    rmSync(entry.kept, { recursive: true, force: true })
  }
  if (isDirectory && entry.mode !== undefined) chmodSync(path, entry.mode)
}

function elsewhere({ path, kept }: QuarantinedFile): Fault {
  return new Fault('quarantine-elsewhere', `a folder on the way to ${path} is a link now, so nothing was restored`, {
    remedy: `Remove the link, or copy the file yourself: it is kept at ${kept}.`,
  })
}

function gone({ path, kept }: QuarantinedFile): Fault {
  return new Fault('quarantine-elsewhere', `the folder of ${path} does not exist any more`, {
    remedy: `Create the folder, or copy the file yourself: it is kept at ${kept}.`,
  })
}

/** One thing that a command left and that did not stay. */
export interface QuarantinedFile {
  /** `RUN/NUMBER`: what `restore` and `diff` take. */
  readonly id: string
  readonly time: string
  /** Where it was. */
  readonly path: string
  /** Where it is kept. */
  readonly kept: string
  readonly reason: string
  /** The rights that it had; absent in lists of earlier versions. */
  readonly mode?: number
}

/** Everything that is kept, the newest first. */
export function listQuarantine(stateDir: string): readonly QuarantinedFile[] {
  const folder = posix.join(stateDir, 'quarantine')
  return namesIn(folder)
    .sort()
    .reverse()
    .flatMap((run) => entriesOf(posix.join(folder, run), run))
}

/** Lets the owner read it: it is kept without any right. */
export function readable(entry: QuarantinedFile): { readonly isDirectory: boolean } {
  const stat = lstatSync(entry.kept)
  if (!stat.isSymbolicLink() && !stat.isDirectory()) chmodSync(entry.kept, 0o400)
  return { isDirectory: stat.isDirectory() }
}

function entriesOf(folder: string, run: string): readonly QuarantinedFile[] {
  const lines = textOf(posix.join(folder, 'list.jsonl')).split('\n')
  return lines.flatMap((line) => {
    try {
      const { time, path, kept, reason, mode } = JSON.parse(line) as Omit<QuarantinedFile, 'id'>
      if (typeof path !== 'string' || typeof kept !== 'string' || posix.dirname(kept) !== folder || !isThere(kept))
        return []
      const id = `${run}/${posix.basename(kept).split('-')[0]}`
      return [{ id, time: String(time), path, kept, reason: String(reason), ...(typeof mode === 'number' && { mode }) }]
    } catch {
      return []
    }
  })
}

function isThere(path: string): boolean {
  return existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function namesIn(folder: string): string[] {
  return attempt(() => readdirSync(folder), [])
}

function textOf(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '')
}
