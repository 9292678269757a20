/** Every program the tables know, by name. */

import { remembered } from '../remembered.ts'
import type { Program, ProgramTable } from '../spec.ts'
import { buildPrograms } from './build.ts'
import { cloudPrograms } from './clouds.ts'
import { clusterPrograms } from './clusters.ts'
import { containerPrograms } from './containers.ts'
import { databasePrograms, migrationPrograms } from './databases.ts'
import { filePrograms } from './files.ts'
import { forgePrograms } from './forges.ts'
import { gitPrograms } from './git.ts'
import { interpreterPrograms } from './interpreters.ts'
import { javascriptPrograms } from './javascript.ts'
import { languagePrograms } from './languages.ts'
import { networkPrograms } from './network.ts'
import { formatterPrograms, publishingPrograms } from './publishing.ts'
import { pythonPrograms } from './python.ts'
import { secretStorePrograms } from './secret-stores.ts'
import { systemPrograms } from './system.ts'
import { textPrograms } from './text.ts'
import { rarePrograms, servicePrograms, uncommonPrograms } from './uncommon.ts'
import { versioningPrograms } from './versioning.ts'
import { wrapperPrograms } from './wrappers.ts'

/** The tables, each built when one of its programs is first needed: start-up time matters. */
const tables: readonly (() => ProgramTable)[] = [
  textPrograms,
  filePrograms,
  gitPrograms,
  networkPrograms,
  buildPrograms,
  javascriptPrograms,
  pythonPrograms,
  languagePrograms,
  containerPrograms,
  clusterPrograms,
  cloudPrograms,
  databasePrograms,
  migrationPrograms,
  systemPrograms,
  interpreterPrograms,
  formatterPrograms,
  rarePrograms,
  wrapperPrograms,
  uncommonPrograms,
  versioningPrograms,
  forgePrograms,
  publishingPrograms,
  servicePrograms,
  secretStorePrograms,
]

/** Every listed name with its row, in the order of the tables. */
export function listPrograms(): readonly (readonly [string, Program])[] {
  return tables.flatMap((make) => Object.entries(make()).flatMap(([names, spec]) => apart(names, spec)))
}

function apart(names: string, spec: Program): readonly (readonly [string, Program])[] {
  return names.split(' ').map((name) => [name, spec])
}

/** Names for which a rule alone reports a remote change. */
const CHANGES_BY_RULE =
  'curl wget wget2 http https xh xhs httpie scp rsync psql mysql mariadb redis-cli valkey-cli'.split(' ')

/** Programs that can change something elsewhere, each with the subcommands that do, a line each; the build puts it in its place. */
declare const CHANGING_PROGRAMS: string | undefined

export function changingPrograms(): string {
  if (typeof CHANGING_PROGRAMS === 'string') return CHANGING_PROGRAMS
  const lines = listPrograms().flatMap(([name, { verbs, effects = '' }]) => {
    if (verbs !== undefined || CHANGES_BY_RULE.includes(name)) return [name]
    const written = effects.split('\n').map((line) => line.split('|').map((part) => part.trim()))
    const changing = written.filter(([effect]) => effect === 'remote-write' || effect === 'destructive')
    const words = changing.flatMap(([, commands = '']) => commands.split(',').map((one) => one.trim()))
    return words.map((one) => (one === '*' ? name : [name, ...one.split(/\s+/)].join('\t')))
  })
  return [...new Set(lines)].join('\n')
}

/** The names of each table in a line; the build puts it here, so that a start need not make the tables to know them. */
declare const PROGRAM_NAMES: string | undefined

/** The names of the programs of each table, one table a line, each between blanks. */
export function programNames(): string {
  return tables.map((make) => ` ${Object.keys(make()).join(' ')} `).join('\n')
}

/** Looked through for the few names that a command has: making a map of all of them takes a start longer. */
const listed = typeof PROGRAM_NAMES === 'string' ? PROGRAM_NAMES : programNames()

/** The table of a program; null when none lists it. */
const tableOf = remembered((name): number | null => {
  // Compare the name first: blanks are everywhere.
  let at = listed.indexOf(`${name} `)
  while (at >= 0 && listed[at - 1] !== ' ') at = listed.indexOf(`${name} `, at + 1)
  if (at < 0 || !/^\S+$/.test(name)) return null
  let table = 0
  for (let end = listed.indexOf('\n'); end >= 0 && end < at; end = listed.indexOf('\n', end + 1)) table++
  return table
})

const created: (ProgramTable | undefined)[] = []

/** The row of a program; null if it is not listed. */
export const findProgram: (name: string) => Program | null = remembered((name) => {
  const table = tableOf(name)
  if (table === null) return null
  created[table] ??= tables[table]!()
  const names = Object.keys(created[table]).find((names) => ` ${names} `.includes(` ${name} `))
  return names === undefined ? null : created[table][names]!
})

/** Programs installed under a name with their version: `python3.11`, `gcc-12`, `clang++-15`. */
const versioned = /^(.*?[A-Za-z+])-?\d[\d.]*$/
const crossPrefix =
  /^(?:[a-z0-9_]+-){2,3}(gcc|g\+\+|cc|c\+\+|ld|as|ar|nm|objdump|strip|objcopy|clang|clang\+\+)(-\d[\d.]*)?$/

/** The name the tables use for a program: no directory, no version, no platform. */
export function programName(text: string): string {
  const base = text.slice(text.lastIndexOf('/') + 1).replace(/\.exe$/i, '')
  if (tableOf(base) !== null) return base
  const cross = crossPrefix.exec(base)?.[1]
  if (cross !== undefined) return cross
  const plain = versioned.exec(base)?.[1]
  return plain !== undefined && tableOf(plain) !== null ? plain : base
}
