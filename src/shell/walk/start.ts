/** What is true when a shell starts, and what stays true at any later time. */

import { Scope, UNKNOWN } from '../words/scope.ts'

/** Values that hold at the start of every shell, and where home is. */
export interface Start {
  readonly home: string
  readonly roots: readonly string[]
  readonly variables: Readonly<Record<string, string>>
  /** What function bodies may assume: the same, or nothing if the text changes them. */
  readonly inFunctions: Readonly<Record<string, string>>
  /** The text may take functions away, so that a name which was defined as one may mean the program again. */
  readonly functionsVanish: boolean
  /** No shell of the text ever changes its directory, so that a body runs where it is written. */
  readonly staysPut: boolean
}

/** Variables that the analysis relies on without naming them. */
export const ASSUMED: readonly string[] = ['HOME', 'IFS', 'CDPATH']

/** A scope that holds at any time: for function bodies, hooks and the rehearsal of loops. */
export function forget(scope: Scope, start: Start): Scope {
  const unknown = scope.forgotten(start.inFunctions)
  // A cd may come before the call.
  if (start.staysPut) unknown.cwd = scope.cwd
  else for (const name of ['PWD', 'OLDPWD']) unknown.set(name, UNKNOWN)
  if (start.inFunctions !== start.variables) for (const name of ASSUMED) unknown.set(name, UNKNOWN)
  return unknown
}

/** The scope of a shell started by a command: the same directory, an environment that is only partly known. */
export function childScope(parent: Scope, cwd: string | null): Scope {
  const scope = new Scope(cwd, {})
  scope.journey = parent.journey
  scope.positional = null
  if (!parent.untouched('HOME')) scope.set('HOME', UNKNOWN)
  if (!parent.untouched('CDPATH')) scope.set('CDPATH', UNKNOWN)
  for (const hazard of parent.ambient.values()) scope.doubt(hazard)
  return scope
}
