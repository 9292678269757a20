/** What Node cannot do with files: times to the nanosecond, extended attributes, and changes that are told the moment they are asked for. */

import { closeSync, lutimesSync, readSync } from 'node:fs'
import { join } from 'node:path'

/** Paths end in NUL; the answer is 0, or an errno. */
interface FileAddon {
  times(path: Buffer, seconds: number, nanoseconds: number): number
  attributes(from: Buffer, to: Buffer): number
  has_attributes(path: Buffer): number
  watch(watches: number, folder: number): number
  unwatch(watches: number, watch: number): void
}

let addon: FileAddon | null | undefined

/** The addon `cordon-launch`; null where it was not built. From the bundled program, the library, or a checkout. */
function loadAddon(): FileAddon | null {
  for (const place of ['../native', '../../native', '../../dist/native']) {
    const module = { exports: {} }
    try {
      process.dlopen(module, join(import.meta.dirname, place, `cordon-launch-${process.arch}`))
      return module.exports as FileAddon
    } catch {
      // The next place.
    }
  }
  return null
}

const ended = (path: Buffer): Buffer => Buffer.concat([path, Buffer.of(0)])

/** A link itself, and not where it leads. Throws what the system says. Without the addon Node's own call rounds to a fraction of a microsecond. */
export function setFileTime(path: Buffer, seconds: bigint, nanoseconds: number): void {
  addon ??= loadAddon()
  if (addon?.times(ended(path), Number(seconds), nanoseconds) === 0) return
  const time = Number(seconds) + nanoseconds / 1e9
  lutimesSync(path, time, time)
}

/** Whether a file or folder has any of those that are copied. */
export function hasAttributes(path: Buffer): boolean {
  addon ??= loadAddon()
  return (addon?.has_attributes(ended(path)) ?? 0) !== 0
}

/**
 * Gives a file the access lists, capabilities and own attributes of another, and no others. Throws where one cannot be given;
 * without the addon nothing is known of attributes, and nothing is done.
 */
export function copyAttributes(from: Buffer, to: Buffer): void {
  addon ??= loadAddon()
  const errno = addon?.attributes(ended(from), ended(to)) ?? 0
  if (errno !== 0) throw Object.assign(new Error('attributes'), { code: 'ATTRIBUTES', errno })
}

/** What happened to watched folders. */
export interface WatchedChanges {
  readonly watches: ReadonlySet<number>
  /** Those of them that are no more: a watch ends with its folder, and with its file system. */
  readonly ended: ReadonlySet<number>
  /** The kernel threw some away, because there were too many. */
  readonly lost: boolean
}

const EVENT_BYTES = 16
const IN_ATTRIB = 0x4
const IN_Q_OVERFLOW = 0x4000
const IN_IGNORED = 0x8000

/**
 * Folders whose changes the kernel notes (inotify). Unlike `fs.watch`, whose events come when the event loop turns, it is asked: what
 * was done to a folder before the question is in the answer.
 */
export class FolderWatches {
  readonly #addon: FileAddon
  readonly #instance: number
  readonly #events = Buffer.alloc(65_536)

  private constructor(addon: FileAddon, instance: number) {
    this.#addon = addon
    this.#instance = instance
  }

  /** Null where there is not an addon, or the system has none to give. */
  static open(): FolderWatches | null {
    addon ??= loadAddon()
    const instance = addon?.watch(-1, -1) ?? -1
    return addon === null || instance < 0 ? null : new FolderWatches(addon, instance)
  }

  /** The number of the watch over an open folder, the same for the same folder; null when there is none to be had. */
  add(folder: number): number | null {
    const watch = this.#addon.watch(this.#instance, folder)
    return watch < 0 ? null : watch
  }

  remove(watch: number): void {
    this.#addon.unwatch(this.#instance, watch)
  }

  /** Everything since the last question. */
  changes(): WatchedChanges {
    const watches = new Set<number>()
    const ended = new Set<number>()
    let lost = false
    for (;;) {
      const length = this.#read()
      if (length === 0) return { watches, ended, lost }
      for (let at = 0; at + EVENT_BYTES <= length; ) {
        const mask = this.#events.readUInt32LE(at + 4)
        const nameBytes = this.#events.readUInt32LE(at + 12)
        const watch = this.#events.readInt32LE(at)
        if ((mask & IN_IGNORED) !== 0) ended.add(watch)
        if ((mask & IN_Q_OVERFLOW) !== 0) lost = true
        // With a name it is about a mode or a time of something in the folder.
        else if ((mask & IN_ATTRIB) === 0 || nameBytes === 0) watches.add(watch)
        at += EVENT_BYTES + nameBytes
      }
    }
  }

  close(): void {
    closeSync(this.#instance)
  }

  #read(): number {
    try {
      return readSync(this.#instance, this.#events)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
      throw error
    }
  }
}
