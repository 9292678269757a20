/** Where and for whom hooks are installed, and the file changes. */

export type Scope = 'project' | 'user'

export interface InstallPlace {
  readonly scope: Scope
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cordon: readonly string[]
  /** The program that starts wrapped commands. */
  readonly wrapper: string
}

/** A project's hook knows its root; a user's hook gets it from the host. */
export function hookRoot({ scope, root }: InstallPlace): string | null {
  return scope === 'project' ? root : null
}

export interface FileChange {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
}

/** A host's settings would prevent its hooks from running. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
