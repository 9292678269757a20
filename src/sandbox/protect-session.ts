/** The shield of one session's project: masks, pins and the settling of every run, on one index of the tree. */

import { realpathSync } from 'node:fs'
import type { PathPattern } from '../files/path-pattern.ts'
import { MaskIndex, type SkippedCount } from './masks.ts'
import { readIndexCache, writeIndexCache } from './masks-cache.ts'
import { type MaskChange, MaskWatch } from './masks-watch.ts'
import type { Pin, ProtectFacts } from './protect.ts'
import type { QuarantineFinding } from './quarantine.ts'
import { ProjectGuard } from './quarantine-run.ts'
import { maskPlaces } from './secrets.ts'

export interface ShieldFacts {
  readonly home: string
  /** Canonical: the project, further granted directories, and what `worktreeDirectories` says. */
  readonly roots: readonly string[]
  /** `*.ext` entries that the manifest denies for reading. */
  readonly deniedShapes: readonly string[]
  /** `command_mask_secrets`. Cordon's own places are hidden in any case. */
  readonly maskSecrets: boolean
  readonly own: ProtectFacts['own']
}

/** What one run may do. */
export interface RunGrants {
  /** Read and write grants: only one that names a secret opens it. */
  readonly grants: readonly PathPattern[]
  /** Canonical paths that the sandbox may write. */
  readonly write: readonly string[]
  /** Literal paths of write grants. */
  readonly named: readonly string[]
  /** Hears of a lifted mask while the command runs. */
  readonly onMaskChange?: (change: MaskChange) => void
}

/** A run behind the shield: `masks` and `pins` go into its plan. */
export interface ShieldedRun {
  /** Files and directories to hide, wherever they are; the plan leaves out what the sandbox does not show. */
  readonly masks: readonly string[]
  readonly pins: readonly Pin[]
  readonly skipped: SkippedCount
  /** What a killed Cordon had left behind and was put right now. */
  readonly recovered: readonly QuarantineFinding[]
  /** Settles the run; call it once, after every process of it is gone and before the result returns. */
  end(): RunReport
}

/** What a run left and what happened around it. */
export interface RunReport {
  readonly quarantined: readonly QuarantineFinding[]
  readonly maskChanges: readonly MaskChange[]
}

/** Opened with the session and closed with it. */
export class ProjectShield {
  readonly #facts: ShieldFacts
  readonly #index: MaskIndex
  readonly #guard: ProjectGuard
  #loaded = false
  #readSinceCached = 0

  constructor(facts: ShieldFacts) {
    this.#facts = facts
    this.#index = new MaskIndex(facts)
    this.#guard = new ProjectGuard(this.#index.tree, facts.own.stateDir)
  }

  /** Makes the index true and says what to hide and what to pin for a run that starts now. */
  begin(grants: RunGrants): ShieldedRun {
    if (!this.#loaded) {
      readIndexCache(this.#facts.own.stateDir, this.#facts, this.#index.tree)
      this.#loaded = true
    }
    this.#readSinceCached += this.#index.refresh().read
    const { home, own } = this.#facts
    const run = this.#guard.begin({ home, own, write: grants.write, named: grants.named })
    const found = this.#index.masks(grants.grants)
    const masks = this.#hidden(grants.grants, found)
    const watch = new MaskWatch(this.#facts.maskSecrets ? found.files : [], grants.onMaskChange)
    return {
      masks,
      pins: run.pins,
      skipped: found.skipped,
      recovered: run.recovered,
      end: () => {
        const quarantined = run.end()
        const now = this.#facts.maskSecrets ? this.#index.masks(grants.grants).files : []
        return { quarantined, maskChanges: watch.close(now) }
      },
    }
  }

  /** Ends the session; a big index is kept for the next process when it has changed much. */
  close(): void {
    const { tree } = this.#index
    if (this.#readSinceCached > Math.max(100, tree.size / 50)) {
      writeIndexCache(this.#facts.own.stateDir, this.#facts, tree)
    }
    this.#index.close()
  }

  #hidden(
    grants: readonly PathPattern[],
    found: { readonly files: readonly string[]; readonly directories: readonly string[] },
  ): readonly string[] {
    const own = [this.#facts.own.configDir, this.#facts.own.stateDir].flatMap(existing)
    if (!this.#facts.maskSecrets) return own
    const places = maskPlaces({ home: this.#facts.home, visible: ['/'], grants })
    return [...new Set([...own, ...found.files, ...found.directories, ...places.files, ...places.directories])]
  }
}

function existing(path: string): string[] {
  try {
    return [realpathSync.native(path)]
  } catch {
    return []
  }
}
