/**
 * Files that are secret because a link with a secret's name led to them, and whose link a command took away: they stay
 * hidden, by their path. Without that, `rm .env` in one command would open what it led to for the next.
 */

import { appendFileSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { realPath } from '../protect/quarantine-baseline.ts'

/** The list: one path in JSON a line, so that two processes can add to it at once, and a person can take a line out. */
export function keptSecretsFile(stateDir: string): string {
  return posix.join(stateDir, 'kept-secrets.jsonl')
}

/** The paths on the list. A list that cannot be read is a fault: what it hides is not known. */
export function readKeptSecrets(stateDir: string): readonly string[] {
  const file = keptSecretsFile(stateDir)
  // Hardly anybody has one, and a failed read costs more than the question.
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return []
  const paths = new Set<string>()
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const path = parseLine(line)
    if (path !== null) paths.add(path)
  }
  return [...paths]
}

/** Those of the paths on the list at which there still is something. */
export function hiddenByList(stateDir: string): readonly string[] {
  return readKeptSecrets(stateDir).filter((path) => realPath(path) === path)
}

/** Puts a path on the list; false when it was there already. */
export function keepSecret(stateDir: string, path: string): boolean {
  if (readKeptSecrets(stateDir).includes(path)) return false
  mkdirSync(stateDir, { recursive: true, mode: 0o700 })
  // A line that was cut short, by a full disk, must not swallow this one.
  appendFileSync(keptSecretsFile(stateDir), `\n${JSON.stringify(path)}\n`, { mode: 0o600 })
  return true
}

function parseLine(line: string): string | null {
  try {
    const path: unknown = JSON.parse(line)
    return typeof path === 'string' && path.startsWith('/') ? path : null
  } catch {
    return null
  }
}
