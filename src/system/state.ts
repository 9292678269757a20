/** Cordon's own files: private, replaced atomically, refused if others could write them. */

import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { attempt, errorCode, Fault, unwritable } from './fault.ts'
import { openMade, uniqueName } from './made-file.ts'

const MAX_STATE_BYTES = 64 * 1024 * 1024
const STALE_TEMPORARY_MS = 60_000

/**
 * Ensures that a private directory exists, owned by this user and below no directory in which
 * others can rename. Returns its real path. `within`: a directory checked just before.
 */
export function openOwnDirectory(path: string, within?: string): string {
  try {
    makeDirectories(path)
  } catch (error) {
    throw new Fault('state-unwritable', `${path} cannot be created (${errorCode(error) ?? 'unknown'})`, {
      cause: error,
      remedy: 'Make it writable for you, or set XDG_STATE_HOME to a directory that is.',
    })
  }
  const real = realpathSync.native(path)
  const facts = statSync(real)
  if (!facts.isDirectory()) throw new Fault('state-untrusted', `${path} is not a directory`)
  mustBeOurs(real, facts)
  for (let above = dirname(real); above !== within; above = dirname(above)) {
    const { mode, uid } = statSync(above)
    // The sticky bit, as on /tmp, prevents others from renaming ours.
    const open = (mode & 0o002) !== 0 && (mode & 0o1000) === 0
    if (open || (uid !== ownUid() && !isRootHere(uid))) {
      throw untrusted(real, `${above} above it ${open ? 'is writable by everybody' : 'belongs to another user'}`)
    }
    if (above === dirname(above)) break
  }
  if ((facts.mode & 0o077) !== 0) chmodSync(real, 0o700)
  if (within === undefined) versionOf(real)
  return real
}

/** Version of the state's format. Changing it requires a migration in `openState`. */
const STATE_VERSION = 1
const VERSION_FILE = 'version'

/** Opens the state directory for writing and marks its version. */
export function openState(path: string): string {
  const real = openOwnDirectory(path)
  // State from before versions has version 1.
  if (versionOf(real) === null) writeOwnFile(join(real, VERSION_FILE), `${STATE_VERSION}\n`)
  return real
}

/** Throws a Fault for a newer version, which this one could misread. Null without a version. */
function versionOf(directory: string): number | null {
  const path = join(directory, VERSION_FILE)
  if (!lstatSync(path, { throwIfNoEntry: false })) return null
  const text = Buffer.from(readOwnFile(path) ?? '').toString('latin1')
  const found = /^[1-9]\d{0,8}(?=\n$)/.exec(text)
  if (!found) throw corrupt(path, 'it has no version')
  const version = Number(found[0])
  if (version <= STATE_VERSION) return version
  throw new Fault(
    'state-newer',
    `${directory} was written by a newer Cordon (version ${version} of its state; this one knows ${STATE_VERSION})`,
    { remedy: 'Use that Cordon, or set XDG_STATE_HOME to another directory and sign again.' },
  )
}

/**
 * Creates a directory and its parents, private by default, whatever the umask. Node's recursive
 * mkdir hangs if one cannot be created.
 */
export function makeDirectories(path: string, mode = 0o700): void {
  // It usually exists, and an exception costs more than a lookup.
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return
  try {
    makeDirectory(path, mode)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error
    makeDirectories(dirname(path), mode)
    makeDirectory(path, mode)
  }
}

/** Created by another process at the same time is fine. */
function makeDirectory(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return
    throw error
  }
  if ((statSync(path).mode & mode) !== mode) chmodSync(path, mode)
}

/** Refuses a path that another user owns or others may write. */
export function mustBeOurs(path: string, facts: Stats, owners: readonly number[] = [ownUid()]): void {
  if (!owners.includes(facts.uid)) throw untrusted(path, `it belongs to user ${facts.uid}, not to ${ownUid()}`)
  if ((facts.mode & 0o022) !== 0) {
    throw untrusted(path, `others may write it (mode ${(facts.mode & 0o777).toString(8)})`)
  }
}

const OVERFLOW_UID = 65534

/** Root, also as seen from a user namespace without it. */
function isRootHere(uid: number): boolean {
  if (uid !== OVERFLOW_UID) return uid === 0
  return attempt(() => !/^\s*0\s+0\s+4294967295\s*$/.test(readFileSync('/proc/self/uid_map', 'latin1')), false)
}

/** Whether it is this user's directory, not a link, and closed to writes by others. */
export function isOwnDirectory(path: string): boolean {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  return facts?.isDirectory() === true && facts.uid === ownUid() && (facts.mode & 0o022) === 0
}

export function ownUid(): number {
  return process.getuid?.() ?? 0
}

function untrusted(path: string, why: string): Fault {
  return new Fault('state-untrusted', `${path} cannot be trusted: ${why}`, {
    remedy: `Look at what is in it, then: chown -R $(id -u) ${path} && chmod -R go-rwx ${path}`,
  })
}

/** The bytes of one of Cordon's files, or null. It is opened once, and the open file is checked. */
export function readOwnFile(
  path: string,
  owners?: readonly number[],
  limit: number = MAX_STATE_BYTES,
): Uint8Array | null {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new Fault('state-unreadable', `${path} cannot be read (${code ?? 'unknown'})`, { cause: error })
  }
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile()) throw untrusted(path, 'it is not a regular file')
    mustBeOurs(path, facts, owners)
    if (facts.size > limit) throw corrupt(path, `it has ${facts.size} bytes`)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Replaces a file atomically and syncs it, unless `lasting` is false. */
export function writeOwnFile(path: string, content: string | Uint8Array, mode = 0o600, lasting = true): void {
  const directory = dirname(path)
  const temporary = join(directory, `.${uniqueName()}.tmp`)
  let fd: number | null = null
  try {
    makeDirectories(directory)
    fd = openMade(temporary, 'wx', mode)
    writeFileSync(fd, content)
    if (lasting) fsyncSync(fd)
    closeSync(fd)
    fd = null
    renameSync(temporary, path)
    if (lasting) syncDirectory(directory)
  } catch (error) {
    if (fd !== null) closeSync(fd)
    removeIfThere(temporary)
    throw unwritable(path, error)
  }
}

/** Makes a rename or a new name durable. */
export function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

export function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error
  }
}

/** Removes half-written files of killed processes. */
export function reapHalfWritten(stateDir: string, now: number): void {
  const folders = readdirSync(stateDir, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const directory of [stateDir, ...folders.map(({ name }) => join(stateDir, name))]) {
    for (const name of readdirSync(directory)) {
      if (!/^\.[0-9a-z-]{16,}\.tmp$/.test(name)) continue
      const path = join(directory, name)
      try {
        if (now - statSync(path).mtimeMs > STALE_TEMPORARY_MS) unlinkSync(path)
      } catch {
        // Another process was faster.
      }
    }
  }
}

/**
 * Parses a state file with `check`. Invalid content is a fault, since guessing could open what was
 * closed. With `lasting` false an empty file counts as missing.
 */
export function readOwnJson<T>(path: string, check: (value: unknown) => value is T, lasting = true): T | null {
  const bytes = readOwnFile(path)
  if (bytes === null || (bytes.length === 0 && !lasting)) return null
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw corrupt(path, 'it is not JSON', error)
  }
  if (!check(value)) throw corrupt(path, 'it does not have the expected fields')
  return value
}

/** Writes a readable state file. */
export function writeOwnJson(path: string, value: unknown, lasting = true): void {
  writeOwnFile(path, `${JSON.stringify(value, null, 1)}\n`, 0o600, lasting)
}

function corrupt(path: string, why: string, cause?: unknown): Fault {
  return new Fault('state-corrupt', `${path} is damaged: ${why}`, {
    cause,
    remedy: `Restore it from a backup, or move it away (mv ${path} ${path}.damaged) and grant again what it contained.`,
  })
}
