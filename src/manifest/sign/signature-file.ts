/** The signatures of a project, as they are kept in the state directory. Nothing in them is believed before it was verified. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Fault } from '../../system/fault.ts'
import { readOwnJson } from '../../system/state.ts'
import type { PublicKey } from './signature.ts'

export interface SignatureRecord {
  readonly grant_hash: string
  readonly signed_at: string
  readonly key: PublicKey
  readonly signature: string
  /** The signed text, to show a later change. Trusted only if its hash is the signed one. */
  readonly canonical: string
}

interface SignatureFile {
  readonly version: 1
  readonly project: string
  /** The newest last. */
  readonly signatures: readonly SignatureRecord[]
}

/** A file name that every file system takes. */
const MAX_NAME = 200

/** The file about a project, named after its path, or a hash of a long one. */
export function signaturePath(stateDir: string, project: string): string {
  const name = project.isWellFormed() ? encodeURIComponent(project) : ''
  const short = name !== '' && name.length <= MAX_NAME
  return join(stateDir, 'signatures', `${short ? name : createHash('sha256').update(project).digest('hex')}.json`)
}

/** The signatures of a project; none when there is not a file. */
export function readSignatures(stateDir: string, project: string): SignatureFile {
  const path = signaturePath(stateDir, project)
  const file = readOwnJson(path, isSignatureFile)
  if (file === null) return { version: 1, project, signatures: [] }
  if (file.project !== project) {
    throw new Fault('state-corrupt', `${path} is about ${file.project}, not about ${project}`, {
      remedy: `Move it away (mv ${path} ${path}.damaged) and sign again.`,
    })
  }
  return file
}

function isSignatureFile(value: unknown): value is SignatureFile {
  const file = value as SignatureFile | null
  return (
    file?.version === 1 &&
    typeof file.project === 'string' &&
    Array.isArray(file.signatures) &&
    file.signatures.every(
      (record: unknown) =>
        typeof record === 'object' &&
        record !== null &&
        ['grant_hash', 'signed_at', 'key', 'signature', 'canonical'].every(
          (field) => typeof (record as Record<string, unknown>)[field] === 'string',
        ),
    )
  )
}
