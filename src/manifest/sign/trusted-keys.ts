/** The keys of other people whose signatures this user accepts: `trusted-keys`, one a line, with a comment. */

import { lstatSync, realpathSync } from 'node:fs'
import { join, sep } from 'node:path'
import { errorCode, Fault } from '../../system/fault.ts'
import { withLock } from '../../system/lock.ts'
import { openOwnDirectory, ownUid, readOwnFile, writeOwnFile } from '../../system/state.ts'
import { keyId, type PublicKey, parsePublicKey } from './signature.ts'

export interface TrustedKey {
  readonly id: string
  readonly key: PublicKey
  readonly comment: string
  /** The file that names it. */
  readonly source: string
}

interface TrustedKeyPlaces {
  readonly configDir: string
  /** `CORDON_TRUSTED_KEYS`: a file instead of the user's own, in CI. */
  readonly override: string | undefined
  /** A file below it is the repository's own word for itself, and is refused. */
  readonly projectRoot: string
}

/** The keys that are trusted here. A file that cannot be believed is a fault, not an empty list. */
export function readTrustedKeys(places: TrustedKeyPlaces): readonly TrustedKey[] {
  const named = places.override === undefined || places.override === '' ? null : places.override
  const path = named ?? fileOf(places.configDir)
  // The usual case, without an exception: those take a start longer than they look.
  if (named === null && lstatSync(path, { throwIfNoEntry: false }) === undefined) return []
  let real: string
  try {
    // People keep such files under version control and link to them: the target counts.
    real = realpathSync(path)
  } catch (error) {
    if (named === null && errorCode(error) === 'ENOENT') return []
    throw new Fault('trusted-keys', `the trusted keys ${path} cannot be read (${errorCode(error)})`, { cause: error })
  }
  if (real === places.projectRoot || real.startsWith(places.projectRoot + sep)) {
    throw new Fault('trusted-keys', `the trusted keys ${path} lie in the project itself`, {
      remedy: 'Keep the keys outside the repository: anyone who can change it could otherwise sign for it.',
    })
  }
  return parseFile(real)
}

function fileOf(configDir: string): string {
  return join(configDir, 'trusted-keys')
}

function parseFile(path: string): TrustedKey[] {
  const bytes = readOwnFile(path, [ownUid(), 0])
  if (bytes === null) return []
  const lines = new TextDecoder().decode(bytes).split('\n')
  return lines.flatMap((line, index) => {
    const text = line.trim()
    if (text === '' || text.startsWith('#')) return []
    const [word, ...comment] = text.split(/\s+/)
    const key = parsePublicKey(word!)
    if (key === null) {
      throw new Fault('trusted-keys', `${path}:${index + 1} is not a key`, {
        remedy: 'Write lines such as: ed25519:BASE64 name of the team',
      })
    }
    return [{ id: keyId(key), key, comment: comment.join(' '), source: path }]
  })
}

/** Adds a key to the user's file; `cordon keys trust`. */
export function trustKey(configDir: string, text: string, comment: string): TrustedKey {
  const key = parsePublicKey(text)
  if (key === null) {
    throw new Fault('bad-key', `not a public key: ${JSON.stringify(text.slice(0, 80))}`, {
      remedy: 'A key is ed25519: and 44 characters of base64, as `cordon keys` prints it.',
    })
  }
  const own = openOwnDirectory(configDir)
  const path = fileOf(own)
  const entry = { id: keyId(key), key, comment: comment.replace(/\s+/g, ' ').trim(), source: path }
  withLock(join(own, '.locks', 'trusted-keys'), () => {
    const known = parseFile(path)
    if (known.some((other) => other.key === key)) return
    const before = readOwnFile(path)
    const text = before === null ? '' : new TextDecoder().decode(before)
    const gap = text === '' || text.endsWith('\n') ? '' : '\n'
    writeOwnFile(path, `${text}${gap}${`${key} ${entry.comment}`.trim()}\n`)
  })
  return entry
}

/** Takes a key out of the user's file, by its id or itself; false when it was not in it. `cordon keys untrust`. */
export function untrustKey(configDir: string, idOrKey: string): boolean {
  const own = openOwnDirectory(configDir)
  const path = fileOf(own)
  return withLock(join(own, '.locks', 'trusted-keys'), () => {
    const bytes = readOwnFile(path)
    if (bytes === null) return false
    const lines = new TextDecoder().decode(bytes).split('\n')
    const kept = lines.filter((line) => {
      const key = parsePublicKey(line.trim().split(/\s+/)[0]!)
      return key === null || (key !== idOrKey && keyId(key) !== idOrKey)
    })
    if (kept.length === lines.length) return false
    writeOwnFile(path, kept.join('\n'))
    return true
  })
}
