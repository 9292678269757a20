/** Files with a list of Cordon's own, as they are read. */

import { join } from 'node:path'
import { readOwnJson } from './state.ts'

/** The file of a list: `{ version: 1, FIELD: [...] }`. */
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

/** The entries of a list; none without its file. */
export function readListFile<T>(
  directory: string,
  { file, field, lasting }: Pick<ListPlace, 'file' | 'field' | 'lasting'>,
  isEntry: (value: unknown) => boolean,
): readonly T[] {
  const isList = (value: unknown): value is Readonly<Record<string, readonly T[]>> => {
    const content = value as Readonly<Record<string, unknown>> | null
    const list = content?.version === 1 ? content[field] : null
    return Array.isArray(list) && list.every(isEntry)
  }
  return readOwnJson(join(directory, file), isList, lasting)?.[field] ?? []
}
