/** Keeps the index of a big tree and the hidden files for the next process; ctimes verify it. */

import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { protectedNames } from '../../files/protected-paths.ts'
import { reportedNames } from '../../files/reported-names.ts'
import { secretShapes } from '../../files/secret-shapes.ts'
import { unwritable } from '../../system/fault.ts'
import { uniqueName, writeMade } from '../../system/made-file.ts'
import { makeDirectories } from '../../system/state.ts'
import type { Folder, SecretTree } from '../protect/tree.ts'
import type { MaskFacts } from './masks.ts'

const VERSION = 6
/** Below this many folders a walk is as fast as reading the index. */
const WORTHWHILE = 500

/**
 * Writes the index for the next process, owner-only. A ctime cannot be set by a process without the right to set the
 * clock; the process that sets the machine's clock back can make an old index look true, and can do worse besides.
 */
export function writeIndexCache(stateDir: string, facts: MaskFacts, tree: SecretTree): boolean {
  // A kept index that is nearly true costs less to verify than a new one to write.
  if (tree.size < WORTHWHILE || tree.readSinceAdopted < Math.max(50, tree.size / 50)) return false
  const file = cacheFile(stateDir, facts)
  const rows: unknown[] = []
  for (const folder of tree.entries()) rows.push(toRow(folder))
  makeDirectories(join(stateDir, 'index'))
  const temporary = `${file}.${uniqueName()}`
  try {
    writeMade(temporary, JSON.stringify({ version: VERSION, key: cacheKey(facts), rows }), { flag: 'wx' })
    renameSync(temporary, file)
    return true
  } catch {
    rmSync(temporary, { force: true })
    return false
  }
}

/** Takes over the index of an earlier process, if there is one that only the owner can have written. */
export function readIndexCache(stateDir: string, facts: MaskFacts, tree: SecretTree): boolean {
  let descriptor: number
  try {
    descriptor = openSync(cacheFile(stateDir, facts), constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch {
    return false
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() || stat.uid !== process.getuid?.() || (stat.mode & 0o077) !== 0) return false
    const parsed = JSON.parse(readFileSync(descriptor, 'utf8')) as { version: unknown; key: unknown; rows: unknown }
    if (parsed.version !== VERSION || parsed.key !== cacheKey(facts) || !Array.isArray(parsed.rows)) return false
    tree.adopt(parsed.rows.map(fromRow))
    return true
  } catch {
    return false
  } finally {
    closeSync(descriptor)
  }
}

type Row = [
  path: string,
  ctime: number,
  inode: number,
  device: number,
  folders: string[],
  secrets: [name: string, shape: string, link: boolean][],
  guarded: string[],
  gitDirectory: boolean,
  raw: string[],
  links: string[],
]

/** No folder's time: one that is to be read again in any case. Left out, it would never be read, for its parent has not changed. */
const READ_AGAIN = -1

function toRow(folder: Folder): unknown[] {
  const ctime = folder.settled && !folder.unreadable ? folder.ctime : READ_AGAIN
  const row: unknown[] = [folder.path, ctime, folder.inode, folder.device, folder.folders]
  const secrets = folder.secrets.map((entry) => [entry.name, entry.shape, entry.link])
  const rest = secrets.length > 0 || folder.guarded.length > 0 || folder.gitDirectory || folder.raw.length > 0
  if (rest || folder.links.length > 0) row.push(secrets, folder.guarded, folder.gitDirectory, folder.raw, folder.links)
  return row
}

function fromRow(value: unknown): Folder {
  const [path, ctime, inode, device, folders, ...rest] = value as Row
  const [secrets = [], guarded = [], gitDirectory = false, raw = [], links = []] = rest as Partial<typeof rest>
  return {
    path,
    ctime,
    inode,
    device,
    settled: true,
    folders,
    secrets: secrets.map(([name, shape, link]) => ({ name, shape, link })),
    guarded,
    gitDirectory,
    links,
    unreadable: false,
    raw,
  }
}

function cacheFile(stateDir: string, facts: MaskFacts): string {
  return join(stateDir, 'index', `${shortHash(JSON.stringify(question(facts)))}.json`)
}

function cacheKey(facts: MaskFacts): string {
  // An index with other shapes or protected names is out of date.
  return JSON.stringify([
    ...question(facts),
    secretShapes,
    [...protectedNames, ...reportedNames].map((name) => name.path),
  ])
}

/** What differs from one index to another. */
function question({ roots, deniedShapes }: MaskFacts): readonly (readonly string[])[] {
  return [[...roots].sort(), [...deniedShapes].sort()]
}

/** Names the file only: the whole key is compared before anything in it is believed. */
function shortHash(text: string): string {
  let [low, high] = [0x811c9dc5, 0x1b873593]
  for (let at = 0; at < text.length; at++) {
    low = Math.imul(low ^ text.charCodeAt(at), 0x01000193)
    high = Math.imul(high ^ text.charCodeAt(at), 0x85ebca6b)
  }
  return `${(low >>> 0).toString(16)}${(high >>> 0).toString(16)}`
}

/** More than a machine has; the oldest go first. */
const MOST = 50_000

/**
 * Identities (device and inode) of files that were hidden once: they stay secret wherever their
 * folders move. Otherwise `mv packages node_modules` would turn a project's `.env` into a file of
 * a package.
 */
export class SecretMemory {
  readonly #stateDir: string
  #known: Set<string> | null = null
  #isNew = false

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  has(identity: string): boolean {
    return this.#names().has(identity)
  }

  /** Notes a file that is hidden for its name. */
  note(identity: string): void {
    if (this.#names().has(identity)) return
    this.#names().add(identity)
    this.#isNew = true
  }

  /** Writes new entries, before the command that could move the files starts. */
  keep(): void {
    if (!this.#isNew) return
    // Another process may have noted others meanwhile.
    const names = [...new Set([...this.#read(), ...this.#names()])].slice(-MOST)
    const temporary = `${this.#file}.${uniqueName()}`
    try {
      makeDirectories(this.#stateDir)
      writeMade(temporary, JSON.stringify(names), { flag: 'wx' })
      renameSync(temporary, this.#file)
      this.#isNew = false
    } catch (error) {
      removeIfPossible(temporary)
      throw unwritable(this.#file, error)
    }
  }

  get #file(): string {
    return join(this.#stateDir, 'secrets-seen.json')
  }

  #names(): Set<string> {
    this.#known ??= this.#read()
    return this.#known
  }

  #read(): Set<string> {
    try {
      const parsed: unknown = JSON.parse(readFileSync(this.#file, 'utf8'))
      return new Set(Array.isArray(parsed) ? parsed.filter((name): name is string => typeof name === 'string') : [])
    } catch {
      // Missing, or not our text: hidden files are noted again.
      return new Set()
    }
  }
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // On a disk that takes no changes.
  }
}
