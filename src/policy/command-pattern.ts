/** Command patterns: an argv prefix; `:*` allows any further words. */

/** `"cargo build:*"` parsed. */
export interface CommandPattern {
  readonly text: string
  readonly words: readonly string[]
  /** True for `:*`: any further words. */
  readonly open: boolean
}
