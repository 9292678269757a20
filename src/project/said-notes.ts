/** Notes shown at the terminal once per project, and again when they change. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine } from '../system/machine.ts'
import { sha256 } from '../system/sha256.ts'
import { makeDirectories, openOwnDirectory, writeOwnFile } from '../system/state.ts'
import type { LoadedPolicy } from './load/load.ts'
import { loadWarnings, startNotes } from './start-notes.ts'

/** Warnings of the manifest at every load, other notes only if new. */
export function notesToSay(loaded: LoadedPolicy, machine: Machine): readonly string[] {
  const warnings = loadWarnings(loaded)
  const notes = startNotes(loaded, machine).filter((note) => !warnings.includes(note))
  if (notes.length === 0) return warnings
  const folder = join(openOwnDirectory(machine.stateDir), 'said-notes')
  const file = join(folder, sha256(loaded.root).slice(0, 32))
  const said = new Set(read(file).split('\n'))
  const fresh = notes.filter((note) => !said.has(sha256(note)))
  if (fresh.length > 0) {
    makeDirectories(folder)
    writeOwnFile(file, notes.map((note) => sha256(note)).join('\n'))
  }
  return [...fresh, ...warnings]
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
