/** Lists of Cordon's own, each in one private file that several processes read and change. */

import { join } from 'node:path'
import { type ListPlace, readListFile } from './list-file.ts'
import { withLock } from './lock.ts'
import { removeIfThere, writeOwnJson } from './state.ts'

export class OwnList<T> {
  readonly #place: ListPlace
  readonly #isEntry: (value: unknown) => boolean

  constructor(place: ListPlace, isEntry: (value: unknown) => boolean) {
    this.#place = place
    this.#isEntry = isEntry
  }

  read(directory: string): readonly T[] {
    return readListFile(directory, this.#place, this.#isEntry)
  }

  /** Replaces the entries, under a lock. */
  change(directory: string, how: (entries: readonly T[]) => readonly T[]): void {
    const { file, lock, field, lasting, goesEmpty = false } = this.#place
    withLock(join(directory, lock), () => {
      const entries = how(this.read(directory))
      if (entries.length > 0 || !goesEmpty)
        writeOwnJson(join(directory, file), { version: 1, [field]: entries }, lasting)
      else removeIfThere(join(directory, file))
    })
  }
}
