/** The paths that every sandbox shows, so that naming one needs no grant. */

import { words } from './glob.ts'

/** System directories, shown to commands less the masks (S6) where they exist. */
export const SYSTEM_PATHS: readonly string[] = words(`
    /usr /bin /sbin /lib /lib32 /lib64 /libx32 /etc /opt /nix /run/current-system /snap`)

/** Devices of the sandbox's own /dev. */
const DEVICES: ReadonlySet<string> = new Set(
  words(`
    /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/stdin /dev/stdout /dev/stderr
    /dev/tty`),
)

/** Whether every command may read the path. The sandbox has its own /proc. */
export function isBaselineRead(path: string): boolean {
  return isSandboxDevice(path) || isInside(path, '/proc') || SYSTEM_PATHS.some((prefix) => isInside(path, prefix))
}

/** Whether it reaches a process or kernel memory through /proc: root, directory, descriptors. */
export function isProcessPath(path: string): boolean {
  if (/^\/proc\/(kcore|kmsg|kallsyms|kpage\w+|sysrq-trigger)$/.test(path)) return true
  return /^\/proc\/[^/]+\/(task\/[^/]+\/)?(root|cwd|exe|fd|map_files|mem|environ)(\/|$)/.test(path)
}

/** True for the devices that every command may also write. */
export function isSandboxDevice(path: string): boolean {
  return DEVICES.has(path) || /^\/dev\/fd\/\d+$/.test(path)
}

/** Whether it is a private place for temporary files, deleted with the command. */
export function isPrivateTmp(path: string): boolean {
  // macOS resolves /tmp to /private/tmp.
  return ['/tmp', '/private/tmp', '/var/tmp', '/private/var/tmp'].some((place) => isInside(path, place))
}

/** True when `path` is `directory` or lies below it. Both are canonical. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}

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
    return 'it is a system folder'
  return null
}
