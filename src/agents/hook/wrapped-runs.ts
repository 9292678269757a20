/** What is behind the short form of a command that a hook put into the sandbox: whose it is, and what a person's yes to it opens. */

import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { sha256 } from '../../system/sha256.ts'
import {
  openOwnDirectory,
  readOwnFile,
  readOwnJson,
  removeIfThere,
  writeOwnFile,
  writeOwnJson,
} from '../../system/state.ts'

/** Whose commands they are: one host's session in one project. */
export interface RunOwner {
  readonly host: string
  readonly root: string
  readonly session: string | null
  /** Folders of the host's that hold what belongs to the session. */
  readonly folders?: readonly string[]
  /** Names of files that they may not write. */
  readonly unwritten?: readonly string[]
}

/** The very command that a person was asked about, and where it starts. */
export interface AnsweredCommand {
  readonly command: string
  readonly cwd: string
}

interface OwnerFile extends RunOwner {
  readonly version: 1
}

interface AnswerFile {
  readonly version: 1
  readonly call: string
  readonly places: readonly string[]
}

/** No command waits for its run over a crash of the machine, and the next hook writes all of it again. */
const LASTING = false
const KEPT_MS = 7 * 24 * 3600 * 1000
/** A dialog may stand open for as long as this. */
const ANSWER_MS = 24 * 3600 * 1000

/** The key by which a wrapped command names its owner; the same for the same owner. */
export function runKey({ host, root, session }: RunOwner): string {
  return hashOf([host, root, session]).slice(0, 12)
}

/** Makes a key usable: the owner is written down once, and old ones go. */
export function keepOwner(machine: Machine, owner: RunOwner, now: number): void {
  const directory = placeOf(machine)
  const path = join(directory, `${runKey(owner)}.json`)
  // The host makes its folders when it first has something to put there.
  const known = existsSync(path) ? readOwnJson(path, isOwner, LASTING) : null
  const has = (kept: readonly string[] = [], wanted: readonly string[] = []): boolean =>
    wanted.every((one) => kept.includes(one))
  if (known !== null && has(known.folders, owner.folders) && has(known.unwritten, owner.unwritten)) return
  openOwnDirectory(machine.stateDir)
  writeOwnJson(path, { version: 1, ...owner } satisfies OwnerFile, LASTING)
  for (const name of readdirSync(directory)) {
    const facts = statSync(join(directory, name), { throwIfNoEntry: false })
    if (facts && now - facts.mtimeMs > KEPT_MS) removeIfThere(join(directory, name))
  }
}

/** The owner of a key. Throws where there is none: such a command was not wrapped by a hook of this user. */
export function ownerOf(machine: Machine, key: string): RunOwner {
  const found = /^[0-9a-f]{12}$/.test(key) ? readOwnJson(join(placeOf(machine), `${key}.json`), isOwner, LASTING) : null
  if (found === null)
    throw new Fault('wrapped-run', `no hook of Cordon’s has put a command into the sandbox as “${key}”`, {
      remedy: 'Have the agent try the command again; its hook writes a new one.',
    })
  return found
}

/**
 * Notes that a person is asked about a command, and the places that a yes opens as they are now; what comes back goes with the
 * command, and says nothing by itself.
 */
export function keepAnswer(
  machine: Machine,
  owner: RunOwner,
  answered: AnsweredCommand,
  places: readonly string[],
): string {
  const id = randomBytes(4).toString('hex')
  const answer = { version: 1, call: hashOf([answered.command, answered.cwd]), places } satisfies AnswerFile
  writeOwnJson(join(placeOf(machine), `${runKey(owner)}.${id}.json`), answer, LASTING)
  return id
}

/** What the person was asked to open for this command; once. Null where they were not asked about it. */
export function takeAnswer(
  machine: Machine,
  key: string,
  id: string,
  answered: AnsweredCommand,
  now: number,
): readonly string[] | null {
  if (!/^[0-9a-f]{8}$/.test(id)) return null
  const path = join(placeOf(machine), `${key}.${id}.json`)
  const facts = statSync(path, { throwIfNoEntry: false })
  const kept = facts && now - facts.mtimeMs < ANSWER_MS ? readOwnJson(path, isAnswer) : null
  if (kept?.call !== hashOf([answered.command, answered.cwd])) return null
  removeIfThere(path)
  return kept.places
}

/** The program of the short form, made where it is missing or runs another Cordon. */
export function runProgram(machine: Machine, cordon: readonly string[]): string {
  const path = programPath(machine)
  const text = programText(cordon)
  const known = readOwnFile(path)
  if (known === null || Buffer.from(known).toString('utf8') !== text) {
    openOwnDirectory(machine.stateDir)
    writeOwnFile(path, text, 0o700, LASTING)
  }
  return path
}

const ABOUT = "# cordon-run KEY [--in DIR] COMMAND: an agent's command in the sandbox. Written by Cordon's hook."

/** The kernel reads this much of a first line, and takes the first space in it for the end of a path. */
const MOST_OF_A_LINE = 250

/** What the client reads of it. */
const MOST_LINES = 14
const MOST_TEXT = 4 * 4096

/** The client reads it itself, which takes a shell less; where there is none, or its path does not fit, a shell does. */
function programText(cordon: readonly string[]): string {
  const [client = '', ...rest] = cordon
  const variables = rest.filter((_, index) => rest[index - 1] === '--with')
  const [node = '', program] = rest.slice(2 * variables.length)
  const first = `#!${client} --wrapped`
  const fits = /^[\w@%+=:,./-]+$/.test(client) && first.length < MOST_OF_A_LINE
  const lines = [node, program ?? '', ...variables]
  const isReadable = lines.length <= MOST_LINES && lines.join('').length < MOST_TEXT && !/\n/.test(lines.join(''))
  if (program !== undefined && fits && isReadable) return [first, ABOUT, ...lines, ''].join('\n')
  const words = cordon.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  return `#!/bin/sh
${ABOUT}
key=$1
shift
if [ $# -eq 3 ] && [ "$1" = --in ]; then exec ${words} hook run --key "$key" --in "$2" -- "$3"; fi
exec ${words} hook run --key "$key" -- "$@"
`
}

/** Where the program of the short form is. */
export function programPath({ stateDir }: Pick<Machine, 'stateDir'>): string {
  return join(stateDir, 'bin/cordon-run')
}

function placeOf({ stateDir }: Machine): string {
  return join(stateDir, 'hook-runs')
}

function hashOf(parts: readonly (string | null)[]): string {
  return sha256(JSON.stringify(parts))
}

function isOwner(value: unknown): value is OwnerFile {
  const { version, host, root, session, folders = [], unwritten = [] } = (value ?? {}) as Partial<OwnerFile>
  const lists = [folders, unwritten].flatMap((list) => (Array.isArray(list) ? list : [null]))
  const texts = [host, root, ...lists].every((text) => typeof text === 'string')
  return version === 1 && texts && (session === null || typeof session === 'string')
}

function isAnswer(value: unknown): value is AnswerFile {
  const { version, call, places } = (value ?? {}) as Partial<AnswerFile>
  const texts = Array.isArray(places) && places.every((place) => typeof place === 'string')
  return version === 1 && typeof call === 'string' && texts
}
