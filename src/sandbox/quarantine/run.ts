/** Guards the protected paths of a project around every run, with a journal for killed ones. */

import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { unwritable } from '../../system/fault.ts'
import { uniqueName, writeMade } from '../../system/made-file.ts'
import { isSameProcess, startOf } from '../../system/processes.ts'
import { makeDirectories } from '../../system/state.ts'
import { type MountPin, type ProtectFacts, pinsOf, protectTree } from '../protect/protect.ts'
import { isBelow, SecretTree } from '../protect/tree.ts'
import { type HiddenFacts, narrowBaseline, pointedAt, type TreeBaseline, takeBaseline } from './baseline.ts'
import { type IsOwn, type QuarantineFinding, settleRun, settleWorkingTrees } from './quarantine.ts'

/** What other processes do in the project. */
interface OtherRuns {
  /** Leftovers of an earlier, killed run that were just settled. */
  readonly recovered: readonly QuarantineFinding[]
  /** Of the runs that are under way. */
  readonly alive: readonly TreeBaseline[]
}

/** A run that has begun. */
export interface GuardedRun extends OtherRuns {
  /** The name of its record of changes, if there is one. */
  readonly name: string
  readonly pins: readonly MountPin[]
  /** Git configurations before the first of the running runs. */
  readonly configs: TreeBaseline['configs']
  /** What pointers of git point to: no link may take the place of it. */
  readonly targets: readonly string[]
  /** Settles the run once every process of it is gone; call it exactly once, before the result returns. */
  end(isOwn?: IsOwn): readonly QuarantineFinding[]
}

/** The guard of one session's project. Overlapping runs share the state before the first. */
export class ProjectGuard {
  readonly #tree: SecretTree
  readonly #stateDir: string
  readonly #ownOf: (run: string) => IsOwn | null
  #baseline: TreeBaseline | null = null
  #journal: string | null = null
  #recorded = false
  #active = 0

  /** `ownOf`: the changes of a killed run from its record; null if unknown. */
  constructor(tree: SecretTree, stateDir: string, ownOf: (run: string) => IsOwn | null = () => null) {
    this.#tree = tree
    this.#stateDir = stateDir
    this.#ownOf = ownOf
  }

  /** Looks for other runs, before anything else: settles those of Cordons that were killed. */
  look(): OtherRuns {
    const others = readJournals(this.#stateDir, this.#tree.roots, new Set(this.#journal ? [this.#journal] : []))
    const dead = this.#active === 0 ? others.filter((entry) => !entry.alive) : []
    return {
      recovered: dead.flatMap((entry) => this.#recover(entry)),
      alive: others.filter((entry) => entry.alive).map((entry) => entry.baseline),
    }
  }

  /** Begins a run; `held`: its changes are recorded. The tree was just refreshed. */
  begin(facts: ProtectFacts, hidden?: HiddenFacts, recorded = false): GuardedRun {
    const { recovered: left, alive } = this.look()
    if (this.#active === 0 || this.#baseline === null) {
      this.#baseline = narrowBaseline(takeBaseline(this.#tree, facts, hidden), alive)
      this.#writeJournal(this.#baseline, recorded)
    } else if (this.#recorded && !recorded) this.#writeJournal(this.#baseline, false)
    this.#active++
    const strays = settleWorkingTrees(this.#tree, this.#baseline, this.#stateDir)
    if (strays.length > 0) this.#tree.refresh()
    const recovered = [...left, ...strays]
    const pins = pinsOf(protectTree(this.#tree, facts), facts)
    let ended = false
    return {
      name: runName(this.#journal!),
      pins,
      configs: this.#baseline.configs,
      targets: Object.entries(this.#baseline.pointers)
        .flatMap(([path, text]) => pointedAt(path, text) ?? [])
        .map((path) => posix.normalize(path)),
      recovered,
      alive,
      end: (isOwn) => {
        if (ended) return []
        ended = true
        return this.#end(isOwn)
      },
    }
  }

  #end(isOwn?: IsOwn): readonly QuarantineFinding[] {
    const findings = this.#baseline === null ? [] : settleRun(this.#tree, this.#baseline, this.#stateDir, isOwn)
    this.#active--
    if (this.#active === 0) {
      if (this.#journal !== null) removeJournal(this.#journal)
      this.#journal = null
      this.#baseline = null
    }
    return findings
  }

  /** If one of several concurrent runs has no record, the author of a change is unknown. */
  #writeJournal(baseline: TreeBaseline, recorded: boolean): void {
    const before = this.#journal
    this.#journal = writeJournal(this.#stateDir, baseline, recorded)
    this.#recorded = recorded
    if (before !== null) removeJournal(before)
  }

  #recover({ baseline, file, held: recorded }: JournalEntry): readonly QuarantineFinding[] {
    const tree = new SecretTree(baseline.roots)
    const isOwn = recorded ? this.#ownOf(runName(file)) : null
    try {
      const findings = settleRun(tree, baseline, this.#stateDir, isOwn ?? undefined)
      removeJournal(file)
      // The session's own index was refreshed before things were moved.
      if (findings.length > 0) this.#tree.refresh()
      return findings
    } finally {
      tree.close()
    }
  }
}

/** A run that some process began and has not settled. */
interface JournalEntry {
  readonly file: string
  readonly baseline: TreeBaseline
  /** False when the process that began it is gone. */
  readonly alive: boolean
  /** Whether every change of it is written down elsewhere, by the name of this run. */
  readonly held: boolean
}

/** By what name a run's changes are written down. */
function runName(file: string): string {
  return posix.basename(file, '.json')
}

/** Notes a run under way; returns the file to remove when it has been settled. */
function writeJournal(stateDir: string, baseline: TreeBaseline, recorded: boolean): string {
  const folder = posix.join(stateDir, 'runs')
  const file = posix.join(folder, `${process.pid}-${uniqueName()}.json`)
  const owner = { pid: process.pid, started: startOf(process.pid) }
  try {
    makeDirectories(folder)
    writeMade(file, JSON.stringify({ owner, held: recorded, baseline }), { flag: 'wx' })
  } catch (error) {
    removeIfPossible(file)
    throw unwritable(file, error)
  }
  return file
}

/** Forgets a run that has been settled. */
function removeJournal(file: string): void {
  rmSync(file, { force: true })
}

/** Runs of any process that touch these roots, this process's own ones left out. */
function readJournals(stateDir: string, roots: readonly string[], own: ReadonlySet<string>): JournalEntry[] {
  const folder = posix.join(stateDir, 'runs')
  let names: string[]
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch {
    return []
  }
  const entries: JournalEntry[] = []
  for (const file of names.map((name) => posix.join(folder, name))) {
    if (own.has(file)) continue
    const entry = readEntry(file)
    if (entry?.baseline.roots.some((theirs) => roots.some((mine) => overlaps(theirs, mine)))) entries.push(entry)
  }
  return entries
}

function readEntry(file: string): JournalEntry | null {
  try {
    const parsed = JSON.parse(readFileSync(file, 'utf8')) as {
      owner: { pid: number; started: string | null }
      held?: boolean
      baseline: TreeBaseline
    }
    const alive = isSameProcess(parsed.owner.pid, parsed.owner.started)
    return { file, baseline: parsed.baseline, alive, held: parsed.held === true }
  } catch {
    // Being written right now, or removed; a run with a truncated journal had not started yet.
    removeStale(file)
    return null
  }
}

/** Writing one takes no time at all. */
const STALE_MS = 60_000

function removeStale(file: string): void {
  const facts = statSync(file, { throwIfNoEntry: false })
  if (facts !== undefined && Date.now() - facts.mtimeMs > STALE_MS) removeIfPossible(file)
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // On a disk that takes no changes.
  }
}

function overlaps(a: string, b: string): boolean {
  return a === b || isBelow(a, b) || isBelow(b, a)
}
