/** Watches masked files while a command runs: a rename on the host lifts a mask, and that must not go unnoticed (O4). */

import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs'
import { posix } from 'node:path'
import type { MaskIdentity } from '../plan.ts'
import { identityOf } from '../protect/protect.ts'
import { separateFile } from '../protect/quarantine-store.ts'
import { isBelow } from '../protect/tree.ts'
import type { Masks } from './masks.ts'

/** A secret that changed under a running command. */
export interface MaskChange {
  readonly path: string
  /**
   * `replaced` or `removed`: the mask was lifted at that moment. `made`: it appeared after the
   * command had started. `kept`: the command emptied the folder but could not remove the hidden
   * files in it.
   */
  readonly what: 'replaced' | 'removed' | 'made' | 'kept'
  readonly message: string
}

const MESSAGES: Readonly<Record<Exclude<MaskChange['what'], 'kept'>, string>> = {
  replaced: 'was replaced on the host while the command ran, which lifted its mask: the command may have read it',
  removed: 'was removed or renamed on the host while the command ran',
  made: 'looks like a secret and appeared while the command ran: it was not masked for that command, but is for the next',
}

/** File systems take their time from a clock that ticks this slowly. */
const CLOCK_TICK_MS = 20

const WATCH_AFTER_MS = 200

/** The watch over one run's masks. */
export class MaskWatch {
  readonly #identities: ReadonlyMap<string, string | null>
  readonly #changed = new Map<string, MaskChange>()
  readonly #watchers: FSWatcher[] = []
  readonly #identify: (path: string) => string | null
  readonly #onChange: (change: MaskChange) => void
  readonly #starting: NodeJS.Timeout
  readonly #started = Date.now()

  /**
   * Notes what the masks cover now; call it right before the launch. `identify` returns the file at
   * a path, from a refreshed index if there is one. `onChange` gets each change at once.
   */
  constructor(
    paths: readonly string[],
    identify: (path: string) => string | null = identityOf,
    onChange: (change: MaskChange) => void = () => {},
    watchAfterMs: number = WATCH_AFTER_MS,
  ) {
    this.#identify = identify
    this.#identities = new Map(paths.map((path) => [path, identify(path)]))
    this.#onChange = onChange
    // Earlier changes are found at the end, and the init sees a lifted mask. A short command runs
    // without watchers: closing an inotify instance takes the kernel up to 15 ms.
    this.#starting = setTimeout(() => this.#watchFolders(), watchAfterMs)
    this.#starting.unref()
  }

  /**
   * Ends the watch and reports every change; `masksNow` are the masks of a next command. After a
   * failed command it also searches for the cause.
   */
  close(masksNow: readonly string[], failed = false): readonly MaskChange[] {
    clearTimeout(this.#starting)
    for (const watcher of this.#watchers) watcher.close()
    this.#watchers.length = 0
    for (const path of this.#identities.keys()) this.#compare(path)
    const moved = this.#movedAlong(masksNow)
    for (const path of masksNow) {
      if (!this.#identities.has(path) && !moved.has(path) && this.#isNew(path))
        this.#note(path, 'made', separated(path))
    }
    const changes = [...this.#changed.values()].filter((change) => !moved.has(change.path))
    return failed ? [...changes, ...this.#kept()] : changes
  }

  #kept(): MaskChange[] {
    const unchanged = new Set([...this.#identities.keys()].filter((path) => !this.#changed.has(path)))
    return keptFolders(unchanged, this.#started - CLOCK_TICK_MS).map(({ folder, files }) => {
      const names = files.slice(0, 3).map((file) => posix.relative(folder, file))
      const more = files.length > 3 ? ` and ${files.length - 3} more` : ''
      const message =
        `${folder} was emptied but for what is hidden in it as a secret (${names.join(', ')}${more}): a hidden file cannot be removed ` +
        `from inside the sandbox (EBUSY). Remove the folder outside, then run the command again: rm -r ${quoted(folder)} (an agent: the delete tool).`
      return { path: folder, what: 'kept', message }
    })
  }

  #watchFolders(): void {
    const names = new Map<string, Set<string>>()
    for (const path of this.#identities.keys()) {
      const folder = posix.dirname(path)
      names.set(folder, (names.get(folder) ?? new Set()).add(posix.basename(path)))
    }
    for (const [folder, masked] of names) {
      try {
        const watcher = watch(folder, { persistent: false }, (event, name) => {
          if (event === 'rename' && name !== null && masked.has(name)) this.#moved(posix.join(folder, name))
        })
        watcher.on('error', () => watcher.close())
        this.#watchers.push(watcher)
      } catch {
        // No watch to be had (a limit of the system): the comparison at the end still finds it.
      }
    }
  }

  // A file renamed away and back again has its old identity, but its mask is gone.
  #moved(path: string): void {
    const now = identityOf(path)
    this.#note(path, now === null ? 'removed' : 'replaced')
  }

  // Secrets that this run could not see anyway are not watched, and have been there all the time.
  #isNew(path: string): boolean {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    return stat !== undefined && stat.ctimeMs >= this.#started - CLOCK_TICK_MS
  }

  // A mask goes along when a folder above it is moved: nothing was lifted, neither there nor here.
  #movedAlong(masksNow: readonly string[]): ReadonlySet<string> {
    const before = new Map([...this.#identities].map(([path, identity]) => [identity, path]))
    const moved = new Set<string>()
    for (const path of masksNow) {
      if (this.#identities.has(path)) continue
      const from = before.get(identityOf(path))
      const change = from === undefined ? undefined : this.#changed.get(from)
      if (from === undefined || change?.what !== 'removed' || posix.dirname(from) === posix.dirname(path)) continue
      if (identityOf(posix.dirname(from)) !== null) continue
      moved.add(path).add(from)
    }
    return moved
  }

  #compare(path: string): void {
    const before = this.#identities.get(path)
    const now = this.#identify(path)
    if (now !== before) this.#note(path, now === null ? 'removed' : 'replaced')
  }

  #note(path: string, what: keyof typeof MESSAGES, more = ''): void {
    const known = this.#changed.get(path)
    if (known && (known.what === what || known.what === 'replaced')) return
    const change: MaskChange = { path, what, message: `${path} ${MESSAGES[what]}.${more}` }
    this.#changed.set(path, change)
    this.#onChange(change)
  }
}

/** The report about other names of a new secret; empty if it has only one. */
function separated(path: string): string {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (!stat?.isFile() || stat.nlink === 1) return ''
  try {
    separateFile(path)
    return ' It was a hard link to another file that commands could read: now it is a separate file.'
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error)
    return ` Commands can read it through a hard link, and it could not be separated: ${cause}. Write no secret into it.`
  }
}

function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`
}

interface KeptFolder {
  /** The highest folder that contains nothing else. */
  readonly folder: string
  readonly files: readonly string[]
}

/** Looks for such folders among those of the masks; `since` is when the command started. */
export function keptFolders(masks: ReadonlySet<string>, since: number): readonly KeptFolder[] {
  const known = new Map<string, readonly string[] | null>()
  /** The hidden files in a folder that contains nothing else, otherwise null. */
  const kept = (folder: string): readonly string[] | null => {
    const before = known.get(folder)
    if (before !== undefined) return before
    const files = look(folder)
    known.set(folder, files)
    return files
  }
  const look = (folder: string): readonly string[] | null => {
    const found: string[] = []
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = posix.join(folder, entry.name)
      const inside = masks.has(path) ? [path] : entry.isDirectory() ? kept(path) : null
      if (inside === null) return null
      found.push(...inside)
    }
    return found.length > 0 ? found : null
  }
  const highest = new Map<string, readonly string[]>()
  for (const mask of masks) {
    try {
      let folder = posix.dirname(mask)
      let files = kept(folder)
      // A folder that contained nothing else before the command is not its work.
      let changed = lstatSync(folder).ctimeMs >= since
      for (let above = posix.dirname(folder); files !== null && above !== folder; above = posix.dirname(above)) {
        const more = kept(above)
        if (more === null) break
        folder = above
        files = more
        changed ||= lstatSync(folder).ctimeMs >= since
      }
      if (files !== null && changed) highest.set(folder, files)
    } catch {
      // Not there any more, or not for us to read.
    }
  }
  return [...highest].map(([folder, files]) => ({ folder, files }))
}

/**
 * Hidden files of a running command that may move: path, with a slash after folders, to device and
 * inode, and after a blank those of their folder.
 */
export type Movable = Readonly<Record<string, string>>

/** The movable files of these masks. A file hidden for its path is pinned. */
export function movableOf(
  { files, directories, linked }: Masks,
  identities: ReadonlyMap<string, MaskIdentity>,
): Movable {
  const movable: Record<string, string> = {}
  const note = (path: string, key: string) => {
    const identity = identities.get(path)
    if (identity && !linked.has(path)) movable[key] = `${nameOf(identity)} ${identityOf(posix.dirname(path)) ?? ''}`
  }
  for (const path of files) note(path, path)
  for (const path of directories) note(path, `${path}/`)
  return movable
}

/**
 * Secrets that running commands hide and this one, with these masks, has not seen. `knows`: whether
 * this command hides the file too; another may have other rules. Such a file is being moved, or
 * lies where no scan finds it: below too long a path, or in a closed folder. A command cannot
 * remove a hidden file alone, only with a folder above it; if that folder still exists, somebody on
 * the host removed the file.
 */
export function unseenSecrets(
  running: readonly Movable[],
  own: ReadonlyMap<string, MaskIdentity>,
  roots: readonly string[],
  knows: (path: string) => boolean,
): readonly string[] {
  const seen = new Set([...own.values()].map(nameOf))
  const unseen = new Set<string>()
  for (const movable of running)
    for (const [path, names] of Object.entries(movable)) {
      const [identity = '', folder = ''] = names.split(' ')
      const inside = roots.some((root) => path === root || isBelow(path, root))
      if (!inside || seen.has(identity) || !(path.endsWith('/') || knows(path))) continue
      if (!isRemoved(path, identity, folder)) unseen.add(path)
    }
  return [...unseen]
}

function isRemoved(path: string, identity: string, folder: string): boolean {
  const plain = path.endsWith('/') ? path.slice(0, -1) : path
  return folder !== '' && identityOf(posix.dirname(plain)) === folder && identityOf(plain) !== identity
}

function nameOf({ device, inode }: MaskIdentity): string {
  return `${device}:${inode}`
}
