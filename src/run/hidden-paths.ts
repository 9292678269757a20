/**
 * Finds what a command must not see: secrets by name, place and link, denied paths, Cordon's own
 * files.
 */

import type { Places } from '../confine/confinement.ts'
import { isInside, SYSTEM_PATHS } from '../files/baseline.ts'
import type { PathPattern } from '../files/path-pattern.ts'
import { deniedShapes } from '../files/secret-shapes.ts'
import type { MaskFace, MaskIdentity } from '../sandbox/plan.ts'
import type { SecretTree } from '../sandbox/protect/tree.ts'
import { hiddenByList } from '../sandbox/quarantine/kept.ts'
import type { GitToken } from '../sandbox/secrets/git-tokens.ts'
import { filesBelow, type MaskFacts, MaskIndex } from '../sandbox/secrets/masks.ts'
import { readIndexCache, SecretMemory, writeIndexCache } from '../sandbox/secrets/masks-cache.ts'
import { type Movable, movableOf, unseenSecrets } from '../sandbox/secrets/masks-watch.ts'
import { maskPlaces, PlaceListings } from '../sandbox/secrets/secrets.ts'
import { readIdentities } from '../sandbox/session.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { type Placement, type Restriction, restrictCommand } from './placement.ts'

/** Hidden paths of one command. */
export interface Hidden {
  readonly masks: readonly string[]
  readonly identities: ReadonlyMap<string, MaskIdentity>
  /** Paths hidden by name: nothing may move away from them. */
  readonly pinned: readonly string[]
  /** Secrets hidden because of a link, with that link. */
  readonly linked: ReadonlyMap<string, string>
  readonly movable: Movable
  /** Visible secrets: granted, committed in HEAD, or part of an installed package. */
  readonly opened: readonly string[]
  readonly faces: ReadonlyMap<string, MaskFace>
  readonly replaced: ReadonlyMap<string, MaskFace>
  /** Credentials that the command sees as placeholders. */
  readonly tokens: readonly GitToken[]
}

const NO_FACES = { faces: new Map<string, MaskFace>(), replaced: new Map<string, MaskFace>(), tokens: [] }

/** Scans of a changing tree, and the pause between them, in which changes settle. */
const MOST_LOOKS = 5
const LOOK_PAUSE_MS = 70

/** The scan for hidden paths, refreshed before every command of a session. */
export class HiddenPaths {
  readonly #rules: Places
  readonly #machine: Machine
  readonly #files: Files
  readonly #placement: Placement
  readonly #facts: MaskFacts
  readonly #index: MaskIndex
  readonly #places: PlaceListings
  #restriction: Restriction | null = null

  constructor(places: Places, machine: Machine, files: Files, placement: Placement) {
    this.#rules = places
    this.#machine = machine
    this.#files = files
    this.#placement = placement
    this.#facts = {
      home: machine.home,
      roots: [...new Set([...placement.reads, ...placement.writes, ...placement.partly.map(({ folder }) => folder)])],
      deniedShapes: deniedShapes(places.masks.names),
      hideTracked: places.masks.tracked,
      memory: new SecretMemory(machine.stateDir),
    }
    const earlier = takeLook(machine.stateDir, this.#facts)
    this.#places = earlier?.places ?? new PlaceListings()
    this.#index = new MaskIndex(this.#facts, earlier?.index)
    if (!earlier) readIndexCache(machine.stateDir, this.#facts, this.#index.tree)
  }

  get tree(): SecretTree {
    return this.#index.tree
  }

  /** Paths that deny rules make read-only, as of the last scan. */
  get frozen(): readonly string[] {
    return this.#restriction?.frozen ?? []
  }

  /** Scans everything. Throws a fault if running commands move secrets meanwhile. */
  look(shown: Pick<Placement, 'reads' | 'writes'>, running: readonly Movable[]): Hidden {
    for (let looks = 1; ; looks++) {
      const refreshed = this.#index.refresh()
      // Only a changed folder can contain a newly denied path.
      if (refreshed > 0 || this.#restriction === null)
        this.#restriction = restrictCommand(this.#rules, this.#placement, this.#files)
      const hidden = this.#rules.masks.secrets ? this.#hide(shown) : this.#always()
      if (looks === MOST_LOOKS) this.requireAll(hidden, running)
      if (this.#unseen(hidden, running).length === 0) return hidden
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_PAUSE_MS)
    }
  }

  /** Denied paths that did not exist at the last scan, so that nothing prevented their creation. */
  createdAgainstRules(): readonly string[] {
    if (this.#rules.fixed.length === 0) return []
    const before = new Set(this.frozen)
    try {
      const { frozen } = restrictCommand(this.#rules, this.#placement, this.#files)
      const created = frozen.filter((path) => !before.has(path))
      return created.filter((path) => !created.some((other) => other !== path && isInside(path, other)))
    } catch (error) {
      // Too many files to expand: the next command fails with it, this one has ended.
      if (error instanceof Fault) return []
      throw error
    }
  }

  /** Throws a fault unless all secrets that running commands hide were found. */
  requireAll(hidden: Hidden, running: readonly Movable[]): void {
    const [path, ...more] = this.#unseen(hidden, running)
    if (path === undefined) return
    const others = more.length === 0 ? '' : ` and ${more.length} more`
    throw new Fault(
      'mask-moved',
      `a secret that must be hidden is being moved by another command: ${JSON.stringify(path)}${others}`,
      { remedy: 'Run the command again when the other one is done.' },
    )
  }

  /** Another running command may have moved a secret: true if these masks are still complete. */
  isAllOf(masks: readonly string[]): boolean {
    this.#index.refresh()
    const masked = new Set(masks)
    return this.inProject().every((path) => masked.has(path) || masks.some((mask) => isInside(path, mask)))
  }

  /** The secrets of the project, as of the last scan. */
  inProject(): string[] {
    const { files, directories } = this.#index.masks(this.#grants())
    return [...files, ...directories, ...this.#kept()]
  }

  /** The identity of the file at a path, as of the last scan. */
  identityOf(path: string): string | null {
    return this.#index.identityOf(path)
  }

  /** Keeps the index for the next session. */
  close(): void {
    writeIndexCache(this.#machine.stateDir, this.#facts, this.#index.tree)
    this.#index.close()
    keepLook(this.#machine.stateDir, this.#facts, { index: this.#index, places: this.#places })
  }

  /** Secrets that other commands hide, in any process, and that are not among these. */
  #unseen({ identities, opened }: Hidden, running: readonly Movable[]): readonly string[] {
    if (running.length === 0) return []
    const own = new Map([...identities, ...readIdentities(opened)])
    return unseenSecrets(running, own, this.#facts.roots, (path) => this.#index.knows(path))
  }

  #hide({ reads, writes }: Pick<Placement, 'reads' | 'writes'>): Hidden {
    const visible = this.#rules.baseline === 'all' ? ['/'] : [...SYSTEM_PATHS, this.#machine.home, ...reads, ...writes]
    const always = this.#always()
    const places = maskPlaces({ home: this.#machine.home, visible, grants: this.#grants() }, this.#places)
    const project = this.#index.masks(this.#grants())
    const byPlace = [...places.files, ...places.directories]
    const kept = this.#kept()
    const again = this.#secondNames(byPlace)
    const masks = [...always.masks, ...byPlace, ...project.files, ...project.directories, ...kept, ...again.keys()]
    const identities = readIdentities([...masks, ...project.replaced.keys()])
    return {
      masks,
      faces: project.faces,
      replaced: project.replaced,
      tokens: project.tokens,
      identities,
      pinned: [...always.pinned, ...byPlace, ...project.linked.keys(), ...kept, ...again.keys()],
      linked: new Map([...always.linked, ...places.linked, ...again, ...project.linked]),
      movable: movableOf(project, identities),
      opened: [...project.opened, ...project.committed, ...project.installed],
    }
  }

  /** Files that lost the link because of which they were secrets, unless granted now. */
  #kept(): string[] {
    const named = new Set(this.#grants().map((grant) => grant.absolute))
    return hiddenByList(this.#machine.stateDir, this.#index.tree.roots).filter((path) => !named.has(path))
  }

  /** Cordon's own places and denied paths: no setting opens them. */
  #always(): Hidden {
    const { configDir, stateDir } = this.#machine
    const own = [configDir, stateDir].filter((path) => this.#files.exists(path) && !this.#showsSkillsAlone(path))
    const denied = this.#restriction?.hidden ?? []
    const linked = this.#secondNames(denied)
    const masks = [...own.map(this.#files.canonical), ...denied, ...linked.keys()]
    return {
      masks,
      identities: readIdentities(masks),
      pinned: masks,
      linked,
      movable: {},
      opened: [],
      ...NO_FACES,
    }
  }

  /** A hard link in the project to what is hidden by a place or a rule. */
  #secondNames(hidden: readonly string[]): ReadonlyMap<string, string> {
    const found = this.#index.secondNames(hidden.flatMap((path) => filesBelow(path)))
    return new Map([...found].filter(([name]) => !hidden.some((path) => isInside(name, path))))
  }

  /**
   * The person's skills are in Cordon's configuration: if nothing else of it is visible, nothing
   * needs hiding.
   */
  #showsSkillsAlone(directory: string): boolean {
    const shown = [...this.#placement.reads, ...this.#placement.writes]
    const within = shown.filter((path) => isInside(path, this.#files.canonical(directory)))
    const around = shown.some((path) => isInside(directory, path) || isInside(this.#files.canonical(directory), path))
    const outside = this.#rules.baseline === 'system' || this.#rules.baseline === 'none'
    return outside && !around && within.length > 0
  }

  #grants(): PathPattern[] {
    return this.#rules.read.map((rule) => rule.pattern)
  }
}

// A resident process keeps finished scans for the next command. Each is verified by kernel-set attributes, so this only
// saves time.

/** A finished scan. */
interface KeptLook {
  readonly index: MaskIndex
  readonly places: PlaceListings
}

/** A person works in few projects at once. */
const MOST_KEPT = 4
/** A bigger tree is kept on disk only. */
const MOST_FOLDERS = 50_000

let kept: Map<string, KeptLook> | null = null

/** Enables keeping in this process. */
export function keepLooks(): void {
  kept ??= new Map()
}

/** The last scan with the same facts; the caller owns it. */
function takeLook(stateDir: string, facts: MaskFacts): KeptLook | null {
  const name = nameOf(stateDir, facts)
  const look = kept?.get(name) ?? null
  kept?.delete(name)
  return look
}

/** Keeps a closed scan. */
function keepLook(stateDir: string, facts: MaskFacts, look: KeptLook): void {
  if (!kept || look.index.tree.size > MOST_FOLDERS) return
  const [oldest] = kept.keys()
  if (oldest !== undefined && kept.size >= MOST_KEPT) kept.delete(oldest)
  kept.set(nameOf(stateDir, facts), look)
}

/** Everything that a scan depends on, except the disk. */
function nameOf(stateDir: string, { home, roots, deniedShapes, hideTracked = false }: MaskFacts): string {
  return JSON.stringify([stateDir, home, roots, deniedShapes, hideTracked])
}
