/** Names of tools that a host called and its table does not have, kept for `cordon doctor`. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectories } from '../../system/state.ts'

const FOLDER = 'unknown-tools'
/** Names come from the agent. */
const MOST_NAMES = 50
const LONGEST_NAME = 100

/** Remembers a name. A failure is not a reason to stop the host. */
export function noteUnknownTool(stateDir: string, host: string, tool: string): void {
  const name = tool.slice(0, LONGEST_NAME).replace(/[\r\n]/g, ' ')
  try {
    const known = unknownTools(stateDir, host)
    if (known.length >= MOST_NAMES || known.includes(name)) return
    makeDirectories(join(stateDir, FOLDER))
    appendFileSync(join(stateDir, FOLDER, host), `${name}\n`, { mode: 0o600 })
  } catch {
    // The record has the call all the same.
  }
}

/** The names that were seen, oldest first. */
export function unknownTools(stateDir: string, host: string): readonly string[] {
  const file = join(stateDir, FOLDER, host)
  if (!existsSync(file)) return []
  return [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))]
}
