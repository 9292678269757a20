/** Globs over absolute paths: `*` one level, `**` any depth, `?` one character, case-sensitive. */

/** A parsed path rule: which directories, and which basenames in them. */
export interface PathPattern {
  /** As written in the manifest. */
  readonly text: string
  /** Absolute pattern, `.` and `..` removed; `/` separated. */
  readonly absolute: string
  /** Basename globs; null when the path pattern itself names the files. */
  readonly files: readonly string[] | null
}
