/** Moves files into Cordon's quarantine without following a link, and prunes old ones. */

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  cpSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { posix } from 'node:path'
import { encodePath } from '../../files/path-bytes.ts'
import { splitPath } from '../../files/path-pattern.ts'
import { uniqueName, writeMade } from '../../system/made-file.ts'
import { makeDirectories } from '../../system/state.ts'

/** `O_PATH` of Linux: a handle for the place alone, which needs no right to read it. */
const O_PATH = 0x200000

/** Where the things of one run are kept: `quarantine/RUN/` in the state directory, with a list beside them. */
export class QuarantineStore {
  readonly folder: string
  readonly #stateDir: string
  #count = 0

  constructor(stateDir: string, run: string = `${Date.now().toString(36)}-${uniqueName()}`) {
    this.#stateDir = stateDir
    this.folder = posix.join(stateDir, 'quarantine', run)
  }

  #open(): void {
    if (this.#count > 0) return
    pruneQuarantine(this.#stateDir)
    makeDirectories(this.folder)
  }

  /** Moves a file, link or directory here and makes it unusable; returns where it is now. */
  take(path: string, reason: string): string {
    this.#open()
    const name = posix.basename(path)
    // A kept file has a name that a person can type.
    const kept = posix.join(this.folder, `${++this.#count}-${name.replace(/[\udc80-\udcff]/g, '_')}`)
    changeIn(posix.dirname(path), (at) => moveInto(posix.join(at, name), kept), path)
    const mode = disarm(kept)
    const line = JSON.stringify({ time: new Date().toISOString(), path, kept, reason, mode })
    writeMade(posix.join(this.folder, 'list.jsonl'), `${line}\n`, { flag: 'a' })
    return kept
  }

  /** Keeps a copy of text before it is replaced. */
  keepText(path: string, text: string, reason: string): string {
    this.#open()
    const kept = posix.join(this.folder, `${++this.#count}-${posix.basename(path)}`)
    writeMade(kept, Buffer.from(text, 'latin1'), { mode: 0o400, flag: 'a' })
    const line = JSON.stringify({ time: new Date().toISOString(), path, kept, reason })
    writeMade(posix.join(this.folder, 'list.jsonl'), `${line}\n`, { flag: 'a' })
    return kept
  }
}

/** Replaces a file's text in one step; owner and mode stay as they were. The text is one character a byte. */
export function replaceText(path: string, text: string): void {
  changeIn(posix.dirname(path), (at) => {
    const target = posix.join(at, posix.basename(path))
    const before = lstatSync(target, { throwIfNoEntry: false })
    const temporary = posix.join(at, `.cordon-${uniqueName()}`)
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
    const descriptor = openSync(temporary, flags, 0o600)
    try {
      writeSync(descriptor, Buffer.from(text, 'latin1'))
      if (before?.isFile()) {
        if (process.getuid?.() === 0) fchownSync(descriptor, before.uid, before.gid)
        fchmodSync(descriptor, before.mode & 0o777)
      } else fchmodSync(descriptor, 0o644)
      renameSync(temporary, target)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(descriptor)
    }
  })
}

/** Lets the owner read a folder and pass through it, or do so and change it. */
export function openFolder(path: string, bits: 0o500 | 0o700 = 0o500): void {
  inFolder(path, (at) => chmodSync(at, (statSync(at).mode & 0o777) | bits))
}

/** Changes something in a folder, also where a command took the owner's right to it away; to move a folder takes the right to that one too. */
function changeIn(folder: string, change: (at: string) => void, moved?: string): void {
  try {
    inFolder(folder, change)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    openFolder(folder, 0o700)
    if (moved !== undefined && lstatSync(bytesOf(moved), { throwIfNoEntry: false })?.isDirectory())
      openFolder(moved, 0o700)
    inFolder(folder, change)
  }
}

/** Larger than any secret; bigger files are not copied. */
const MOST_COPIED = 16 * 1_048_576

/**
 * Gives a file with several names (hard links) separate contents under this one. A command could
 * link a secret's name to a file that it can read, and wait for a person to write the secret.
 */
export function separateFile(path: string): void {
  changeIn(posix.dirname(path), (at) => {
    const target = posix.join(at, posix.basename(path))
    const temporary = posix.join(at, `.cordon-${uniqueName()}`)
    const source = openSync(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const stat = fstatSync(source)
      if (!stat.isFile() || stat.size > MOST_COPIED) throw new Error(`it is not a file of at most ${MOST_COPIED} bytes`)
      writeFileSync(temporary, readFileSync(source), { flag: 'wx', mode: 0o600 })
      if (process.getuid?.() === 0) chownSync(temporary, stat.uid, stat.gid)
      chmodSync(temporary, stat.mode & 0o777)
      renameSync(temporary, target)
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    } finally {
      closeSync(source)
    }
  })
}

/**
 * Opens a directory step by step and never through a link, then works in it by handle: another command that is still
 * running cannot put a link in the way and have Cordon write somewhere else.
 */
function inFolder<T>(path: string, work: (at: string) => T): T {
  // Handles can be walked on Linux only; elsewhere the path itself must do.
  if (process.platform !== 'linux') return work(path)
  const flags = constants.O_DIRECTORY | constants.O_NOFOLLOW | O_PATH
  let handle = openSync('/', flags)
  try {
    for (const segment of splitPath(path)) {
      const next = openSync(bytesOf(`/proc/self/fd/${handle}/${segment}`), flags)
      closeSync(handle)
      handle = next
    }
    return work(`/proc/self/fd/${handle}`)
  } finally {
    closeSync(handle)
  }
}

function moveInto(from: string, to: string): void {
  try {
    renameSync(bytesOf(from), to)
    return
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error
  }
  try {
    // A sparse file takes no space until it is copied.
    const filter = (path: string) => lstatSync(path).size <= MOST_COPIED
    cpSync(from, to, { recursive: true, verbatimSymlinks: true, errorOnExist: true, force: false, filter })
  } finally {
    // A pipe or a device cannot be copied, but must not stay.
    rmSync(bytesOf(from), { recursive: true, force: true })
  }
}

/** A name that is not UTF-8 keeps its bytes. */
function bytesOf(path: string): Buffer {
  return Buffer.from(encodePath(path))
}

/** Returns the rights that it had. */
function disarm(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat || stat.isSymbolicLink()) return undefined
  chmodSync(path, stat.isDirectory() ? 0o700 : 0o000)
  return stat.mode & 0o777
}

/** `spareMs`: newer runs stay whatever their size, so that a command cannot push out its own. */
interface QuarantineLimits {
  readonly olderThanMs: number
  readonly bytes: number
  readonly spareMs: number
}

const DAY_MS = 24 * 3_600_000

export const QUARANTINE_LIMITS: QuarantineLimits = { olderThanMs: 30 * DAY_MS, bytes: 1024 ** 3, spareMs: DAY_MS }

/** Returns the runs that are gone. One that cannot be removed stays for the next time. */
export function pruneQuarantine(
  stateDir: string,
  now: number = Date.now(),
  { olderThanMs, bytes, spareMs }: QuarantineLimits = QUARANTINE_LIMITS,
): readonly string[] {
  const folder = posix.join(stateDir, 'quarantine')
  const removed: string[] = []
  let total = 0
  for (const { run, age } of runsOf(folder, now)) {
    const path = posix.join(folder, run)
    try {
      total += openedSize(Buffer.from(path))
      if (age <= olderThanMs && (age <= spareMs || total <= bytes)) continue
      rmSync(path, { recursive: true, force: true })
      removed.push(run)
    } catch {
      // Another process was faster, or it is not ours.
    }
  }
  return removed
}

/** The newest first; a run's name begins with its creation time. */
function runsOf(folder: string, now: number): readonly { readonly run: string; readonly age: number }[] {
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names
    .flatMap((run) => {
      const created = Number.parseInt(/^([a-z0-9]+)-/.exec(run)?.[1] ?? '', 36)
      return Number.isFinite(created) ? [{ run, age: now - created }] : []
    })
    .sort((a, b) => a.age - b.age)
}

/** The size of a tree. Its folders are opened for their owner: a command may have closed some. */
function openedSize(path: Buffer): number {
  const stat = lstatSync(path)
  if (!stat.isDirectory()) return stat.blocks * 512
  chmodSync(path, 0o700)
  return readdirSync(path, { encoding: 'buffer' }).reduce(
    (sum, name) => sum + openedSize(Buffer.concat([path, SLASH, name])),
    stat.blocks * 512,
  )
}

const SLASH = Buffer.from('/')
