/**
 * The users that rows run as, and the one reason for which rows are left out: as anybody but root those that need root are not
 * run, and `npm test` counts them (vitest.config.ts says what the tag does).
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

export interface User {
  readonly name: 'root' | 'ordinary user'
  readonly uid: number
  readonly gid: number
}

/** The users that run the tests. */
export const own: { readonly uid: number; readonly gid: number } = { uid: process.getuid!(), gid: process.getgid!() }
const isRoot = own.uid === 0

/** The options of a group or a test that needs root. */
export const NEEDS_ROOT = { tags: 'needs-root' } as const

export const ROOT: User = { name: 'root', uid: 0, gid: 0 }
/** As root somebody else; as anybody else oneself. */
export const ORDINARY: User = { name: 'ordinary user', ...(isRoot ? { uid: 65534, gid: 65534 } : own) }
export const USERS: readonly User[] = [ROOT, ORDINARY]

type Group = (title: string, options: object, rows: () => void | Promise<void>) => void

/** A group or a test for each user: `eachUser(describe)('as $name', (user) => …)`. Those of root need root. */
export function eachUser(group: Group): (title: string, rows: (user: User) => void | Promise<void>) => void {
  return (title, rows) => {
    for (const user of USERS)
      group(title.replace('$name', user.name), user === ROOT ? NEEDS_ROOT : {}, () => rows(user))
  }
}

/** The command line under a user. */
export function asUser(user: User, argv: readonly string[]): string[] {
  if (user.uid === own.uid) return [...argv]
  return ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups', ...argv]
}

/** The options of `spawn` under a user. */
export function spawnAs(uid: number): { readonly uid?: number; readonly gid?: number } {
  return uid === own.uid ? {} : { uid, gid: uid }
}

/** Makes folders and all below them a user's. */
export function giveTo(uid: number, ...folders: readonly string[]): void {
  if (uid !== own.uid) execFileSync('chown', ['-R', `${uid}:${uid}`, ...folders])
}

/** Removes a folder, whatever modes a command gave what is in it: only root needs no rights for that. */
export function removeTree(folder: string): void {
  if (!isRoot) spawnSync('chmod', ['-R', 'u+rwX', folder])
  rmSync(folder, { recursive: true, force: true })
}
