/** The protected state before a run, to compare with the state after it. */

import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { posix } from 'node:path'
import { isBelowGit, isDownwardLink } from '../../files/git-links.ts'
import { decodePath, encodePath } from '../../files/path-bytes.ts'
import { splitPath } from '../../files/path-pattern.ts'
import { isOfPackage } from '../../files/protected-names.ts'
import { isReportedStart, reportedName } from '../../files/reported-names.ts'
import { type LinkFacts, linkTargetJudge } from '../protect/change-rules.ts'
import { includedFiles, parseGitConfig } from '../protect/git-config.ts'
import {
  POINTER_LIMIT,
  type ProtectFacts,
  type Protection,
  pointerTarget,
  protectTree,
  withoutLineEnds,
} from '../protect/protect.ts'
import { childPath, climbs, type Folder, isBelow, type SecretTree } from '../protect/tree.ts'
import type { Movable } from '../secrets/masks-watch.ts'

/** Plain data, so that another process can settle the run of a killed one. */
export interface TreeBaseline {
  readonly roots: readonly string[]
  readonly home: string
  readonly named: readonly string[]
  /** What files of the home are links to. */
  readonly homeLinks?: NonNullable<ProtectFacts['homeLinks']>
  readonly own: ProtectFacts['own']
  /** Hosts that a person granted, as in the manifest: keys of git may name them. */
  readonly hosts?: readonly string[]
  /** Protected path to device and inode. */
  readonly guarded: Readonly<Record<string, string>>
  /** Configuration file to its text, one character a byte. */
  readonly configs: Readonly<Record<string, string>>
  /**
   * `.git` files and links, `commondir`, `gitdir` and `alternates` files and linked configuration
   * files, with their targets.
   */
  readonly pointers: Readonly<Record<string, string>>
  /** The same to where they really lead. */
  readonly ends?: Readonly<Record<string, string>>
  /** The writable places of a command: settings of git name no working tree elsewhere. */
  readonly write?: readonly string[]
  /** Links in git directories that resolve elsewhere, with their texts. */
  readonly gitLinks?: Readonly<Record<string, string>>
  /** Links to start-up files and settings of the home, with their texts. */
  readonly ownLinks?: Readonly<Record<string, string>>
  /** Files hidden because a link points to them, with that link. */
  readonly links: Readonly<Record<string, string>>
  /** Files of a stopped rebase to their text. */
  readonly sequences: Readonly<Record<string, string>>
  /** Hidden files that the run could move with a folder above them. */
  readonly movable: Movable
  /** Protected paths below names that are not UTF-8, by device and inode. */
  readonly odd: readonly string[]
  /** Folders that cannot be read, by device and inode: they are hidden as a whole. */
  readonly closed: readonly string[]
  /** Configurations that were too large to be noted, to their state. */
  readonly unread?: Readonly<Record<string, string>>
  /** The state of files whose change is reported to a person. */
  readonly told?: Readonly<Record<string, string>>
}

/** The masks of a run, for its baseline. */
export interface HiddenFacts {
  readonly linked: ReadonlyMap<string, string>
  readonly movable: Movable
}

const NOTHING_HIDDEN: HiddenFacts = { linked: new Map(), movable: {} }

/** Larger than any configuration a person keeps; a bigger file is not read and counts as unreadable. */
const CONFIG_LIMIT = 1_048_576

/**
 * All configurations of a project together; further ones are not stored, and count as created by
 * the run if they change.
 */
const CONFIGS_LIMIT = 16 * 1_048_576

/** Facts about the whole tree: a grant of one command says nothing about what another one left behind. */
export function wholeTree(tree: SecretTree, facts: Omit<ProtectFacts, 'write'>): ProtectFacts {
  const { home, named, own, homeLinks = [] } = facts
  return { home, named, own, homeLinks, write: tree.roots }
}

/** Notes what exists now. The tree has just been refreshed. */
export function takeBaseline(
  tree: SecretTree,
  facts: Omit<ProtectFacts, 'write'> & Partial<Pick<ProtectFacts, 'write'>>,
  { linked, movable }: HiddenFacts = NOTHING_HIDDEN,
): TreeBaseline {
  const protection = protectTree(tree, wholeTree(tree, facts))
  const configs = new Map<string, string>()
  const pointers = readPointers(protection)
  const space = { left: CONFIGS_LIMIT, unread: new Map<string, string>() }
  for (const directory of protection.gitDirectories) {
    for (const file of configFiles(directory)) collectConfig(file, facts.home, tree.roots, configs, space)
  }
  for (const file of configs.keys()) {
    const link = linkText(file)
    if (link !== null) pointers.set(file, link)
  }
  return {
    roots: tree.roots,
    home: facts.home,
    named: facts.named,
    homeLinks: facts.homeLinks ?? [],
    own: facts.own,
    hosts: facts.hosts ?? [],
    guarded: Object.fromEntries([...protection.guarded.values()].map((guard) => [guard.path, guard.identity])),
    configs: Object.fromEntries(configs),
    pointers: Object.fromEntries(pointers),
    ends: Object.fromEntries([...pointers].map(([path, text]) => [path, endsOf(path, text)])),
    ...(facts.write && { write: facts.write }),
    gitLinks: Object.fromEntries(readGitLinks(tree, protection)),
    ownLinks: Object.fromEntries(readHomeLinks(tree, facts)),
    links: Object.fromEntries(linked),
    sequences: Object.fromEntries(
      [...readSequences(protection)].flatMap(([file, text]) => (text === undefined ? [] : [[file, text]])),
    ),
    movable,
    odd: [...protection.odd.values()],
    closed: closedFolders(tree).map(folderName),
    unread: Object.fromEntries(space.unread),
    told: Object.fromEntries(readReported(tree)),
  }
}

/** More than a project has of them; the rest is not checked one by one. */
const MOST_TOLD = 2_000

/** The files whose change is reported to a person, with device, inode, size and change time. */
export function readReported(tree: SecretTree): Map<string, string> {
  const found = new Map<string, string>()
  const look = (path: string, depth: number): void => {
    if (found.size >= MOST_TOLD || depth > 8) return
    const stat = statOf(path)
    if (stat?.isDirectory()) {
      // Only the reported name itself: `.github/workflows`, not all of `.github`.
      for (const name of tree.folder(path)?.folders ?? []) look(childPath(path, name), depth + 1)
      for (const name of namesIn(path)) {
        const child = childPath(path, name)
        const file = reportedName(child) === null ? null : statOf(child)
        if (file?.isFile()) found.set(child, stateOf(file))
      }
    } else if (stat && reportedName(path) !== null) found.set(path, stateOf(stat))
  }
  for (const folder of tree.notable())
    for (const name of folder.guarded)
      if (isReportedStart(name) && !isOfPackage(splitPath(childPath(folder.path, name))))
        look(childPath(folder.path, name), 0)
  return found
}

/** The current state of a file, by values that nothing can reset; null if it does not exist. */
export function fileState(path: string): string | null {
  const stat = statOf(path)
  return stat === null ? null : stateOf(stat)
}

function stateOf(stat: Stats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.ctimeMs}`
}

function statOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

/** The folders that cannot be read. */
export function closedFolders(tree: SecretTree): readonly Folder[] {
  return [...tree.notable()].filter((folder) => folder.unreadable)
}

/** A folder, wherever it is moved. */
export function folderName({ device, inode }: Folder): string {
  return `${device}:${inode}`
}

/** The configuration files of a git directory. */
export function configFiles(directory: string): readonly string[] {
  return [childPath(directory, 'config'), childPath(directory, 'config.worktree')]
}

/** Files of a git directory that contain only paths to others. */
const POINTERS: readonly string[] = ['commondir', 'gitdir', 'objects/info/alternates']

/** What every pointer of a protection says now. */
export function readPointers(protection: Protection): Map<string, string> {
  const pointers = new Map<string, string>()
  const below = (path: string): string[] => POINTERS.map((name) => childPath(path, name))
  for (const path of [...protection.gitPointers, ...protection.gitDirectories.flatMap(below)]) {
    const text = readPointer(path)
    if (text !== null) pointers.set(path, text)
  }
  return pointers
}

/** The targets in a pointer's text; null if unreadable. */
export function pointedAt(path: string, text: string): readonly string[] | null {
  const folder = posix.dirname(path)
  const from = (said: string): string => (said.startsWith('/') ? said : `${folder}/${said}`)
  if (text.startsWith('-> ')) return [from(text.slice(3))]
  const utf8 = Buffer.from(text, 'latin1').toString('utf8')
  const name = posix.basename(path)
  if (name === 'alternates') {
    const lines = utf8.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    // Relative ones count from `objects`; git reads quotes as in C, which are not supported here.
    const objects = posix.dirname(folder)
    if (lines.some((line) => line.startsWith('"'))) return null
    return lines.map((line) => (line.startsWith('/') ? line : `${objects}/${line}`))
  }
  const said = name === 'commondir' || name === 'gitdir' ? withoutLineEnds(utf8) : pointerTarget(utf8)
  return said === null || said === '' ? null : [from(said)]
}

/** The resolved targets of a pointer, as one text; '' for missing ones. */
export function endsOf(path: string, text: string): string {
  return (pointedAt(path, text) ?? []).map((target) => realPath(target) ?? '').join('\0')
}

/** Links in git directories through which git would write elsewhere, with their texts. */
export function readGitLinks(tree: SecretTree, { gitDirectories }: Protection): Map<string, string> {
  const found = new Map<string, string>()
  const add = (path: string): void => {
    const text = linkText(path)
    if (text !== null && !isDownwardLink(text.replace(/^-> /, ''))) found.set(path, text)
  }
  for (const folder of tree.notable())
    if (folder.gitDirectory || isBelowGit(childPath(folder.path, 'x')))
      for (const name of folder.links) add(childPath(folder.path, name))
  // The index knows the links of folders below a `.git`, and not those of a bare repository.
  const pending = gitDirectories.filter((path) => !isBelowGit(childPath(path, 'x')))
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    for (const entry of entriesIn(path)) if (entry.isSymbolicLink()) add(childPath(path, entry.name))
    pending.push(...(tree.folder(path)?.folders ?? []).map((name) => childPath(path!, name)))
  }
  return found
}

/** Links to start-up files and settings of the home, with their texts. The broker refuses to create them. */
export function readHomeLinks(tree: SecretTree, facts: LinkFacts): Map<string, string> {
  const found = new Map<string, string>()
  const isTarget = linkTargetJudge(facts)
  for (const folder of tree.notable())
    for (const name of folder.links) {
      const path = childPath(folder.path, name)
      const text = linkText(path)?.slice('-> '.length) ?? null
      if (text === null) continue
      const target = posix.resolve(folder.path, text)
      if (isTarget(climbs(text) ? (realPath(path) ?? target) : target)) found.set(path, text)
    }
  return found
}

function entriesIn(path: string): readonly Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true })
  } catch {
    return []
  }
}

/** The files of every stopped rebase; undefined for one that cannot be judged. */
export function readSequences(protection: Protection): Map<string, string | undefined> {
  const texts = new Map<string, string | undefined>()
  for (const directory of protection.gitDirectories) {
    if (!SEQUENCE_FOLDERS.some((name) => statOf(childPath(directory, name)) !== null)) continue
    for (const file of sequenceFiles(directory)) {
      const isLinked = [file, posix.dirname(file)].some((path) => linkText(path) !== null)
      const text = isLinked ? undefined : readConfig(file)
      if (text !== null) texts.set(file, text)
    }
  }
  return texts
}

/**
 * The baseline of a run that starts during others: what they may have planted does not count as
 * earlier. `others` are the baselines of those runs.
 */
export function narrowBaseline(own: TreeBaseline, others: readonly TreeBaseline[]): TreeBaseline {
  let narrowed = own
  for (const other of others) {
    const shared = (path: string): boolean => other.roots.some((root) => path === root || isBelow(path, root))
    const keep = (mine: Readonly<Record<string, string>>, theirs: Readonly<Record<string, string>>) => ({
      ...Object.fromEntries(Object.entries(mine).filter(([path]) => !shared(path))),
      ...Object.fromEntries(Object.entries(theirs).filter(([path]) => path in mine || shared(path))),
    })
    narrowed = {
      ...narrowed,
      guarded: keep(narrowed.guarded, other.guarded),
      configs: keep(narrowed.configs, other.configs),
      pointers: keep(narrowed.pointers, other.pointers),
      ends: keep(narrowed.ends ?? {}, other.ends ?? {}),
      gitLinks: keep(narrowed.gitLinks ?? {}, other.gitLinks ?? {}),
      ownLinks: keep(narrowed.ownLinks ?? {}, other.ownLinks ?? {}),
      links: { ...other.links, ...narrowed.links },
      sequences: keep(narrowed.sequences, other.sequences ?? {}),
      odd: narrowed.odd.filter((identity) => other.odd?.includes(identity)),
      closed: narrowed.closed.filter((folder) => other.closed?.includes(folder)),
    }
  }
  return narrowed
}

/** The text of a regular file, one character a byte; null if missing, undefined if unclear. */
export function readConfig(path: string): string | null | undefined {
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : undefined
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() || stat.size > CONFIG_LIMIT) return undefined
    return readFileSync(descriptor, 'latin1')
  } catch {
    return undefined
  } finally {
    closeSync(descriptor)
  }
}

function collectConfig(
  file: string,
  home: string,
  roots: readonly string[],
  configs: Map<string, string>,
  space: { left: number; readonly unread: Map<string, string> },
): void {
  if (configs.has(file)) return
  const text = readConfig(file)
  if (text === null) return
  if (text === undefined || text.length > space.left) {
    const state = fileState(file)
    if (state !== null) space.unread.set(file, state)
    return
  }
  space.left -= text.length
  configs.set(file, text)
  for (const included of includedFiles(text, posix.dirname(file), home)) {
    // What lies outside the roots cannot be written by a command.
    if (isInTree(included, roots)) collectConfig(included, home, roots, configs, space)
  }
}

/** The target of a link, as `-> TARGET`; null for everything else. */
export function linkText(path: string): string | null {
  try {
    return `-> ${readlinkSync(path)}`
  } catch {
    return null
  }
}

/** Whether a path, or its target, lies in the tree. */
export function isInTree(path: string, roots: readonly string[]): boolean {
  const real = realPath(path)
  return [path, ...(real === null ? [] : [real])].some((at) => roots.some((root) => at === root || isBelow(at, root)))
}

/** The real path; null if nothing is there. */
export function realPath(path: string): string | null {
  try {
    const real = realpathSync.native(Buffer.from(encodePath(path)), { encoding: 'buffer' })
    return decodePath(real)
  } catch {
    return null
  }
}

function readPointer(path: string): string | null {
  const link = linkText(path)
  if (link !== null) return link
  const text = readConfig(path)
  return text === undefined || (text !== null && text.length > POINTER_LIMIT) ? '' : text
}

/** The folders of a git directory in which git keeps them. */
const SEQUENCE_FOLDERS: readonly string[] = ['rebase-merge', 'sequencer']

/** The files in these folders that can name a program. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  'rebase-merge': ['git-rebase-todo', 'strategy'],
  sequencer: ['opts'],
}

/** Git's own; for any other git runs `git-merge-NAME`, which may be a path into the project. */
const STRATEGIES: ReadonlySet<string> = new Set(['ort', 'recursive', 'resolve', 'octopus', 'ours', 'subtree', ''])

/** The files to be judged in a git directory, whether or not they exist. */
export function sequenceFiles(directory: string): readonly string[] {
  return SEQUENCE_FOLDERS.flatMap((folder) => FILES[folder]!.map((name) => posix.join(directory, folder, name)))
}

/**
 * Judges a run's new text of such a file: null if it may stay, the text that may, or `aside` if
 * none of it may. Earlier content may stay. The texts are one character a byte.
 */
export function judgeSequence(file: string, before: string | null, now: string): string | 'aside' | null {
  if (now === before) return null
  if (posix.basename(file) === 'git-rebase-todo') return withoutPrograms(before ?? '', now)
  const strategies = posix.basename(file) === 'opts' ? strategiesIn(now) : [now.trim()]
  return strategies?.every((name) => STRATEGIES.has(name)) ? null : 'aside'
}

function withoutPrograms(before: string, now: string): string | null {
  const known = new Set(before.split('\n').filter(runsProgram))
  const lines = now.split('\n')
  const left = lines.filter((line) => !runsProgram(line) || known.has(line))
  return left.length === lines.length ? null : left.join('\n')
}

/** As git parses its commands: `exec` or `x`, and then a space or nothing. */
function runsProgram(line: string): boolean {
  return /^[ \t]*(?:exec|x)(?=[ \t\r]|$)/.test(line)
}

function strategiesIn(text: string): readonly string[] | null {
  return parseGitConfig(text)?.flatMap(({ key, value }) => (key === 'options.strategy' ? [value.trim()] : [])) ?? null
}
