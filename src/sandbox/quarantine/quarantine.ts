/**
 * Settles a run: files it left that would run code on the host are quarantined or reverted, and
 * reported (F8).
 */

import { accessSync, constants, readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { splitPath } from '../../files/path-pattern.ts'
import { reportMessages } from '../../files/reported-names.ts'
import { monotonicMs } from '../../system/timing.ts'
import {
  type GuardedIn,
  guardedKeys,
  includedFiles,
  repairGitConfig,
  staysInside,
  workingTrees,
} from '../protect/git-config.ts'
import { type GuardedPath, type Protection, protectTree } from '../protect/protect.ts'
import { openFolder, QuarantineStore, replaceText } from '../protect/quarantine-store.ts'
import { childPath, isBelow, MAX_FOLDER_LENGTH, type SecretTree } from '../protect/tree.ts'
import {
  closedFolders,
  configFiles,
  endsOf,
  fileState,
  folderName,
  isInTree,
  judgeSequence,
  linkText,
  pointedAt,
  readConfig,
  readGitLinks,
  readHomeLinks,
  readPointers,
  readReported,
  readSequences,
  realPath,
  type TreeBaseline,
  wholeTree,
} from './baseline.ts'
import { keepSecret, keptSecretsFile } from './kept.ts'

/** One thing that did not stay as the run left it. */
export interface QuarantineFinding {
  readonly path: string
  /**
   * `moved` into the quarantine, `reverted` in place, `hidden` from now on, `told`: reported and
   * unchanged, or `failed`: it is still there, and a person must check.
   */
  readonly action: 'moved' | 'reverted' | 'hidden' | 'told' | 'failed'
  /** The path and the result, as a sentence for people and agents. */
  readonly message: string
  /** Where it, or the text it had, is kept. */
  readonly kept: string | null
}

const SEQUENCE_REASON = 'a stopped rebase or pick, which git continues outside the sandbox'

/** Whether the run itself changed a path. If unknown, every change meanwhile counts as its own. */
export type IsOwn = (path: string) => boolean

const ANYTHING: IsOwn = () => true

/** Compares the project with the baseline and reverts forbidden changes. Refreshes the tree. */
export function settleRun(
  tree: SecretTree,
  baseline: TreeBaseline,
  stateDir: string,
  isOwn: IsOwn = ANYTHING,
): readonly QuarantineFinding[] {
  const findings: QuarantineFinding[] = []
  const isolated = (what: string, step: () => void): void => {
    try {
      step()
    } catch (error) {
      findings.push(undone(what, error))
    }
  }
  isolated('the folders that were closed', () => findings.push(...openClosed(tree, baseline, isOwn)))
  let settling: Settling | null = null
  isolated('the protected files', () => {
    settling = new Settling(tree, baseline, new QuarantineStore(stateDir), findings, isOwn)
  })
  // Worst first: what git runs at the next `git status` of a person, then what waits for an editor or an agent.
  const steps: readonly (readonly [string, (of: Settling) => void])[] = [
    ['the pointers of git', (of) => of.pointers()],
    ['the configurations of git', (of) => of.configs()],
    ['the working trees of git', (of) => of.workingTrees()],
    ['the protected files', (of) => of.guarded()],
    ['the links of git', (of) => of.gitLinks()],
    ['the links to the home', (of) => of.homeLinks()],
    ['the stopped rebases', (of) => of.sequences()],
    ['the names that are not UTF-8', (of) => of.odd()],
    ['the links to secrets', (of) => of.links(stateDir)],
    ['the instructions and workflows', (of) => of.reportChanges()],
  ]
  for (const [what, step] of steps) isolated(what, () => settling && step(settling))
  return findings
}

/**
 * Before a run: removes settings of a working tree outside the project, reached through a link. To
 * keep one, name the configuration in a write grant.
 */
export function settleWorkingTrees(
  tree: SecretTree,
  baseline: TreeBaseline,
  stateDir: string,
): readonly QuarantineFinding[] {
  const findings: QuarantineFinding[] = []
  if (Object.values(baseline.configs).some((text) => /worktree/i.test(text)))
    new Settling(tree, baseline, new QuarantineStore(stateDir), findings, ANYTHING).workingTrees()
  return findings
}

/** A failed step is reported, and the others continue. */
function undone(what: string, error: unknown): QuarantineFinding {
  const cause = error instanceof Error ? error.message : String(error)
  const message = `Cordon could not scan ${what} after the command: ${cause}. Check the project before you use git, an editor or an agent there.`
  return { path: '', action: 'failed', message, kept: null }
}

/** Folders that git and its templates create themselves: only what is in them matters. */
const FILLED: ReadonlySet<string> = new Set(['hooks', 'remotes', 'branches'])

/** Settling takes milliseconds; if a command delays it longer than this, it stops. */
const MOST_MS = 30_000

/** A folder in a folder in a folder: each is found once the one above it is open. */
const MOST_ROUNDS = 64

/**
 * Opens folders that the run closed: git and editors find programs there by name, without listing,
 * but Cordon could not judge them. Folders closed before were hidden from the run, and stay as they
 * are.
 */
function openClosed(tree: SecretTree, baseline: TreeBaseline, isOwn: IsOwn): readonly QuarantineFinding[] {
  const before = new Set(baseline.closed ?? [])
  const failures = new Map<string, QuarantineFinding>()
  for (let round = 0; round < MOST_ROUNDS; round++) {
    tree.refresh()
    const closed = closedFolders(tree).filter(
      (folder) => !before.has(folderName(folder)) && !failures.has(folder.path) && isOwn(folder.path),
    )
    if (closed.length === 0) break
    for (const { path } of closed) {
      try {
        openFolder(path)
        accessSync(path, constants.R_OK | constants.X_OK)
        if (Buffer.byteLength(path) > MAX_FOLDER_LENGTH || round === MOST_ROUNDS - 1)
          throw new Error('it lies too deep')
      } catch (error) {
        const cause = error instanceof Error ? error.message : String(error)
        const message = `${path} became unreadable while the command ran, so Cordon cannot scan it: ${cause}. Check it before you use git, an editor or an agent there.`
        failures.set(path, { path, action: 'failed', message, kept: null })
      }
    }
  }
  return [...failures.values()]
}

class Settling {
  readonly findings: QuarantineFinding[]
  readonly #deadline = monotonicMs() + MOST_MS
  readonly #moved = new Set<string>()
  readonly #directories: ReadonlySet<string>
  readonly #tree: SecretTree
  readonly #baseline: TreeBaseline
  readonly #store: QuarantineStore
  readonly #protection: Protection
  readonly #isOwn: IsOwn

  constructor(
    tree: SecretTree,
    baseline: TreeBaseline,
    store: QuarantineStore,
    findings: QuarantineFinding[],
    isOwn: IsOwn,
  ) {
    this.#isOwn = isOwn
    this.#tree = tree
    this.#baseline = baseline
    this.#store = store
    this.findings = findings
    this.#protection = protectTree(tree, wholeTree(tree, baseline))
    this.#directories = new Set(this.#protection.gitDirectories)
  }

  /** Files that may change, but not without a word to the person. */
  reportChanges(): void {
    const before = this.#baseline.told ?? {}
    const now = readReported(this.#tree)
    const changed = new Set(Object.keys(before).filter((path) => !now.has(path)))
    for (const [path, state] of now) if (before[path] !== state) changed.add(path)
    const name = (path: string) => posix.relative(this.#tree.roots.find((root) => isBelow(path, root)) ?? '/', path)
    for (const { path, message } of reportMessages([...changed].filter(this.#isOwn), ' while the command ran', name))
      this.findings.push({ path, action: 'told', message, kept: null })
  }

  #watchTime(): void {
    if (monotonicMs() > this.#deadline) throw new Error(`it takes longer than ${MOST_MS / 1000} seconds`)
  }

  guarded(): void {
    for (const guard of this.#protection.guarded.values()) {
      this.#watchTime()
      // The manifest is pinned while a command runs, and takes effect only when it is signed: another one in its place is the
      // user's own doing, an editor's or an "always" of theirs.
      if (guard.path === this.#baseline.own.manifestPath && guard.path in this.#baseline.guarded) continue
      if (this.#baseline.guarded[guard.path] === guard.identity) continue
      if (this.#isRootPointer(guard.path)) continue
      for (const path of this.#strayParts(guard)) this.#move(path, guard.reason)
    }
  }

  odd(): void {
    const before = new Set(this.#baseline.odd ?? [])
    for (const [path, identity] of this.#protection.odd)
      if (!before.has(identity)) this.#move(path, 'settings or a repository below a name that is not UTF-8')
  }

  pointers(): void {
    const { pointers, ends } = this.#baseline
    for (const [path, text] of readPointers(this.#protection)) {
      this.#watchTime()
      // One that was not touched may point elsewhere by now: a folder on its way became a link.
      const isSame = pointers[path] === text
      if (isSame && (ends === undefined || ends[path] === endsOf(path, text))) continue
      const targets = pointedAt(path, text)
      // A pointer into the tree points to a git directory that is itself checked; one to nowhere can be filled later.
      const strays = targets?.filter((target) => !this.#isInRoots(realPath(target)))
      if (strays?.length === 0 || (isSame && strays?.every((target) => realPath(target) === null))) continue
      if (!isSame) this.#move(path, 'a pointer to a git directory outside the project')
      else
        for (const target of strays ?? [])
          this.#moveLink(target, `${path} would point outside the project`, this.#isOwn)
    }
  }

  gitLinks(): void {
    const before = this.#baseline.gitLinks ?? {}
    for (const [path, text] of readGitLinks(this.#tree, this.#protection))
      if (before[path] !== text) this.#move(path, 'a link in a git directory, through which git would write elsewhere')
  }

  homeLinks(): void {
    const before = this.#baseline.ownLinks ?? {}
    for (const [path, text] of readHomeLinks(this.#tree, this.#baseline))
      if (before[path] !== text) this.#move(path, 'a link to start-up files or settings of your home')
  }

  /** Settings of working trees through a link that came later: git would write to its target. */
  workingTrees(): void {
    const roots = this.#baseline.write ?? this.#tree.roots
    for (const directory of this.#protection.gitDirectories)
      for (const file of configFiles(directory)) {
        if (this.#baseline.named.includes(file)) continue
        for (const path of workingTrees(readConfig(file) ?? '', directory)) {
          const target = posix.normalize(path)
          const isLed = realPath(path) !== null && !staysInside(path, roots, realPath)
          if (isLed && roots.some((root) => isBelow(target, root)))
            this.#moveLink(target, `core.worktree of ${file} would point outside the project`, ANYTHING)
        }
      }
  }

  #isInRoots(path: string | null): boolean {
    return path !== null && this.#tree.roots.some((root) => path === root || isBelow(path, root))
  }

  configs(): void {
    const checked = new Set<string>()
    for (const directory of this.#protection.gitDirectories) {
      const guarded = this.#guardedIn(directory)
      for (const file of configFiles(directory)) this.#config(file, guarded, checked)
    }
    for (const [file, text] of Object.entries(this.#baseline.configs)) {
      const guarded = this.#guardedIn(posix.dirname(file))
      this.#config(file, guarded, checked)
      // An included file may be new, and thus missing from the baseline.
      for (const included of includedFiles(text, posix.dirname(file), this.#baseline.home))
        if (isInTree(included, this.#tree.roots)) this.#config(included, guarded, checked)
    }
  }

  #guardedIn(gitDirectory: string): GuardedIn {
    return guardedKeys(gitDirectory, this.#baseline.write ?? this.#tree.roots, this.#baseline.hosts ?? [], realPath)
  }

  sequences(): void {
    for (const [file, now] of readSequences(this.#protection)) {
      const verdict = now === undefined ? 'aside' : judgeSequence(file, this.#baseline.sequences?.[file] ?? null, now)
      // A folder of it that is a link is moved as a whole: its target is not git's.
      const folder = posix.dirname(file)
      const isGone = realPath(folder) === null && linkText(folder) === null
      if (isGone) continue
      if (verdict === 'aside') this.#move(linkText(folder) === null ? file : folder, SEQUENCE_REASON)
      else if (verdict !== null) this.#rewriteSequence(file, verdict, now ?? '')
    }
  }

  links(stateDir: string): void {
    const links = Object.entries(this.#baseline.links ?? {})
    const led = links.length === 0 ? new Set<string>() : this.#ledTo()
    for (const [path, link] of links) {
      this.#watchTime()
      // Gone together with its target, or still pointing there: nothing was opened.
      if (realPath(path) !== path || realPath(link) === path || led.has(path)) continue
      this.#attempt(path, 'hidden', () => {
        if (!keepSecret(stateDir, path, this.#tree.roots)) return null
        const message =
          `${path} is hidden as a secret because ${link} pointed to it, and that link was removed while the command ran: it stays ` +
          `hidden. To show it to commands, name it in a read grant, or remove its line from ${keptSecretsFile(stateDir)}.`
        return { kept: null, message }
      })
    }
  }

  #config(file: string, guarded: GuardedIn, checked: Set<string>): void {
    if (checked.has(file) || this.#baseline.named.includes(file)) return
    checked.add(file)
    this.#watchTime()
    const before = this.#baseline.configs[file] ?? null
    const link = linkText(file)
    // A link hides the configuration in a file that nothing else would protect.
    const now = link !== null && this.#baseline.pointers[file] !== link ? undefined : readConfig(file)
    if (now === before || (before === null && this.#baseline.unread?.[file] === fileState(file))) return
    if (!this.#isOwn(file)) return
    // Nothing is written through a link.
    const folder = realPath(posix.dirname(file))
    if (folder !== null && folder !== posix.dirname(file) && now !== null) {
      this.#moveLink(posix.dirname(file), `git reads ${file} by it`, ANYTHING)
      return
    }
    // Removed with its repository, or moved: its new place is checked there.
    if (now === null && !this.#isGitDirectory(posix.dirname(file))) return
    const repair = now === undefined ? null : repairGitConfig(before ?? '', now ?? '', guarded)
    if (repair === null) this.#restore(file, before, typeof now === 'string' ? now : null)
    else if (repair.text !== (now ?? '')) this.#rewrite(file, repair.text, now ?? '', repair)
    for (const included of includedFiles(repair?.text ?? before ?? '', posix.dirname(file), this.#baseline.home)) {
      if (isInTree(included, this.#tree.roots)) this.#config(included, guarded, checked)
    }
  }

  #rewrite(
    file: string,
    text: string,
    now: string,
    keys: { readonly reverted: readonly string[]; readonly restored: readonly string[] },
  ): void {
    const what = [
      ...(keys.reverted.length > 0 ? [`reverted ${keys.reverted.join(', ')}`] : []),
      ...(keys.restored.length > 0 ? [`restored ${keys.restored.join(', ')}`] : []),
    ].join(' and ')
    this.#attempt(file, 'reverted', () => {
      const kept = this.#store.keepText(file, now, 'keys that are not harmless were changed')
      replaceText(file, text)
      return {
        kept,
        message: `Cordon ${what} in ${file}: these keys of git can run code outside the sandbox, or send and take code and credentials elsewhere.`,
      }
    })
  }

  #rewriteSequence(file: string, text: string, now: string): void {
    if (!this.#isOwn(file)) return
    this.#attempt(file, 'reverted', () => {
      const kept = this.#store.keepText(file, now, SEQUENCE_REASON)
      replaceText(file, text)
      const message = `Cordon removed the exec lines from ${file}: \`git rebase --continue\` would run them outside the sandbox. The original is kept in ${kept}.`
      return { kept, message }
    })
  }

  #restore(file: string, before: string | null, now: string | null): void {
    this.#attempt(file, before === null ? 'moved' : 'reverted', () => {
      const kept = this.#store.take(file, 'a git configuration that cannot be read with certainty')
      if (before !== null) replaceText(file, before)
      const done = before === null ? 'moved it aside' : 'restored the earlier one'
      const found = now === null ? 'is not a readable file any more' : 'cannot be read with certainty'
      return { kept, message: `The git configuration ${file} ${found}, so Cordon ${done}.` }
    })
  }

  #move(path: string, reason: string): void {
    if (this.#moved.has(path) || !this.#isOwn(path)) return
    // Gone with a link above it.
    if ([...this.#moved].some((above) => isBelow(path, above))) return
    this.#moved.add(path)
    this.#watchTime()
    const replaced = path in this.#baseline.guarded
    this.#attempt(path, 'moved', () => {
      const kept = this.#store.take(this.#behindLinks(path), reason)
      const how = replaced ? 'was replaced while the command ran' : 'was created while the command ran'
      return { kept, message: `${path} is protected (${reason}) and ${how}, so Cordon moved it to ${kept}.` }
    })
  }

  /** Moves the link by which a path points outside the tree. */
  #moveLink(path: string, reason: string, isOwn: IsOwn): void {
    const steps = splitPath(path)
    for (let count = 1; count <= steps.length; count++) {
      const at = `/${steps.slice(0, count).join('/')}`
      if (!this.#isInRoots(at) || linkText(at) === null) continue
      if (!this.#moved.has(at) && isOwn(at))
        this.#attempt(at, 'moved', () => {
          const kept = this.#store.take(at, reason)
          return { kept, message: `${at} is a link, and ${reason}, so Cordon moved it to ${kept}.` }
        })
      this.#moved.add(at)
      return
    }
  }

  /**
   * The path to move, because nothing is moved through a link: the file itself if it lies in the
   * tree, otherwise the link that points outside.
   */
  #behindLinks(path: string): string {
    const folder = realPath(posix.dirname(path))
    if (folder === null || folder === posix.dirname(path)) return path
    if (isInTree(folder, this.#tree.roots)) return childPath(folder, posix.basename(path))
    let link = path
    for (let at = posix.dirname(path); isInTree(at, this.#tree.roots); at = posix.dirname(at)) {
      if (linkText(at) !== null) link = at
      if (this.#tree.roots.includes(at)) break
    }
    return link
  }

  #attempt(
    path: string,
    action: Exclude<QuarantineFinding['action'], 'failed' | 'told'>,
    work: () => Pick<QuarantineFinding, 'kept' | 'message'> | null,
  ): void {
    try {
      const done = work()
      if (done !== null) this.findings.push({ path, action, ...done })
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      const message = `${path} is protected and was changed while the command ran, but Cordon could not undo it: ${cause}. Check it before you use git, an editor or an agent there.`
      this.findings.push({ path, action: 'failed', message, kept: null })
    }
  }

  // Samples that `git init` and `git clone` lay down do nothing under their names.
  #strayParts(guard: GuardedPath): string[] {
    const isOfGit = FILLED.has(posix.basename(guard.path)) && this.#isGitDirectory(posix.dirname(guard.path))
    if (!isOfGit || !guard.directory || guard.identity.includes('>')) return [guard.path]
    try {
      const names = readdirSync(guard.path)
      return names.filter((name) => !name.endsWith('.sample')).map((name) => childPath(guard.path, name))
    } catch {
      return [guard.path]
    }
  }

  // The link may have been moved, alone or with its folder.
  #ledTo(): ReadonlySet<string> {
    const led = new Set<string>()
    for (const folder of this.#tree.notable())
      for (const { name, link } of folder.secrets) {
        const real = link ? realPath(childPath(folder.path, name)) : null
        if (real !== null) led.add(real)
      }
    return led
  }

  // `git init` at the root creates a directory there; a pointer is judged by its target.
  #isRootPointer(path: string): boolean {
    return posix.basename(path) === '.git'
  }

  #isGitDirectory(path: string): boolean {
    return this.#directories.has(path)
  }
}
