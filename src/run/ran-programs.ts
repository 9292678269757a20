/** The programs that a command ran, for the audit log: names, and hashes of their words. */

import { posix } from 'node:path'
import type { LaunchResult } from '../sandbox/backend.ts'
import type { RanProgram } from '../sandbox/programs.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'
import { sha256 } from '../system/addon.ts'

const HASH_LENGTH = 16

export interface RecordedProgram {
  readonly name: string
  /** A hash of its words. */
  readonly words: string
  /** The position of the program that started it. */
  readonly by?: number
}

/** The first programs of one run, and how many more there were. */
export interface RecordedTree {
  readonly list: readonly RecordedProgram[]
  readonly leftOut: number
}

export function ranPrograms({ programs }: Pick<LaunchResult, 'programs'>): RecordedTree | null {
  return programs === undefined ? null : { list: treeOf(programs.list), leftOut: programs.leftOut }
}

function treeOf(list: readonly RanProgram[]): RecordedProgram[] {
  return list.map((program, at) => {
    const before = list.slice(0, at)
    // A process that execs another program started that one.
    const replaced = before.findLastIndex(({ pid }) => pid === program.pid)
    const by = replaced >= 0 ? replaced : before.findLastIndex(({ pid }) => pid === program.parent)
    const words = sha256(JSON.stringify(program.words)).slice(0, HASH_LENGTH)
    return { name: nameOf(program), words, ...(by >= 0 && { by }) }
  })
}

/** A script replaces its interpreter. */
function nameOf({ name, words }: RanProgram): string {
  const [, script = ''] = words
  const isScript = isInterpreterName(name) && script !== '' && !script.startsWith('-')
  return isScript
    ? programSummary([posix.basename(script), ...words.slice(2)])
    : programSummary([name, ...words.slice(1)])
}

/** Programs whose first word is an action. */
const WITH_SUBCOMMANDS: ReadonlySet<string> = new Set(
  'apt apt-get brew bun bundle cargo cmake composer conda cordon deno docker dotnet fly gcloud gem gh git glab go gradle hatch helm heroku hg jj just kubectl make mise mix mvn nix npm npx nx pip pip3 pipx pnpm podman poetry rails rake rustup sbt svn swift systemctl terraform tofu turbo uv vercel wrangler yarn'.split(
    ' ',
  ),
)
const NAME = /^[\w@+.-]{1,48}$/
const SUBCOMMAND = /^[a-z][a-z0-9:-]{0,30}$/

/** A program with its subcommand, if any. A name with other characters could contain a secret. */
export function programSummary([first = '', ...words]: readonly string[]): string {
  const name = posix.basename(first)
  if (!NAME.test(name)) return 'a program'
  const [subcommand] = WITH_SUBCOMMANDS.has(name) ? words : []
  return subcommand !== undefined && SUBCOMMAND.test(subcommand) ? `${name} ${subcommand}` : name
}
