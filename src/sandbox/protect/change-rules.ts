/**
 * The tables of protected names as rules for the broker (F8): what a command may not create, move
 * or write while it runs.
 */

import { posix } from 'node:path'
import { gitKeyLines } from '../../files/git-keys.ts'
import { foldForBroker } from '../../files/path-bytes.ts'
import { packageFolders, protectedNames, WORKTREES, worktreeFolders } from '../../files/protected-names.ts'
import { protectedPath } from '../../files/protected-paths.ts'
import { reportedNames } from '../../files/reported-names.ts'
import { type ChangeRule, ruleText } from '../changes.ts'
import { hookFolders, includedFiles, workingTrees } from './git-config.ts'
import type { ProtectFacts } from './protect.ts'

/** A git directory, under that name, as a module of another, or as the one that is shared. */
const GIT_FOLDERS = ['.git', '.git/modules/**']

/**
 * A `.git` that is not a folder points to a repository elsewhere: in the roots to a protected one
 * (native/broker/repository.c), outside to one that a command cannot write. In the caches of its
 * tools, which it can write, nothing is protected, so such a command creates no pointers.
 */
const pointerRules: readonly ChangeRule[] = [
  { pattern: '.git', action: 'judge', folder: true },
  { pattern: '.git/*', action: 'free' },
]

/** Below a git directory: hooks and configuration; pointers, which only git creates. */
const gitRules: readonly ChangeRule[] = GIT_FOLDERS.flatMap((folder): ChangeRule[] => [
  { pattern: `${folder}/hooks`, action: 'refuse', folder: true },
  // What `git init` lays down does nothing under that name.
  { pattern: `${folder}/hooks/*.sample`, action: 'free' },
  { pattern: `${folder}/config`, action: 'judge' },
  { pattern: `${folder}/config.worktree`, action: 'judge' },
  { pattern: `${folder}/worktrees/*/config.worktree`, action: 'judge' },
  { pattern: `${folder}/commondir`, action: 'refuse' },
  { pattern: `${folder}/gitdir`, action: 'refuse' },
])

/** Rules that are the same for every project. */
function commonRules(hasCaches: boolean): ChangeRule[] {
  const anywhere = protectedNames.filter(({ path }) => !/^[~/]/.test(path) && path !== '.git')
  const refused = (ofGit: boolean) =>
    anywhere
      .filter(({ kind, path }) => (kind === 'git') === ofGit && !worktreeFolders.includes(path))
      .map(({ path }): ChangeRule => ({ pattern: foldForBroker(path), action: 'refuse' }))
  // The folder itself stays protected, and so does one of its name in a working tree.
  const trees = worktreeFolders.map((folder) => ({ folder, tree: `${folder}/${WORKTREES}/*` }))
  return [
    ...reportedNames.map(({ path }): ChangeRule => ({ pattern: foldForBroker(path), action: 'note' })),
    ...trees.flatMap(({ folder, tree }): ChangeRule[] => [
      { pattern: folder, action: 'refuse' },
      { pattern: posix.dirname(tree), action: 'free' },
      { pattern: `${tree}/**/${folder}`, action: 'refuse' },
    ]),
    ...refused(false),
    // The settings that a package brings along are not read from there; those of git are.
    ...packageFolders.map((name): ChangeRule => ({ pattern: `${name}/*`, action: 'free', below: true })),
    ...refused(true),
    ...(hasCaches ? pointerRules : []),
    ...gitRules,
  ]
}

const common = new Map<boolean, { readonly rules: readonly ChangeRule[]; readonly text: string }>()

function knownRules(hasCaches: boolean): { readonly rules: readonly ChangeRule[]; readonly text: string } {
  const known = common.get(hasCaches)
  if (known) return known
  const rules = commonRules(hasCaches)
  const created = { rules, text: ruleText(rules) }
  common.set(hasCaches, created)
  return created
}

/** Existing git configurations by path, with their texts (one character a byte). */
type GitConfigs = Readonly<Record<string, string>>

/** The rules for one project, in parts. `caches`: other writable places without rules. */
export function changeRules(facts: ProtectFacts, configs: GitConfigs = {}, caches: readonly string[] = []): string[] {
  const { before, after } = projectRules(facts, configs)
  return [ruleText(before), knownRules(caches.length > 0).text, ruleText(after)]
}

/** The same rules, for a judge of Cordon's own changes. */
export function ruleList(facts: ProtectFacts, configs: GitConfigs): readonly ChangeRule[] {
  const { before, after } = projectRules(facts, configs)
  return [...before, ...knownRules(false).rules, ...after]
}

/** The rules for this project alone: before and after those that are the same everywhere. */
function projectRules(
  facts: ProtectFacts,
  configs: GitConfigs,
): { readonly before: readonly ChangeRule[]; readonly after: readonly ChangeRule[] } {
  const place = (path: string, action: ChangeRule['action']): ChangeRule => ({ pattern: foldForBroker(path), action })
  const fixed = protectedNames
    .filter(({ path }) => /^[~/]/.test(path))
    .map(({ path }) => place(path.startsWith('~/') ? facts.home + path.slice(1) : path, 'refuse'))
  const { configDir, stateDir, manifestPath } = facts.own
  const manifests = [...facts.write.map((root) => `${root}/cordon.toml`), manifestPath]
  const own: ChangeRule[] = [
    ...fixed,
    ...manifests.flatMap((path) => [place(path, 'refuse'), place(`${path}.sig`, 'refuse')]),
    ...Object.entries(configs).flatMap(([file, text]) => reachedByGit(file, text, facts.home)),
    ...openedPlaces(facts).map((path) => place(path, 'free')),
    ...(facts.homeLinks ?? [])
      .filter(({ path }) => !facts.named.includes(path))
      .map(({ path }) => place(path, 'refuse')),
    place(configDir, 'refuse'),
    place(stateDir, 'refuse'),
    ...(facts.denied ?? []).map((name) => place(name, 'refuse')),
  ]
  const roots = facts.write.map(foldForBroker)
  // Before all others: what is protected below an opened path stays protected.
  const partly = (facts.partly ?? []).flatMap(({ folder, paths }) => [
    place(folder, 'refuse'),
    ...paths
      .flatMap((path) => foldersBetween(folder, path))
      .map((path) => ({ ...place(path, 'refuse'), folder: true })),
    ...[...paths, ...facts.write.filter((path) => path.startsWith(`${folder}/`))].map((path) => place(path, 'free')),
  ])
  return { before: partly, after: own.filter(({ pattern }) => !pattern.startsWith('/') || isMeant(pattern, roots)) }
}

/** Folders to create on the way to a path. */
function foldersBetween(folder: string, path: string): string[] {
  const above = posix.dirname(path)
  return above === folder || above === '/' ? [] : [...foldersBetween(folder, above), above]
}

/**
 * Paths that git runs or reads because of a configuration, existing or not: hook folders, in every
 * working tree if the path is relative, and included files, which are judged as configurations.
 */
function reachedByGit(file: string, text: string, home: string): ChangeRule[] {
  const folder = posix.dirname(file)
  const included = includedFiles(text, folder, home).map(
    (path): ChangeRule => ({ pattern: foldForBroker(path), action: 'judge' }),
  )
  // Relative ones mean a folder of each working tree, so they apply at any depth.
  const hooks = hookFolders(text, '.', home)
    .filter((path) => path !== '.')
    .map((path) => (path.startsWith('..') ? posix.resolve(posix.dirname(folder), path) : path))
    .map((path): ChangeRule => ({ pattern: foldForBroker(path), action: 'refuse' }))
  return [...included, ...hooks]
}

/**
 * Protected places that the manifest names by themselves. A grant of something else (`src`, `**`) opens nothing that is protected
 * below it, however literally it is written.
 */
export function openedPlaces({ named, home, own, write }: ProtectFacts): string[] {
  const places = named.map((path) => path.replace(/\/\*\*$/, ''))
  return places.filter((path) => write.some((root) => protectedPath(path, { root, home, ...own }) !== null))
}

/** Whether a command could change the place at all: others only make the setup message longer. */
function isMeant(pattern: string, roots: readonly string[]): boolean {
  return roots.some((root) => pattern === root || pattern.startsWith(`${root}/`))
}

/**
 * The keys of git's configurations that a command may set, with the hosts that it may reach, and the places that settings and pointers
 * name by a path: no link may come between.
 */
export function gitKeyText(facts: ProtectFacts, configs: GitConfigs = {}, targets: readonly string[] = []): string {
  const ways = gitWays(facts, configs, targets).map((path) => `way\t${path}`)
  return [...gitKeyLines(facts.hosts ?? []), ...ways, ...targetLines(facts)].map((line) => `${line}\0`).join('')
}

/** Below these a link may point to a program; only the folder itself is protected from links. */
const FOLDERS: ReadonlySet<string> = new Set(['~/bin', '~/.local/bin'])

/** Places of the home that no link may point to: the person's own tools write through links. */
function linkTargets({ home, own, named }: LinkFacts): readonly LinkTarget[] {
  const places = protectedNames.filter(({ path }) => path.startsWith('~/'))
  const targets = places.map(({ path }) => ({ path: home + path.slice(1), isFolder: FOLDERS.has(path) }))
  const whole = [own.configDir, own.stateDir].map((path) => ({ path, isFolder: false }))
  return [...targets, ...whole].filter(({ path }) => !named.includes(path))
}

export type LinkFacts = Pick<ProtectFacts, 'home' | 'own' | 'named'>

interface LinkTarget {
  readonly path: string
  /** What is below it may be a target. */
  readonly isFolder: boolean
}

function targetLines(facts: ProtectFacts): readonly string[] {
  const lines = linkTargets(facts).map(({ path, isFolder }) => `${isFolder ? 'folder' : 'target'}\t${path}`)
  return [`home\t${facts.home}`, ...lines]
}

/** Whether no link may resolve to a path, as the broker judges it (native/broker/targets.c). */
export function linkTargetJudge(facts: LinkFacts): (path: string) => boolean {
  const targets = linkTargets(facts).map(({ path, isFolder }) => ({ path: foldForBroker(path), isFolder }))
  const home = foldForBroker(facts.home)
  const isAbove = (folder: string, path: string) => path === folder || path.startsWith(posix.join(folder, '/'))
  return (path) => {
    const folded = foldForBroker(path)
    return (
      isAbove(folded, home) ||
      targets.some(({ path: target, isFolder }) => isAbove(folded, target) || (!isFolder && isAbove(target, folded)))
    )
  }
}

/** Places inside that settings and pointers of git name by a path. */
export function gitWays(facts: ProtectFacts, configs: GitConfigs, targets: readonly string[]): readonly string[] {
  const reached = Object.entries(configs).flatMap(([file, text]) => {
    const folder = posix.dirname(file)
    const worktree = posix.basename(folder) === '.git' ? posix.dirname(folder) : folder
    return [
      ...workingTrees(text, folder),
      ...hookFolders(text, worktree, facts.home),
      ...includedFiles(text, folder, facts.home),
    ]
  })
  const isInside = (path: string) => facts.write.some((root) => posix.normalize(path).startsWith(`${root}/`))
  return [...new Set([...reached, ...targets])].filter(isInside)
}
