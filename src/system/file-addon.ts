/** File operations that Node lacks: nanosecond times, attributes, immediate events. */

import { closeSync, lutimesSync, readSync } from 'node:fs'
import { type FileAddon, fileAddon } from './addon.ts'

const ended = (path: Buffer): Buffer => Buffer.concat([path, Buffer.of(0)])

/** Sets the time of a file or link. Without the addon Node rounds to microseconds. */
export function setFileTime(path: Buffer, seconds: bigint, nanoseconds: number): void {
  const addon = fileAddon()
  if (addon?.times(ended(path), Number(seconds), nanoseconds) === 0) return
  const time = Number(seconds) + nanoseconds / 1e9
  lutimesSync(path, time, time)
}

/** Whether a file has attributes that are copied. */
export function hasAttributes(path: Buffer): boolean {
  const addon = fileAddon()
  return (addon?.has_attributes(ended(path)) ?? 0) !== 0
}

/**
 * Replaces a file's access lists, capabilities and user attributes with another's. Throws if one
 * cannot be set; without the addon it does nothing.
 */
export function copyAttributes(from: Buffer, to: Buffer): void {
  const addon = fileAddon()
  const errno = addon?.attributes(ended(from), ended(to)) ?? 0
  if (errno !== 0) throw Object.assign(new Error('attributes'), { code: 'ATTRIBUTES', errno })
}

/** Events of watched folders. */
export interface WatchedChanges {
  readonly watches: ReadonlySet<number>
  /** Watches that ended with their folder or file system. */
  readonly ended: ReadonlySet<number>
  /** The kernel dropped events. */
  readonly lost: boolean
}

const EVENT_BYTES = 16
const IN_ATTRIB = 0x4
const IN_Q_OVERFLOW = 0x4000
const IN_IGNORED = 0x8000

/**
 * Watches folders with inotify. Unlike `fs.watch` it is polled: an answer includes everything that
 * happened before the question.
 */
export class FolderWatches {
  readonly #addon: FileAddon
  readonly #instance: number
  readonly #events = Buffer.alloc(65_536)

  private constructor(addon: FileAddon, instance: number) {
    this.#addon = addon
    this.#instance = instance
  }

  /** Null without the addon or kernel support. */
  static open(): FolderWatches | null {
    const addon = fileAddon()
    const instance = addon?.watch(-1, -1) ?? -1
    return addon === null || instance < 0 ? null : new FolderWatches(addon, instance)
  }

  /** The watch number of an open folder, the same for the same folder; null if unavailable. */
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
        // An event with a name is about the mode or time of an entry.
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
