/** docs/reference/conformance.md, written from one run of the public suites. */

export interface Line {
  readonly name: string
  readonly from: string
  readonly version: string
  /** Test programs or texts. */
  readonly tests: number
  readonly cases: number
  /** Null where it must not run there. */
  readonly outside: number | null
  /** Null where a sandbox is no part of it. */
  readonly bubblewrap: number | null
  readonly cordon: number
  /** How many cases differ for each known reason. */
  readonly reasons: ReadonlyMap<string, number>
  readonly unexplained: readonly string[]
}

export function writePage(lines: readonly Line[], every: number, date: string): string {
  return JSON.stringify([lines, every, date])
}
