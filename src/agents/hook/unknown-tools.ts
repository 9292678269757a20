/** Names of tools missing in a host's table, for `cordon doctor`. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectories } from '../../system/state.ts'

const FOLDER = 'unknown-tools'
/** Agents choose these names. */
const MOST_NAMES = 50
const LONGEST_NAME = 100

/** Records a name. A failure does not stop the host. */
export function noteUnknownTool(stateDir: string, host: string, tool: string): void {
  const name = tool.slice(0, LONGEST_NAME).replace(/[\r\n]/g, ' ')
  try {
    const known = unknownTools(stateDir, host)
    if (known.length >= MOST_NAMES || known.includes(name)) return
    makeDirectories(join(stateDir, FOLDER))
    appendFileSync(join(stateDir, FOLDER, host), `${name}\n`, { mode: 0o600 })
  } catch {
    // The audit log still has the call.
  }
}

/** The recorded names, oldest first. */
export function unknownTools(stateDir: string, host: string): readonly string[] {
  const file = join(stateDir, FOLDER, host)
  if (!existsSync(file)) return []
  return [...new Set(readFileSync(file, 'utf8').split('\n').filter(Boolean))]
}
