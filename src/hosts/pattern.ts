/** Host patterns: a literal host or `*.<registrable domain>`, with an optional port. */

export interface HostPattern {
  /** As written in the manifest. */
  readonly text: string
}
