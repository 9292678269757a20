/** Codes by which machines join: each is used once, holds for a while, and never travels itself. */

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import { withLock } from '../system/lock.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'
import type { Role } from './identity.ts'

/** What a machine is enrolled as. */
export interface Invite {
  readonly id: string
  readonly secret: string
  readonly role: Role
  readonly groups: readonly string[]
  readonly expires: number
}

interface InviteFile {
  readonly version: 1
  readonly invites: readonly Invite[]
}

/** Makes a code. */
export function makeInvite(
  teamDirectory: string,
  invite: Pick<Invite, 'role' | 'groups' | 'expires'>,
): { readonly code: string } {
  const id = randomBytes(4).toString('hex')
  const secret = randomBytes(16).toString('hex')
  change(teamDirectory, (invites) => [...invites, { ...invite, id, secret }])
  return { code: `${id}-${secret}` }
}

/** The parts of a code; null when it is not. */
export function parseCode(code: string): { readonly id: string; readonly secret: string } | null {
  const match = /^([0-9a-f]{8})-([0-9a-f]{32})$/.exec(code.trim())
  return match && { id: match[1]!, secret: match[2]! }
}

/** Proves that the process that sends a text has the code. */
export function codeProof(secret: string, purpose: 'join' | 'joined', text: string): string {
  return createHmac('sha256', Buffer.from(secret, 'hex')).update(`cordon-fleet-${purpose}-v1\0${text}`).digest('hex')
}

export function isProof(given: unknown, wanted: string): boolean {
  if (typeof given !== 'string' || given.length !== wanted.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
}

/** Takes the invite that a proof is for; no one takes it again. Null for a wrong proof, and after its time. */
export function takeInvite(
  teamDirectory: string,
  id: string,
  proof: unknown,
  text: string,
  now: number,
): Invite | null {
  let taken: Invite | null = null
  change(teamDirectory, (invites) => {
    const found = invites.find((invite) => invite.id === id && invite.expires > now)
    if (!found || !isProof(proof, codeProof(found.secret, 'join', text))) return invites
    taken = found
    return invites.filter((invite) => invite !== found)
  })
  return taken
}

function change(directory: string, how: (invites: readonly Invite[]) => readonly Invite[]): void {
  const path = join(directory, 'invites.json')
  withLock(join(directory, 'invites.lock'), () => {
    const invites = readOwnJson(path, isInviteFile)?.invites ?? []
    writeOwnJson(path, { version: 1, invites: how(invites) } satisfies InviteFile)
  })
}

function isInviteFile(value: unknown): value is InviteFile {
  const file = value as Partial<InviteFile> | null
  return file?.version === 1 && Array.isArray(file.invites)
}
