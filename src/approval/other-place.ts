/** The place outside the project that a person means when a file in it is wanted: the repository it belongs to, a tool's own folder, or the file alone. */

import { posix } from 'node:path'
import { isInside } from '../files/baseline.ts'

/** Where the project, the home and repositories are. */
export interface Surroundings {
  readonly root: string
  readonly home: string
  /** The repository of a path on disk; null if there is none, or it cannot be checked. */
  readonly repository?: (path: string) => string | null
}

/** Folders of the home whose files are, or may be, credentials: never granted as a whole. */
const CREDENTIALS =
  /^\.(ssh|gnupg|aws|azure|kube|docker|password-store|netrc|pki|cert|oci|terraform\.d|gem|cargo|npm|config\/(gh|gcloud|op|hub|glab-cli|doctl|rclone|sops|age))(\/|$)/

/** Folders with one folder for each program or project: the one below is meant. */
const SHELVES: readonly RegExp[] = [
  /^\.claude\/projects$/,
  /^\.(local|config|cache)(\/(share|state|lib))?$/,
  /^\.local\/lib\/node_modules(\/@[^/]+)?$/,
  /^Library(\/Application Support|\/Caches|\/Logs)?$/,
  /^AppData(\/(Local|Roaming))?$/,
]

/** Whether a place contains credentials: nothing there is offered. */
export function isCredentialPlace(path: string, around: Surroundings): boolean {
  const home = homeOf(path, around)
  return home !== null && CREDENTIALS.test(posix.relative(home, path))
}

/** The folder that is meant by a path outside; null when only the very file can be. */
export function otherPlace(path: string, around: Surroundings): string | null {
  const home = homeOf(path, around)
  if (isCredentialPlace(path, around)) return null
  const folder = isFile(path) ? posix.dirname(path) : path
  const repository = around.repository?.(path) ?? null
  if (repository !== null && isMeant(repository, home, around)) return repository
  const parts = folder.split('/')
  const shared = sharedWith(folder, around.root)
  for (let length = Math.max(shared + 1, 2); length <= parts.length; length++) {
    const place = parts.slice(0, length).join('/')
    if (isMeant(place, home, around)) return place
  }
  return null
}

/** Folders of a home with all of a person's files. */
const EVERYTHING =
  /^(\..*|Applications|AppData|Desktop|Documents|Downloads|Dropbox|iCloud.*|Library|Movies|Music|OneDrive.*|Pictures|Public|Templates|Videos|bin|go|snap)$/i

/** The folder right below the home for a new file: a place of one purpose is granted as a whole. */
export function folderOfHome(path: string, around: Surroundings): string | null {
  const [home, folder] = [homeOf(path, around), posix.dirname(path)]
  if (home === null || posix.dirname(folder) !== home || EVERYTHING.test(posix.basename(folder))) return null
  return isInside(around.root, folder) || isInside(around.home, folder) ? null : folder
}

/** Narrow enough to be named: below a home two levels down, elsewhere too, and not above the project or the home. */
function isMeant(place: string, home: string | null, { root, home: own }: Surroundings): boolean {
  if (isInside(root, place) || isInside(own, place)) return false
  if (home === null) return place.split('/').length > 2
  const below = posix.relative(home, place)
  if (below === '' || below.startsWith('..') || CREDENTIALS.test(below)) return false
  if (SHELVES.some((shelf) => shelf.test(below))) return false
  return below.includes('/')
}

/** The home that a path lies in, this account's or another's of the same shape. */
function homeOf(path: string, { home }: Surroundings): string | null {
  if (isInside(path, home)) return home
  return /^\/(?:home|Users)\/[^/]+(?=\/|$)/.exec(path)?.[0] ?? null
}

/** How many components two paths begin with alike. */
function sharedWith(one: string, other: string): number {
  const [a, b] = [one.split('/'), other.split('/')]
  let count = 0
  while (count < a.length && a[count] === b[count]) count++
  return count
}

/** By its name: a directory rarely has an extension. */
function isFile(path: string): boolean {
  return /[^/.][^/]*\.[A-Za-z][\w-]{0,9}$/.test(posix.basename(path)) && !/\.(app|worktrees|d)$/.test(path)
}
