/** A patch as data: what is to become of each file. */

export type FileChange =
  | { readonly kind: 'add'; readonly path: string; readonly content: string; readonly executable: boolean | null }
  | { readonly kind: 'delete'; readonly path: string; readonly hunks: readonly Hunk[] }
  | {
      readonly kind: 'update'
      readonly path: string
      /** The file's new path, or null when it stays. */
      readonly moveTo: string | null
      /** Whether the original stays beside the new path. */
      readonly copies: boolean
      readonly hunks: readonly Hunk[]
      /** A change of the executable bits; null for none. */
      readonly executable: boolean | null
    }

export interface Hunk {
  /** Line of the patch where it begins, for messages. */
  readonly line: number
  /** Line of the file where it belongs by the patch's own count; null when the patch does not count. */
  readonly oldStart: number | null
  /** A line of the file after which it belongs; null for none. */
  readonly after: string | null
  readonly lines: readonly HunkLine[]
  /** It must end where the file ends. */
  readonly atEnd: boolean
  /** What the patch says about the newline at the end of the file; null when it says nothing. */
  readonly finalNewline: { readonly old: boolean; readonly new: boolean } | null
}

export interface HunkLine {
  readonly kind: 'keep' | 'remove' | 'insert'
  readonly text: string
}
