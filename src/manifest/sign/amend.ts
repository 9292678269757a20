/**
 * Changes a signed manifest for an "always": edit and signature together, without losing another
 * edit.
 */

import { createHash, randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { errorCode, Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import { withLock } from '../../system/lock.ts'
import { openOwnDirectory, removeIfThere, syncDirectory } from '../../system/state.ts'
import { type ManifestTrust, type SignatureRecord, type SigningPlaces, signManifest } from './sign.ts'

interface AmendRequest extends SigningPlaces {
  readonly project: string
  /** The manifest's path. */
  readonly path: string
  /** The text with the new grant in it; null when it cannot be put in. */
  readonly edit: (text: string) => string | null
  /** The canonical grants of a text; throws or gives null when the text does not load. */
  readonly canonical: (text: string) => string | null
  /** Whether a text's grants are signed now. */
  readonly trust: (canonical: string) => ManifestTrust
  readonly now: string
}

export type AmendOutcome =
  | { readonly done: true; readonly record: SignatureRecord; readonly warning: string | null }
  /** `unsigned`: someone changed the file by hand, and their change is for a person to sign, not for an "always". */
  | { readonly done: false; readonly reason: 'unsigned' | 'does-not-load' | 'cannot-edit' | 'missing' }

const ATTEMPTS = 5
/** The names that `stage` gives. */
const STAGED = /^\.cordon\.toml\.[0-9a-f]{12}\.tmp$/

/**
 * Reads, edits, signs and replaces under a lock that every Cordon takes. INVARIANT: it only signs a
 * text whose grants were all signed or answered by the person. The signature is stored before the
 * file is replaced, so a crash in between leaves a signed manifest.
 */
export function amendManifest(request: AmendRequest): AmendOutcome {
  return withLock(lockOf(request.path, request.stateDir), () => {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const outcome = amendOnce(request)
      if (outcome !== 'changed-meanwhile') return outcome
    }
    throw new Fault('manifest-busy', `${request.path} keeps changing while it is being amended`, {
      remedy: 'Close the program that is writing it, and answer again.',
    })
  })
}

/** Removes leftovers of a killed amendment; a running one keeps the lock. */
export function reapAmendments(path: string, stateDir: string): void {
  const directory = dirname(path)
  const left = machineFiles.list(directory).filter((name) => STAGED.test(name))
  if (left.length === 0) return
  withLock(lockOf(path, stateDir), () => {
    for (const name of left) removeIfThere(join(directory, name))
  })
}

function lockOf(path: string, stateDir: string): string {
  const name = createHash('sha256').update(path).digest('hex').slice(0, 32)
  return join(openOwnDirectory(stateDir), 'locks', `manifest-${name}`)
}

function amendOnce(request: AmendRequest): AmendOutcome | 'changed-meanwhile' {
  const opened = openManifestFile(request.path)
  if (opened === null) return { done: false, reason: 'missing' }
  try {
    const before = request.canonical(opened.text)
    if (before === null) return { done: false, reason: 'does-not-load' }
    if (request.trust(before).status !== 'signed') return { done: false, reason: 'unsigned' }
    const text = request.edit(opened.text)
    if (text === null) return { done: false, reason: 'cannot-edit' }
    const after = request.canonical(text)
    if (after === null) return { done: false, reason: 'cannot-edit' }
    const temporary = stage(request.path, text, opened.mode)
    try {
      const { record, warning } = signManifest({ ...request, canonical: after })
      if (!isUnchanged(request.path, opened)) return 'changed-meanwhile'
      renameSync(temporary, request.path)
      syncDirectory(dirname(request.path))
      // An editor that had the old file open may have written it in the last moment: its words come first.
      const late = readAll(opened.fd)
      if (late !== opened.text) {
        replace(request.path, late, opened.mode)
        return 'changed-meanwhile'
      }
      return { done: true, record, warning }
    } finally {
      removeIfThere(temporary)
    }
  } finally {
    closeSync(opened.fd)
  }
}

interface OpenedManifest {
  readonly fd: number
  readonly text: string
  readonly mode: number
  readonly inode: bigint
  readonly changed: bigint
}

function openManifestFile(path: string): OpenedManifest | null {
  let fd: number
  try {
    // O_NOFOLLOW: a link instead of the manifest would have us write somewhere else.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw new Fault('manifest-unreadable', `${path} cannot be opened (${errorCode(error)})`, { cause: error })
  }
  const facts = fstatSync(fd, { bigint: true })
  if (!facts.isFile()) {
    closeSync(fd)
    throw new Fault('manifest-unreadable', `${path} is not a regular file`)
  }
  return { fd, text: readAll(fd), mode: Number(facts.mode & 0o777n), inode: facts.ino, changed: facts.ctimeNs }
}

/** The whole file from its start, whatever was read before. */
function readAll(fd: number): string {
  const chunks: Buffer[] = []
  for (let position = 0; ; ) {
    const chunk = Buffer.alloc(65_536)
    const count = readSync(fd, chunk, 0, chunk.length, position)
    if (count === 0) return Buffer.concat(chunks).toString('utf8')
    chunks.push(chunk.subarray(0, count))
    position += count
  }
}

function isUnchanged(path: string, opened: OpenedManifest): boolean {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return false
  }
  try {
    const facts = fstatSync(fd, { bigint: true })
    return facts.ino === opened.inode && facts.ctimeNs === opened.changed
  } finally {
    closeSync(fd)
  }
}

function stage(path: string, text: string, mode: number): string {
  const temporary = join(dirname(path), `.cordon.toml.${randomBytes(6).toString('hex')}.tmp`)
  const fd = openSync(temporary, 'wx', mode)
  try {
    writeFileSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  return temporary
}

function replace(path: string, text: string, mode: number): void {
  renameSync(stage(path, text, mode), path)
  syncDirectory(dirname(path))
}
