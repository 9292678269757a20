/**
 * What a container without an image sees of the host: its programs, read-only, and nothing else.
 */

import { lstatSync, readlinkSync, realpathSync } from 'node:fs'

export interface ContainerRoot {
  /** Shown read-only under their own paths. */
  readonly shown: readonly string[]
  /** Links of the host that are created again, such as /bin -> usr/bin. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
}

/** Programs and their libraries. Not /etc, /opt or a home: what lies there is the machine's own business. */
const PROGRAM_PATHS: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/nix/store',
  '/run/current-system',
]

/** Without these programs are not found: Debian's choices among programs of one name, and the loader's index. */
const LOOKUP_PATHS: readonly string[] = ['/etc/alternatives', '/etc/ld.so.cache']

/** Checks the host. */
export function containerRoot(): ContainerRoot {
  const shown: string[] = []
  const links: { path: string; target: string }[] = []
  for (const path of [...PROGRAM_PATHS, ...LOOKUP_PATHS]) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isSymbolicLink()) links.push({ path, target: readlinkSync(path) })
    else if (stat) shown.push(path)
  }
  return { shown, links }
}

/** True when a program of the host is in the layout, links followed. */
export function isInRoot(path: string, layout: ContainerRoot): boolean {
  try {
    const real = realpathSync.native(path)
    return layout.shown.some((shown) => real === shown || real.startsWith(`${shown}/`))
  } catch {
    return false
  }
}
