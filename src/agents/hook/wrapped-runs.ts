/** The owner of a wrapped command, and what a person's yes to it opens. */

import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../../system/addon.ts'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import {
  openOwnDirectory,
  readOwnFile,
  readOwnJson,
  removeIfThere,
  writeOwnFile,
  writeOwnJson,
} from '../../system/state.ts'

/** The owner of the commands: one host's session in one project. */
export interface RunOwner {
  readonly host: string
  readonly root: string
  readonly session: string | null
  /** The host's folders for this session. */
  readonly folders?: readonly string[]
  /** File names that they may not write. */
  readonly unwritten?: readonly string[]
}

/** The exact command in a question, and where it starts. */
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

/** A crash may lose these: no command waits for its run across one, and the next hook writes them again. */
const LASTING = false
const KEPT_MS = 7 * 24 * 3600 * 1000
/** The longest that a dialog may be open. */
const ANSWER_MS = 24 * 3600 * 1000

/** The key that names a wrapped command's owner, always the same for one owner. */
export function runKey({ host, root, session }: RunOwner): string {
  return hashOf([host, root, session]).slice(0, 12)
}

/** Writes an owner once to make its key usable, and removes old ones. */
export function keepOwner(machine: Machine, owner: RunOwner, now: number): void {
  const directory = placeOf(machine)
  const path = join(directory, `${runKey(owner)}.json`)
  // Hosts create their folders on first use.
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

/** The owner of a key. Throws if unknown: no hook of this user wrapped the command. */
export function ownerOf(machine: Machine, key: string): RunOwner {
  const found = /^[0-9a-f]{12}$/.test(key) ? readOwnJson(join(placeOf(machine), `${key}.json`), isOwner, LASTING) : null
  if (found === null)
    throw new Fault('wrapped-run', `Cordon’s hook knows no command “${key}”`, {
      remedy: 'Have the agent try the command again; its hook writes a new one.',
    })
  return found
}

/** Notes a question and the places that a yes opens. The id travels with the command and grants nothing itself. */
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

/** What a person was asked to open for this command, once; null if nobody was asked. */
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

/** The program of the short form, created if missing or for another Cordon. */
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

/** The kernel reads this much of a first line, and ends the path at its first space. */
const MOST_OF_A_LINE = 250

/** The client reads at most this many lines. */
const MOST_LINES = 14
const MOST_TEXT = 4 * 4096

/** The client reads it itself, which saves a shell; without a client, or with a long path, a shell runs it. */
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

/** The path of the short form's program. */
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
