/** What the sandbox shows every command, so that naming it in a command needs no grant. */

/** System directories, shown to commands less the masks (S6) where they exist. */
export const SYSTEM_PATHS: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
  '/run/current-system',
  '/snap',
]

/** Devices of the sandbox's own /dev, which lead nowhere else. */
const DEVICES: ReadonlySet<string> = new Set([
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
  '/dev/stdin',
  '/dev/stdout',
  '/dev/stderr',
  '/dev/tty',
])

/** True for a path that every command may read. The sandbox has a /proc of its own. */
export function isBaselineRead(path: string): boolean {
  return isSandboxDevice(path) || isInside(path, '/proc') || SYSTEM_PATHS.some((prefix) => isInside(path, prefix))
}

/** True for a way through /proc to the kernel's memory or to what a process holds: its root, directory, descriptors, memory. */
export function isProcessPath(path: string): boolean {
  if (/^\/proc\/(kcore|kmsg|kallsyms|kpage\w+|sysrq-trigger)$/.test(path)) return true
  return /^\/proc\/[^/]+\/(task\/[^/]+\/)?(root|cwd|exe|fd|map_files|mem|environ)(\/|$)/.test(path)
}

/** True for the devices that every command may also write. */
export function isSandboxDevice(path: string): boolean {
  return DEVICES.has(path) || /^\/dev\/fd\/\d+$/.test(path)
}

/** True for the sandbox's private places for temporary files: what is written there is gone with the command. */
export function isPrivateTmp(path: string): boolean {
  // macOS resolves /tmp to /private/tmp.
  return ['/tmp', '/private/tmp', '/var/tmp', '/private/var/tmp'].some((place) => isInside(path, place))
}

/** True when `path` is `directory` or lies below it. Both are canonical. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`)
}
