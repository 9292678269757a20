/** Entries and limits of archives in any format. */

import { InputError } from '../tool.ts'

export type ArchiveEntry =
  | { readonly type: 'directory'; readonly name: string }
  | { readonly type: 'link'; readonly name: string; readonly target: string }
  | {
      readonly type: 'file'
      readonly name: string
      /** Unpacked bytes. */
      readonly size: number
      readonly executable: boolean
      /** Unpacks the content; throws an `InputError` if it differs from the header. */
      readonly content: () => Buffer
    }

export interface ArchiveLimits {
  readonly entries: number
  /** Unpacked bytes in total. */
  readonly bytes: number
  /** Highest compression ratio above `ratioFrom` bytes. */
  readonly ratio: number
  readonly ratioFrom: number
}

/** Bytes of a name. */
export const MAX_NAME = 4096

export const ARCHIVE_LIMITS: ArchiveLimits = {
  entries: 50_000,
  bytes: 512 * 1024 * 1024,
  ratio: 200,
  ratioFrom: 64 * 1024 * 1024,
}

/** Refuses an archive that unpacks to too much. */
export function checkSize(unpacked: number, packed: number, limits: ArchiveLimits): void {
  if (unpacked > limits.bytes) {
    throw new InputError(`the archive unpacks to ${unpacked} bytes; at most ${limits.bytes} are unpacked`)
  }
  if (unpacked > limits.ratioFrom && unpacked > packed * limits.ratio) {
    throw new InputError(
      `the archive unpacks to ${Math.floor(unpacked / Math.max(packed, 1))} times its size, more than the ${limits.ratio} times that are allowed`,
    )
  }
}

export function checkCount(count: number, limits: ArchiveLimits): void {
  if (count > limits.entries) {
    throw new InputError(`the archive has ${count} entries; at most ${limits.entries} are unpacked`)
  }
}

export function broken(what: string): InputError {
  return new InputError(`the archive is broken: ${what}`)
}
