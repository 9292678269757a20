/** One entry of an open directory, opened without following it, and its facts. */

import { closeSync, type Dirent, readdirSync, type Stats } from 'node:fs'
import { posix } from 'node:path'
import { Fault } from '../fault.ts'
import { type HeldDirectory, holdDirectory, openEntry, segmentsOf, systemFault } from './directory.ts'
import { stampOf } from './write.ts'

export type EntryType = 'file' | 'directory' | 'link' | 'other'

export interface FileFacts {
  readonly type: EntryType
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  readonly modified: Date
  readonly links: number
  /** Identifies one version of a file. */
  readonly stamp: string
}

export interface FileContent {
  readonly bytes: Buffer
  readonly facts: FileFacts
}

export interface Entry {
  readonly name: string
  readonly type: EntryType
}

export function factsOf(stats: Stats): FileFacts {
  return {
    type: typeOf(stats),
    size: stats.size,
    mode: stats.mode & 0o7777,
    modified: stats.mtime,
    links: stats.nlink,
    stamp: stampOf(stats),
  }
}

export function inParent<Result>(path: string, use: (parent: HeldDirectory, name: string) => Result): Result {
  segmentsOf(path)
  const parent = holdDirectory(posix.dirname(path))
  try {
    return use(parent, posix.basename(path))
  } catch (error) {
    throw systemFault(path, error)
  } finally {
    parent.close()
  }
}

export function inEntry<Result>(
  parent: HeldDirectory,
  name: string,
  use: (entry: { readonly fd: number; readonly facts: Stats }) => Result,
): Result {
  const entry = openEntry(parent, name)
  if (!entry) throw new Fault('not-found', `${posix.join(parent.path, name)} does not exist`)
  try {
    return use(entry)
  } finally {
    closeSync(entry.fd)
  }
}

export function entriesOf(directory: HeldDirectory): Entry[] {
  try {
    return readdirSync(directory.self(), { withFileTypes: true })
      .map((entry) => ({ name: entry.name, type: typeOf(entry) }))
      .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  } catch (error) {
    throw systemFault(directory.path, error)
  }
}

export function requireFile(path: string, facts: Stats): void {
  if (facts.isFile()) return
  if (facts.isDirectory()) throw new Fault('not-a-file', `${path} is a directory`)
  throw new Fault('not-a-file', `${path} is a device, socket or FIFO, not a regular file`)
}

function typeOf(entry: Stats | Dirent): EntryType {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
