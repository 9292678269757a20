/** The files of the audit: the lines of every session in one place, the heads in another. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, Fault } from '../system/fault.ts'
import { readOwnFile } from '../system/state.ts'

/** Where they are. */
export function auditPlaces(stateDir: string): { readonly logs: string; readonly heads: string } {
  return { logs: join(stateDir, 'audit'), heads: join(stateDir, 'audit-heads') }
}

/** `SESSION.0.jsonl`, then `SESSION.1.jsonl` … */
export function partName(session: string, part: number): string {
  return `${session}.${part}.jsonl`
}

const MAX_LOG_BYTES = 2 ** 31 - 1

/** The bytes of a log file, or null when there is none. */
export function readLog(path: string): Uint8Array | null {
  return readOwnFile(path, undefined, MAX_LOG_BYTES)
}

/** The sessions that have a log or a head, oldest id first. */
export function auditSessions(stateDir: string): readonly string[] {
  const { logs, heads } = auditPlaces(stateDir)
  const names = new Set<string>()
  for (const name of list(logs)) {
    const match = /^(.+)\.[0-9]+\.jsonl$/.exec(name)
    if (match !== null) names.add(match[1]!)
  }
  for (const name of list(heads)) if (name.endsWith('.head')) names.add(name.slice(0, -'.head'.length))
  return [...names].sort()
}

/** The files of a session by number, with holes where one is missing. */
export function sessionParts(stateDir: string, session: string): readonly number[] {
  const prefix = `${session}.`
  return list(auditPlaces(stateDir).logs)
    .filter((name) => name.startsWith(prefix) && /^[0-9]+\.jsonl$/.test(name.slice(prefix.length)))
    .map((name) => Number.parseInt(name.slice(prefix.length), 10))
    .sort((a, b) => a - b)
}

/** What is in a directory; nothing where there is none. One that cannot be checked must not pass for an empty one. */
function list(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw new Fault(
      'audit-unreadable',
      `the audit log in ${directory} cannot be read (${errorCode(error) ?? 'unknown'})`,
      {
        cause: error,
        remedy: 'Run it as the user whose log it is.',
      },
    )
  }
}
