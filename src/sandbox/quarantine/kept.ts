/**
 * Files that were secret because a link with a secret's name pointed to them, and whose link a
 * command removed: they stay hidden, by their path. Otherwise `rm .env` in one command would open
 * its target to the next.
 */

import { lstatSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { writeMade } from '../../system/made-file.ts'
import { makeDirectories } from '../../system/state.ts'
import { realPath } from './baseline.ts'

/** The list: one entry in JSON a line, so that two processes can add to it at once, and a person can take a line out. */
export function keptSecretsFile(stateDir: string): string {
  return posix.join(stateDir, 'kept-secrets.jsonl')
}

/** A path, and the roots of the project in which it is hidden; without roots, everywhere. */
interface KeptSecret {
  readonly path: string
  readonly roots: readonly string[] | null
}

/** The listed paths for a project. An unreadable list is a fault: its content stays hidden. */
export function readKeptSecrets(stateDir: string, roots: readonly string[]): readonly string[] {
  const file = keptSecretsFile(stateDir)
  // Few users have one, and a failed read costs more than this check.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return []
  const paths = new Set<string>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const entry = parseLine(line)
    if (entry !== null && (entry.roots?.some((root) => roots.includes(root)) ?? true)) paths.add(entry.path)
  }
  return [...paths]
}

/** The listed paths that still exist. */
export function hiddenByList(stateDir: string, roots: readonly string[]): readonly string[] {
  return readKeptSecrets(stateDir, roots).filter((path) => realPath(path) === path)
}

/** Puts a path on the list of a project; false when it was there already. */
export function keepSecret(stateDir: string, path: string, roots: readonly string[]): boolean {
  if (readKeptSecrets(stateDir, roots).includes(path)) return false
  makeDirectories(stateDir)
  // A line that was cut short, by a full disk, must not swallow this one.
  writeMade(keptSecretsFile(stateDir), `\n${JSON.stringify({ path, roots })}\n`, { flag: 'a' })
  return true
}

function parseLine(line: string): KeptSecret | null {
  try {
    const entry: unknown = JSON.parse(line)
    if (typeof entry === 'string') return entry.startsWith('/') ? { path: entry, roots: null } : null
    const { path, roots } = entry as Partial<KeptSecret>
    if (typeof path !== 'string' || !path.startsWith('/')) return null
    return { path, roots: Array.isArray(roots) ? roots.filter((root) => typeof root === 'string') : null }
  } catch {
    return null
  }
}
