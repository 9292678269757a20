/** The tables of protected names as rules for the door (F8): what a command may not make, move or write while it runs. */

import { foldName } from '../../files/fold-name.ts'
import { gitKeyOrders } from '../../files/git-keys.ts'
import { packageFolders, protectedNames } from '../../files/protected-names.ts'
import { protectedPath } from '../../files/protected-paths.ts'
import { toldNames } from '../../files/told-names.ts'
import { type ChangeRule, ruleText } from '../changes.ts'
import type { ProtectFacts } from './protect.ts'

/** A git directory, under that name, as a module of another, or as the one that is shared. */
const GIT_FOLDERS = ['.git', '.git/modules/**']

/**
 * Below a git directory: hooks and configuration; pointers, which git makes for worktrees alone. A git directory may be made and
 * removed, and so may the pointer that is a file: what it leads to is settled after the run.
 */
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

const fold = (path: string): string => path.split('/').map(foldName).join('/')

/** Rules that are the same for every project. */
function commonRules(): ChangeRule[] {
  const anywhere = protectedNames.filter(({ path }) => !/^[~/]/.test(path) && path !== '.git')
  const refused = (ofGit: boolean) =>
    anywhere
      .filter(({ kind }) => (kind === 'git') === ofGit)
      .map(({ path }): ChangeRule => ({ pattern: fold(path), action: 'refuse' }))
  return [
    ...toldNames.map(({ path }): ChangeRule => ({ pattern: fold(path), action: 'note' })),
    ...refused(false),
    // The settings that a package brings along are not read from there; those of git are.
    ...packageFolders.map((name): ChangeRule => ({ pattern: `${name}/*`, action: 'free', below: true })),
    ...refused(true),
    ...gitRules,
  ]
}

let common: string | null = null

/** The rules for one project, in the parts that the init's orders have. */
export function changeRules(facts: ProtectFacts): string[] {
  common ??= ruleText(commonRules())
  const place = (path: string, action: ChangeRule['action']): ChangeRule => ({ pattern: fold(path), action })
  const fixed = protectedNames
    .filter(({ path }) => /^[~/]/.test(path))
    .map(({ path }) => place(path.startsWith('~/') ? facts.home + path.slice(1) : path, 'refuse'))
  const { configDir, stateDir, manifestPath } = facts.own
  const manifests = [...facts.write.map((root) => `${root}/cordon.toml`), manifestPath]
  const own: ChangeRule[] = [
    ...fixed,
    ...manifests.flatMap((path) => [place(path, 'refuse'), place(`${path}.sig`, 'refuse')]),
    ...openedPlaces(facts).map((path) => place(path, 'free')),
    place(configDir, 'refuse'),
    place(stateDir, 'refuse'),
  ]
  const roots = facts.write.map(fold)
  return [common, ruleText(own.filter(({ pattern }) => isMeant(pattern, roots)))]
}

/**
 * Protected places that the manifest names by themselves. A grant of something else (`src`, `**`) opens nothing that is protected
 * below it, however literally it is written.
 */
function openedPlaces({ named, home, own, write }: ProtectFacts): string[] {
  const places = named.map((path) => path.replace(/\/\*\*$/, ''))
  return places.filter((path) => write.some((root) => protectedPath(path, { root, home, ...own }) !== null))
}

/** Whether a place is one that a command could change at all: the others only make the orders longer. */
function isMeant(pattern: string, roots: readonly string[]): boolean {
  return roots.some((root) => pattern === root || pattern.startsWith(`${root}/`))
}

/** The keys of git's configurations that a command may set, with the hosts that it may reach. */
export function gitKeyText(hosts: readonly string[]): string {
  return gitKeyOrders(hosts)
    .map((line) => `${line}\0`)
    .join('')
}
