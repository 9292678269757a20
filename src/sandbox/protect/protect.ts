/** The pins of a sandbox: existing protected paths, and the directories above them (F8). */

import { type BigIntStats, lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { matchSegment } from '../../files/glob.ts'
import { splitPath } from '../../files/path-pattern.ts'
import { WORKTREES, worktreeFolders } from '../../files/protected-names.ts'
import { fixedRules, foldName, gitInternalReason, isOfPackage, rulesFrom } from '../../files/protected-paths.ts'
import { hookFolders } from './git-config.ts'
import { oddProtected } from './odd.ts'
import { childPath, isBelow, type SecretTree } from './tree.ts'

/** A mount that keeps something as it is: `read-only` cannot be written, `in-place` cannot be moved or removed. */
export interface MountPin {
  readonly path: string
  readonly mode: 'read-only' | 'in-place'
  readonly kind: 'file' | 'directory'
}

export interface ProtectFacts {
  readonly home: string
  /** Canonical paths that the sandbox may write: nothing outside them needs a pin. */
  readonly write: readonly string[]
  /** Those of them in which only some paths may be written. */
  readonly partly?: readonly { readonly folder: string; readonly paths: readonly string[] }[]
  /** Literal paths of write grants: a path that the manifest names is not protected. */
  readonly named: readonly string[]
  /** What files of the home, and Cordon's own, are links to. */
  readonly homeLinks?: readonly { readonly path: string; readonly reason: string }[]
  /** Names that a rule keeps from being written wherever they are below the roots. */
  readonly denied?: readonly string[]
  /** Hosts that a person granted: `example.com`, `*.example.com`, or `*`. */
  readonly hosts?: readonly string[]
  readonly own: { readonly configDir: string; readonly stateDir: string; readonly manifestPath: string }
}

/** A protected path that exists now. */
export interface GuardedPath {
  readonly path: string
  readonly reason: string
  /** Device and inode, of the link and of its target. */
  readonly identity: string
  readonly directory: boolean
  /** Hidden by a mask, which is a mount: only the directories above it need a pin. */
  readonly hidden: boolean
}

/** The protected paths below the write grants at one moment. */
export interface Protection {
  readonly guarded: ReadonlyMap<string, GuardedPath>
  /** Git directories by structure: repositories, worktrees, modules, bare ones. */
  readonly gitDirectories: readonly string[]
  /** `.git` files and links: pointers to a git directory elsewhere. */
  readonly gitPointers: readonly string[]
  /** Protected paths below a name that is not UTF-8, with device and inode. */
  readonly odd: ReadonlyMap<string, string>
}

/** A path and its line ends; a longer pointer is padded to blind the process that reads it, and is not read. */
export const POINTER_LIMIT = 65_536

/** Finds the protected paths of the tree, as of its last refresh. */
export function protectTree(tree: SecretTree, facts: ProtectFacts): Protection {
  const guarded = new Map<string, GuardedPath>()
  const gitDirectories: string[] = []
  const gitPointers: string[] = []
  const add = (path: string, reason: string): void => {
    for (const found of guardsAt(path, reason, facts)) guarded.set(found.path, found)
  }
  for (const folder of tree.notable()) {
    if (folder.gitDirectory) gitDirectories.push(folder.path)
    for (const name of folder.guarded) {
      const path = childPath(folder.path, name)
      const folded = foldName(name)
      if (folded === '.git') {
        if (!folder.folders.includes(name)) gitPointers.push(path)
        continue
      }
      const ofPackage = isOfDependency(path, tree.roots)
      const isLink = !folder.folders.includes(name) && lstatOrNull(path)?.isSymbolicLink()
      for (const rule of rulesFrom(folded)) {
        if (ofPackage && rule.name.kind !== 'git') continue
        // A link gives its name to whatever appears at its target, under names that nothing
        // protects.
        const segments = isLink ? rule.segments.slice(0, 1) : rule.segments
        for (const found of matchEntries(folder.path, [name], segments)) add(found, rule.name.reason)
      }
    }
  }
  for (const path of commonDirectories(gitDirectories, tree.roots)) gitDirectories.push(path)
  for (const path of gitDirectories) {
    const hooks = childPath(path, 'hooks')
    // Where nothing is a repository yet, `git init` has samples to lay down.
    const isTop = isTopRepository(path, tree.roots) && lstatOrNull(childPath(path, 'HEAD')) !== null
    if (isTop || holdsHooks(hooks)) add(hooks, 'git hooks')
    for (const name of ['remotes', 'branches'])
      if (holdsHooks(childPath(path, name))) add(childPath(path, name), gitInternalReason(name)!)
    const worktree = posix.basename(path) === '.git' ? posix.dirname(path) : path
    for (const folder of hooksOf(path, worktree, facts.home)) add(folder, HOOKS_BY_PATH)
  }
  // A path in the settings means another folder in each working tree.
  for (const pointer of gitPointers)
    for (const directory of directoriesBehind(pointer))
      for (const folder of hooksOf(directory, posix.dirname(pointer), facts.home)) add(folder, HOOKS_BY_PATH)
  for (const root of tree.roots) {
    const pointer = childPath(root, '.git')
    // A link into the tree points to a git directory that is guarded itself, and has to be written.
    const target = gitPointers.includes(pointer) && linkTarget(pointer)
    if (target !== false && (target === null || !isWritable(target, tree.roots)))
      add(pointer, 'the pointer to the git directory')
    for (const name of ['cordon.toml', 'cordon.toml.sig']) add(childPath(root, name), 'the manifest')
  }
  for (const path of [facts.own.configDir, facts.own.stateDir]) {
    for (const found of guardsAt(path, "Cordon's own files", { ...facts, named: [] })) {
      guarded.set(found.path, { ...found, hidden: true })
    }
  }
  for (const path of [facts.own.manifestPath, `${facts.own.manifestPath}.sig`]) add(path, 'the manifest')
  for (const rule of fixedRules()) {
    const path = rule.name.path.startsWith('~/') ? facts.home + rule.name.path.slice(1) : rule.name.path
    if (isWritable(path, facts.write)) add(path, rule.name.reason)
  }
  for (const { path, reason } of facts.homeLinks ?? []) if (isWritable(path, facts.write)) add(path, reason)
  return { guarded, gitDirectories, gitPointers, odd: oddProtected(tree) }
}

/**
 * The pins of a protection: each protected path read-only, and every directory between it and the
 * write grant pinned, because a mount point moves along when a directory above it is renamed.
 */
export function pinsOf(protection: Protection, facts: ProtectFacts): readonly MountPin[] {
  const pins = new Map<string, MountPin>()
  for (const guard of protection.guarded.values()) {
    const path = resolved(guard.path)
    if (path === null || !isWritable(path, facts.write)) continue
    if (!guard.hidden) pins.set(path, { path, mode: 'read-only', kind: guard.directory ? 'directory' : 'file' })
    hold(path, facts.write, pins)
  }
  for (const path of protection.odd.keys()) {
    if (!isWritable(path, facts.write)) continue
    pins.set(path, { path, mode: 'read-only', kind: 'directory' })
    hold(path, facts.write, pins)
  }
  for (const directory of protection.gitDirectories) {
    // A repository further down without hooks may be removed again; it is checked after the run.
    if (isTopRepository(directory, facts.write) && !facts.write.includes(directory)) {
      pins.set(directory, pins.get(directory) ?? inPlace(directory))
    }
  }
  const list = [...pins.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  const readOnly = new Set(list.filter((pin) => pin.mode === 'read-only').map((pin) => pin.path))
  return list.filter((pin) => !ancestorsOf(pin.path).some((above) => readOnly.has(above)))
}

/** Git directories outside the root that a linked worktree at the root works in; empty unless both ends agree. */
export function worktreeDirectories(root: string): readonly string[] {
  const pointer = childPath(root, '.git')
  try {
    if (!lstatSync(pointer).isFile()) return []
    const directory = realpathSync.native(posix.resolve(root, pointerTarget(readFileSync(pointer, 'utf8')) ?? ''))
    // The pointer lies in the project, where an agent may once have written; the other end does not.
    const back = posix.resolve(directory, readFileSync(childPath(directory, 'gitdir'), 'utf8').trim())
    if (realpathSync.native(back) !== realpathSync.native(pointer)) return []
    const common = readFileSync(childPath(directory, 'commondir'), 'utf8').trim()
    const shared = realpathSync.native(posix.resolve(directory, common))
    return posix.dirname(posix.dirname(directory)) === shared ? [shared] : []
  } catch {
    return []
  }
}

/** The target in a `.git` file: `gitdir: PATH`. */
export function pointerTarget(text: string): string | null {
  const said = text.startsWith('gitdir: ') ? withoutLineEnds(text.slice('gitdir: '.length)) : ''
  return said === '' ? null : said
}

/** A pointer's text as git takes it: without line ends, and without nothing else, for a name may end in a blank. */
export function withoutLineEnds(text: string): string {
  let end = text.length
  while (end > 0 && (text.charCodeAt(end - 1) === 10 || text.charCodeAt(end - 1) === 13)) end--
  return text.slice(0, end)
}

/** Device and inode of a path, and of the target of a link; null if nothing is there. */
export function identityOf(path: string): string | null {
  const stat = lstatOrNull(path)
  if (stat === null) return null
  const own = `${stat.dev}:${stat.ino}`
  if (!stat.isSymbolicLink()) return own
  const target = resolved(path)
  const targetStat = target === null ? null : lstatOrNull(target)
  return `${own}>${targetStat === null ? '' : `${targetStat.dev}:${targetStat.ino}`}`
}

/** True when the path is a write grant or lies below one. */
function isWritable(path: string, write: readonly string[]): boolean {
  return write.some((grant) => path === grant || isBelow(path, grant))
}

function matchEntries(folder: string, entries: readonly string[], segments: readonly string[]): string[] {
  const [first, ...rest] = segments
  const matching = entries.filter((name) => matchSegment(first!, foldName(name))).map((name) => childPath(folder, name))
  return rest.length === 0 ? matching : matching.flatMap((path) => matchEntries(path, namesIn(path), rest))
}

// Where the manifest names something inside a protected directory, the rest of the directory stays protected.
function guardsAt(path: string, reason: string, facts: ProtectFacts): GuardedPath[] {
  if (facts.named.includes(path)) return []
  const stat = lstatOrNull(path)
  if (stat === null || !isWritable(path, facts.write)) return []
  if (stat.isDirectory() && facts.named.some((named) => isBelow(named, path))) {
    return namesIn(path).flatMap((name) => guardsAt(childPath(path, name), reason, facts))
  }
  const trees = stat.isDirectory() ? worktreesIn(path) : null
  if (trees !== null) {
    return namesIn(path)
      .filter((name) => name !== trees)
      .flatMap((name) => guardsAt(childPath(path, name), reason, facts))
  }
  const target = stat.isSymbolicLink() ? resolved(path) : path
  const directory = target !== null && (lstatOrNull(target)?.isDirectory() ?? false)
  return [{ path, reason, identity: identityOf(path) ?? '', directory, hidden: false }]
}

/** The name below which an agent creates working trees; null without such a folder. */
function worktreesIn(path: string): string | null {
  if (!worktreeFolders.includes(foldName(posix.basename(path)))) return null
  const isFolder = (name: string) => lstatOrNull(childPath(path, name))?.isDirectory() ?? false
  return namesIn(path).find((name) => foldName(name) === WORKTREES && isFolder(name)) ?? null
}

function hold(path: string, write: readonly string[], pins: Map<string, MountPin>): void {
  for (const above of ancestorsOf(path)) {
    // The grant itself is a mount already, and the directories above it cannot be written.
    if (write.includes(above) || !isWritable(above, write)) continue
    if (!pins.has(above)) pins.set(above, inPlace(above))
  }
}

function inPlace(path: string): MountPin {
  return { path, mode: 'in-place', kind: 'directory' }
}

// The target of a `commondir` file gives a repository its configuration and hooks, and needs no
// HEAD.
function commonDirectories(gitDirectories: readonly string[], roots: readonly string[]): ReadonlySet<string> {
  const common = new Set<string>()
  const known = new Set(gitDirectories)
  for (const directory of gitDirectories) {
    const pointer = childPath(directory, 'commondir')
    const stat = lstatOrNull(pointer)
    // If a run creates one that is not a plain file, or too big to read, it is moved away.
    if (!stat?.isFile() || stat.size > POINTER_LIMIT) continue
    const text = textOrNull(pointer)
    const target = text === null ? null : resolved(posix.resolve(directory, withoutLineEnds(text)))
    if (target !== null && isWritable(target, roots) && !known.has(target)) common.add(target)
  }
  return common
}

const HOOKS_BY_PATH = 'git hooks, by core.hooksPath'

/** The git directory of a working tree with a `.git` file or link, and its common directory. */
function directoriesBehind(pointer: string): string[] {
  const said = pointerTarget(smallText(pointer, POINTER_LIMIT) ?? '')
  const directory = said === null ? linkTarget(pointer) : resolved(posix.resolve(posix.dirname(pointer), said))
  if (directory === null) return []
  const text = smallText(childPath(directory, 'commondir'), POINTER_LIMIT)
  const shared = text === null ? null : resolved(posix.resolve(directory, withoutLineEnds(text)))
  return shared === null ? [directory] : [directory, shared]
}

/**
 * The folders that `core.hooksPath` of a repository names for one of its working trees: git runs
 * the programs in them.
 */
function hooksOf(directory: string, worktree: string, home: string): readonly string[] {
  return ['config', 'config.worktree'].flatMap((name) => {
    const text = smallText(childPath(directory, name), POINTER_LIMIT * 4, 'latin1')
    return text === null ? [] : hookFolders(text, worktree, home)
  })
}

function smallText(path: string, most: number, encoding: 'utf8' | 'latin1' = 'utf8'): string | null {
  const stat = lstatOrNull(path)
  return stat?.isFile() && stat.size <= most ? textOrNull(path, encoding) : null
}

function textOrNull(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | null {
  try {
    return readFileSync(path, encoding)
  } catch {
    return null
  }
}

function isOfDependency(path: string, roots: readonly string[]): boolean {
  const root = roots.find((candidate) => isBelow(path, candidate)) ?? ''
  return isOfPackage(splitPath(path.slice(root.length)).map(foldName))
}

/** The target of a link; null for anything else, or a broken one. */
function linkTarget(path: string): string | null {
  return lstatOrNull(path)?.isSymbolicLink() ? resolved(path) : null
}

function isTopRepository(directory: string, roots: readonly string[]): boolean {
  return roots.some((root) => directory === root || directory === childPath(root, '.git'))
}

// Samples that `git init` and `git clone` lay down do nothing under their names.
function holdsHooks(path: string): boolean {
  const stat = lstatOrNull(path)
  if (stat === null) return false
  return !stat.isDirectory() || namesIn(path).some((name) => !name.endsWith('.sample'))
}

function ancestorsOf(path: string): string[] {
  const above: string[] = []
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) above.push(path.slice(0, at))
  return above
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function resolved(path: string): string | null {
  try {
    return realpathSync.native(path)
  } catch {
    return null
  }
}

function lstatOrNull(path: string): BigIntStats | null {
  try {
    return lstatSync(path, { bigint: true, throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}
