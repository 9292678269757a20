/** What undo may not bring about: the names that a command could not make either (F8). */

export type PutKind = 'file' | 'folder' | 'link'

/** Rules for the steps of one undo. Each answer is the path that is protected, or null where the step may be made. */
export interface PutRules {
  /** Something is put at a path, or changed there. `text`: what a file will hold or a link says; null: unknown. */
  refusedPut(path: string, kind: PutKind, text: () => string | null): string | null
  /** A folder is moved. `at`: where it stands now, if steps before this one move it to `from` first. */
  refusedMove(from: string, to: string, at: string): string | null
  /** Whether a file's content matters as a whole, so that it is not changed when it is no longer as it was left. */
  isJudged(path: string): boolean
}

/** For a tree in which nothing runs by itself: tests. */
export const UNJUDGED: PutRules = {
  refusedPut: () => null,
  refusedMove: () => null,
  isJudged: () => false,
}
