/** One row of the table of protected files: the name, whose it is, why, and how that was seen. */

export type ProtectedKind =
  | 'cordon'
  | 'manifest'
  | 'git'
  | 'hooks'
  | 'shell'
  | 'editor'
  | 'agent'
  | 'packages'
  | 'debugger'
  | 'start-up'
  | 'path'
  | 'keys'

/** `run`: the real program was seen to run code from the file. `documented`: its manual says so. */
export type Seen = 'run' | 'documented'

/** A protected name: its segments stand for themselves and for everything below them. */
export interface ProtectedName {
  /** `.vscode/tasks.json`: at any depth; `~/.bashrc`: under the home directory; `/etc/cron.d`: this very place. */
  readonly path: string
  readonly kind: ProtectedKind
  readonly reason: string
  /** The program that reads the file by itself. */
  readonly tool: string
  readonly seen: Seen
}

/** Rows that share all but their name. */
export function rows(
  kind: ProtectedKind,
  reason: string,
  tool: string,
  seen: Seen,
  paths: readonly string[],
): ProtectedName[] {
  return paths.map((path) => ({ path, kind, reason, tool, seen }))
}
