/**
 * Folders that are not projects: as a root one would give an agent the machine, the home, or other
 * people's work (F10).
 */

import { isInside } from './baseline.ts'
import { words } from './glob.ts'

/** Folders of the system: nothing in them is a project, but for the exceptions. */
const SYSTEM: readonly string[] = words(`
    /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /boot /dev /proc /sys /run /System
    /private/etc /nix/store`)

/** Places below those where people keep sources. */
const EXCEPTIONS: readonly string[] = ['/usr/src', '/usr/local/src', '/run/user', '/run/media']

/** Folders of projects that are not projects themselves. */
const COLLECTIONS: readonly string[] = [
  ...words(`
    /home /Users /root /tmp /var /var/tmp /var/lib /opt /srv /mnt /media /Volumes /Library
    /Applications /private /private/tmp /private/var /nix /snap`),
  ...EXCEPTIONS,
]

/** Why a canonical folder is not taken for a project, or null. */
export function rootProblem(root: string, home: string): string | null {
  if (root === '/') return 'it is the whole machine'
  if (root === home) return 'it is your home directory'
  if (isInside(home, root)) return 'your home directory lies in it'
  if (COLLECTIONS.includes(root)) return 'it contains other projects'
  if (SYSTEM.some((folder) => isInside(root, folder)) && !EXCEPTIONS.some((folder) => isInside(root, folder)))
    return 'it is a folder of the system'
  return null
}
