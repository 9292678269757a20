/** Lists of Cordon's own, each in one private file that several processes read and change. */

import { join } from 'node:path'
import { isRecord } from './json.ts'
import { withLock } from './lock.ts'
import { readOwnJson, removeIfThere, writeOwnJson } from './state.ts'

export interface ListPlace {
  readonly file: string
  readonly lock: string
  /** The field of the file with the entries. */
  readonly field: string
  /** False where a lost change only costs a question or a hint. */
  readonly lasting?: boolean
  /** True if the file goes with its last entry. */
  readonly goesEmpty?: boolean
}

export class OwnList<T> {
  readonly #place: ListPlace
  readonly #isEntry: (value: unknown) => boolean

  constructor(place: ListPlace, isEntry: (value: unknown) => boolean) {
    this.#place = place
    this.#isEntry = isEntry
  }

  /** The entries; none without the file. A damaged file is a fault. */
  read(directory: string): readonly T[] {
    const { file, field, lasting } = this.#place
    const isList = (value: unknown): value is Readonly<Record<string, readonly T[]>> => {
      const list = isRecord(value) && value.version === 1 ? value[field] : null
      return Array.isArray(list) && list.every(this.#isEntry)
    }
    return readOwnJson(join(directory, file), isList, lasting)?.[field] ?? []
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
