/** Every program the tables know, by name. */

import type { ProgramTable, Spec } from '../spec.ts'
import { buildPrograms } from './build.ts'
import { containerPrograms } from './containers.ts'
import { databasePrograms } from './databases.ts'
import { filePrograms } from './files.ts'
import { gitPrograms } from './git.ts'
import { interpreterPrograms } from './interpreters.ts'
import { javascriptPrograms } from './javascript.ts'
import { languagePrograms } from './languages.ts'
import { networkPrograms } from './network.ts'
import { pythonPrograms } from './python.ts'
import { rarePrograms } from './rare.ts'
import { systemPrograms } from './system.ts'
import { textPrograms } from './text.ts'

const tables: readonly ProgramTable[] = [
  textPrograms,
  filePrograms,
  gitPrograms,
  networkPrograms,
  buildPrograms,
  javascriptPrograms,
  pythonPrograms,
  languagePrograms,
  containerPrograms,
  databasePrograms,
  systemPrograms,
  interpreterPrograms,
  rarePrograms,
]

/** Every listed name with its row, in the order of the tables; a test holds that no name is listed twice. */
export function listPrograms(): readonly (readonly [string, Spec])[] {
  return tables.flatMap((table) =>
    Object.entries(table).flatMap(([names, spec]) => names.split(' ').map((name) => [name, spec] as const)),
  )
}

// Filled by plain loops: every start that meets a command does it.
const byName = new Map<string, Spec>()
for (const table of tables) {
  for (const names of Object.keys(table)) for (const name of names.split(' ')) byName.set(name, table[names]!)
}

/** Programs installed under a name with their version: `python3.11`, `gcc-12`, `clang++-15`. */
const versioned = /^(.*?[A-Za-z+])-?\d[\d.]*$/
const crossPrefix =
  /^(?:[a-z0-9_]+-){2,3}(gcc|g\+\+|cc|c\+\+|ld|as|ar|nm|objdump|strip|objcopy|clang|clang\+\+)(-\d[\d.]*)?$/

/** The name the tables use for a program: no directory, no version, no platform. */
export function programName(text: string): string {
  const base = text.slice(text.lastIndexOf('/') + 1).replace(/\.exe$/i, '')
  if (byName.has(base)) return base
  const cross = crossPrefix.exec(base)?.[1]
  if (cross !== undefined) return cross
  const plain = versioned.exec(base)?.[1]
  return plain !== undefined && byName.has(plain) ? plain : base
}

/** What the tables say about a program; null when they do not list it. */
export function findProgram(name: string): Spec | null {
  return byName.get(name) ?? null
}
