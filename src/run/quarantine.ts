/**
 * The quarantine, for surfaces: files of commands that could run code on this machine, and how to
 * restore them.
 */

import { chmodSync, cpSync, lstatSync, renameSync, rmSync } from 'node:fs'
import { type QuarantinedFile, readable } from '../sandbox/quarantine/list.ts'
import { errorCode, Fault } from '../system/fault.ts'
import { HeldPlaces, MovedPlace } from '../undo/held-place.ts'

export { listQuarantine, type QuarantinedFile, readable } from '../sandbox/quarantine/list.ts'

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
