/** Source near a project that a call may read: neighbouring repositories, packages. */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { NearbyKind } from '../../policy/policy.ts'
import { attempt } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { LoadedPolicy } from './load.ts'

/** Where package managers install below home, followed by the package's files. */
const PACKAGES: readonly RegExp[] = [
  /^\.(?:local|npm-global|npm-packages)\/lib\/node_modules\/./,
  /^\.nvm\/versions\/node\/[^/]+\/lib\/node_modules\/./,
  /^(?:\.(?:volta|asdf|fnm)|\.local\/share\/(?:mise|fnm))\/.*\/node_modules\/./,
  /^\.bun\/install\/(?:global\/node_modules|cache)\/./,
  /^(?:\.local\/share|Library)\/pnpm\/global\/./,
  /^(?:\.local|Library\/Python\/[^/]+)\/lib\/python[^/]*\/site-packages\/./,
  /^\.local\/(?:share\/)?(?:pipx\/venvs|uv\/tools)\/[^/]+\/lib\/./,
  /^\.pyenv\/versions\/[^/]+\/lib\/./,
  /^\.cargo\/(?:registry\/src|git\/checkouts)\/./,
  /^\.rustup\/toolchains\/[^/]+\/(?:lib|share)\/./,
  /^go\/pkg\/mod\/./,
  /^\.(?:gem\/ruby\/[^/]+|rbenv\/versions\/[^/]+\/lib\/ruby\/gems\/[^/]+)\/gems\/./,
  /^\.m2\/repository\/./,
  /^\.composer\/vendor\/./,
  /^\.pub-cache\/hosted\/./,
]

/** Programs outside the system folders. */
const PROGRAMS = /^\/Applications\/[^/]+\.app\/Contents\/./

/** A folder with a private name. */
const PRIVATE =
  /(?:^|[-_. ])(?:secrets?|credentials?|creds|passwords?|passwd|pass|vaults?|keys?|keyring|private|confidential|personal|dotfiles)(?:$|[-_. ])/i

/** Folders of a home that do not contain projects. */
const NO_PROJECTS = /^(?:\..*|Library|AppData|Applications|snap)$/

/** Decides which paths are near; empty if the manifest opens none. */
export function nearbyFact(
  { root, policy: { nearby } }: Pick<LoadedPolicy, 'root' | 'policy'>,
  home: string,
  repositoryOf: (path: string) => string | null,
): Pick<SessionFacts, 'nearby'> {
  if (nearby.length === 0) return {}
  const ruleOf = (kind: NearbyKind) => nearby.find(({ value }) => value === kind) ?? null
  const [repositories, packages] = [ruleOf('repositories'), ruleOf('packages')]
  const shelf = repositories === null ? null : shelfOf(root, home)
  return {
    nearby(path) {
      if (packages !== null && isPackage(path, home)) return packages
      return shelf !== null && isNeighbour(path, root, shelf, repositoryOf) ? repositories : null
    },
  }
}

/** The folder in which the person keeps this project and others. */
function shelfOf(root: string, home: string): string | null {
  if (root === home || !isInside(root, home)) return null
  const [first, ...below] = posix.relative(home, root).split('/')
  if (below.length === 0 || NO_PROJECTS.test(first!) || below.some((name) => name.startsWith('.'))) return null
  return posix.join(home, first!)
}

function isNeighbour(
  path: string,
  root: string,
  shelf: string,
  repositoryOf: (path: string) => string | null,
): boolean {
  if (!isInside(path, shelf) || isInside(path, root)) return false
  const repository = repositoryOf(path)
  if (repository === null || repository === shelf || !isInside(repository, shelf)) return false
  const names = posix.relative(shelf, path).split('/')
  // A remote's URL in a repository may contain a login.
  return !names.includes('.git') && !names.some((name) => PRIVATE.test(name))
}

function isPackage(path: string, home: string): boolean {
  if (PROGRAMS.test(path)) return true
  if (!isInside(path, home)) return false
  const below = posix.relative(home, path)
  return PACKAGES.some((place) => place.test(below))
}

/** The repository of a path: the nearest folder above it that contains one of this user's. */
export function repositoryAt(path: string, files: Pick<Files, 'exists' | 'isOwn'>): string | null {
  for (let place = path; place !== '/'; place = posix.dirname(place)) {
    const git = posix.join(place, '.git')
    if (files.exists(git)) return files.isOwn(git) ? place : null
  }
  return null
}

/** The same, unless its own files contain a login. */
export function openRepositoryAt(path: string, files: Files): string | null {
  const repository = repositoryAt(path, files)
  if (repository === null) return null
  const git = posix.join(repository, '.git')
  const modules = posix.join(git, 'modules')
  const settings = [git, ...files.list(modules).map((name) => posix.join(modules, name))]
  return settings.some((place) => holdsLogin(posix.join(place, 'config'), files)) ? null : repository
}

/** A user in a URL, or a header that git sends. */
const LOGIN = /:\/\/[^\s/@]+@|extraheader|password|token/i

function holdsLogin(config: string, files: Files): boolean {
  if (!files.exists(config)) return false
  return attempt(() => LOGIN.test(files.readText(config)), true)
}
