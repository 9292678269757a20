/** Where hooks are installed, for whom, and the change of a file that it takes. */

export type Scope = 'project' | 'user'

export interface InstallPlace {
  readonly scope: Scope
  /** Canonical project root. */
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The words that run Cordon. */
  readonly cordon: readonly string[]
  /** The program of the form in which a command is put into the sandbox. */
  readonly wrapper: string
}

/** A hook for one project knows its root; one for all of them is told by the host. */
export function hookRoot({ scope, root }: InstallPlace): string | null {
  return scope === 'project' ? root : null
}

export interface FileChange {
  readonly path: string
  /** Null when there is no such file. */
  readonly before: string | null
  /** Null when it is to go. */
  readonly after: string | null
}
