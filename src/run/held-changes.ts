/**
 * The changes of one command: checked by rules while it runs, kept for undo, and reported
 * afterwards.
 */

import { lstatSync, realpathSync, type Stats } from 'node:fs'
import type { Decision } from '../policy/decision.ts'
import type { ChangePlan } from '../sandbox/changes.ts'
import { changeRules, gitKeyText, openedPlaces } from '../sandbox/protect/change-rules.ts'
import type { ProtectFacts } from '../sandbox/protect/protect.ts'
import type { GuardedRun } from '../sandbox/quarantine/run.ts'
import {
  changeViolation,
  placeViolation,
  sharedViolation,
  tokenViolation,
  unkeptViolation,
  type Violation,
} from '../sandbox/violation.ts'
import { attempt } from '../system/fault.ts'
import { CallStore, DEFAULT_PRUNE } from '../undo/call-store.ts'
import type { JournalRecord } from '../undo/journal.ts'
import { type NetChanges, netChanges } from '../undo/net-changes.ts'

/** Larger files are not copied before a write; the copies of a command share the second limit. */
const FILE_BYTES = 64 * 1024 * 1024
const TOTAL_BYTES = 1024 * 1024 * 1024

/**
 * Appends to a large log are reported as not kept; a command that relies on undo may not even
 * append.
 */
const MUST = { undo: 'everything', keeping: 'but-appends', none: 'nothing' } as const

/** What a command changed, by name. */
export interface CommandChanges extends NetChanges {
  /** The name for `cordon undo`; null without anything to restore. */
  readonly call: string | null
  readonly refused: readonly Violation[]
  /** Left unchanged, because it could not be kept. */
  readonly unkept: readonly string[]
  /** The kept files of the project exceed its limit. */
  readonly isFull: boolean
  /** Files with further names, perhaps outside: only the copies under these names changed. */
  readonly apart: readonly string[]
  /** Whether the command itself changed a path, and not another program meanwhile. */
  readonly isOwn: (path: string) => boolean
}

/** The facts about a command whose changes are kept. */
export interface KeptCommand {
  readonly argv: readonly string[]
  readonly session?: string
  /** Why no person was asked: then only changes that can be kept are possible. */
  readonly relies?: Decision['relies']
}

/** The changes of one command, from before its start to their report. */
export class HeldChanges {
  readonly plan: ChangePlan
  readonly #store: CallStore
  readonly #id: string
  readonly #root: string

  constructor(
    facts: ProtectFacts,
    { configs, targets, name }: Pick<GuardedRun, 'configs' | 'targets' | 'name'>,
    stateDir: string,
    command: KeptCommand,
    free: readonly string[],
  ) {
    const { argv, session, relies } = command
    this.#store = new CallStore(stateDir)
    this.#root = facts.write[0] ?? ''
    const opened = openedPlaces(facts)
    const about = {
      roots: facts.write,
      what: nameOf(argv),
      run: name,
      ...(session !== undefined && { session }),
      ...(opened.length > 0 && { opened }),
    }
    const { id, folder } = this.#store.begin(about)
    this.#id = id
    this.plan = {
      rules: changeRules(facts, configs, free),
      gitKeys: gitKeyText(facts, configs, targets),
      keep: { folder, fileBytes: FILE_BYTES, totalBytes: TOTAL_BYTES, must: MUST[relies ?? 'none'] },
      free,
    }
  }

  /** Ends the record. A call without changes is forgotten. */
  end(): CommandChanges {
    const { records, whole } = this.#store.settle(this.#id)
    const net = netChanges(records)
    const call = records.some(({ op }) => op !== 'refused' && op !== 'noted') ? this.#id : null
    // A special reason says more.
    const reasons = new Map<string, Reason>()
    for (const { op, errno, path } of records)
      if (op === 'refused' && (REASONS[errno] || !reasons.has(path)))
        reasons.set(path, REASONS[errno] ?? changeViolation)
    return {
      ...net,
      call,
      refused: Array.from(reasons, ([path, reason]) => reason(path)),
      unkept: [
        ...new Set(records.filter(({ op, errno }) => op === 'refused' && errno === UNKEPT).map(({ path }) => path)),
      ],
      // Counted only when it can matter: most calls keep little.
      isFull: keptBytes(records) > LARGE_BYTES && this.#store.isFull(this.#root, DEFAULT_PRUNE),
      // In doubt it is the command's.
      isOwn: whole ? anyOf(ownChanges(records), () => changedBehind(this.#store, [this.#id])) : () => true,
      apart: [...new Set(records.filter(({ apart }) => apart).map(({ other }) => other))],
    }
  }

  /** Drops the record of a command that never ran. */
  drop(): void {
    this.#store.forget(this.#id)
  }
}

const LARGE_BYTES = 64n * 1024n * 1024n

function keptBytes(records: readonly JournalRecord[]): bigint {
  return records.reduce((sum, { kept, before }) => (kept === 'link' || kept === 'copy' ? sum + before.size : sum), 0n)
}

/** Builds the second test only if the first fails, which is rare. */
function anyOf(first: (path: string) => boolean, make: () => (path: string) => boolean): (path: string) => boolean {
  let second: ((path: string) => boolean) | null = null
  return (path) => {
    if (first(path)) return true
    second ??= make()
    return second(path)
  }
}

/**
 * Paths that other commands touched during these calls, and that changed after their end, when
 * nothing checked them. One of these calls may have written there by an open descriptor.
 */
function changedBehind(store: CallStore, ids: readonly string[]): (path: string) => boolean {
  const calls = store.list()
  const started = Math.min(...calls.filter(({ id }) => ids.includes(id)).map(({ about }) => Date.parse(about.at)))
  const others = calls
    .filter(({ id, about }) => about.run !== undefined && !ids.includes(id))
    .map(({ id }) => store.journalOf(id))
    .map(({ ended, records, whole }) => ({
      end: ended === null ? null : Number(ended.seconds) * 1000 + ended.nanoseconds / 1e6,
      owns: whole ? ownChanges(records) : () => true,
    }))
  return (path) => {
    const changed = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0
    return others.some(({ end, owns }) => end !== null && end >= started && changed > end && owns(path))
  }
}

/** Tests whether a killed run changed a path, by the journals of its calls; null without any. */
export function ownOfRun(stateDir: string, run: string): ((path: string) => boolean) | null {
  const store = new CallStore(stateDir)
  const calls = store.list().filter(({ about }) => about.run === run)
  const journals = calls.map(({ id }) => store.journalOf(id))
  if (journals.length === 0 || journals.some(({ whole }) => !whole)) return null
  const own = ownChanges(journals.flatMap(({ records }) => records))
  return anyOf(own, () =>
    changedBehind(
      store,
      calls.map(({ id }) => id),
    ),
  )
}

/** Prunes old or excessive kept files, at the end of a session or a run. */
export function pruneKept(stateDir: string): void {
  new CallStore(stateDir).pruneWhenDue(DEFAULT_PRUNE)
}

/** EDQUOT: with which the init refuses what it cannot keep and must. */
const UNKEPT = 122

type Reason = (path: string) => Violation

/** Why the init refuses, by the errno that it records. */
const REASONS: Readonly<Record<number, Reason>> = {
  // EBUSY: a mount is there, or below it.
  16: (path) => (/\/config(?:\.worktree)?$/.test(path) ? tokenViolation(path) : placeViolation(path)),
  // EMLINK: a file with further names of which this one could not get a copy.
  31: sharedViolation,
  [UNKEPT]: unkeptViolation,
}

const MAX_NAME = 200

/** The command as a person recognises it: for `bash -c TEXT`, the text. */
function nameOf(argv: readonly string[]): string {
  // Shell code is named by its text.
  const shell = argv[1] === '-c' && (argv.length === 3 || (argv.length === 4 && argv[2] === '--'))
  const text = shell ? argv.at(-1)! : argv.join(' ')
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text
}

/**
 * By the journal of its changes. In doubt it is the command's: another name of the file, or a link
 * that it created.
 */
function ownChanges(records: readonly JournalRecord[]): (path: string) => boolean {
  const touched = new Set<string>()
  const moved = new Set<string>()
  const written = new Set<number>()
  for (const { op, path, other, before } of records) {
    if (op === 'refused' || op === 'noted') continue
    touched.add(path)
    if (op === 'written') written.add(Number(before.inode))
    if (op !== 'renamed' && op !== 'exchanged') continue
    touched.add(other)
    moved.add(path).add(other)
  }
  const isBelowOwn = (path: string): boolean => {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      const folder = path.slice(0, at)
      if (moved.has(folder) || (touched.has(folder) && statOf(folder)?.isSymbolicLink())) return true
    }
    return false
  }
  return (path) => {
    // A name that is not UTF-8 may be spelled differently here.
    if (touched.has(path) || /[\ufffd\ud800-\udfff]/u.test(path) || isBelowOwn(path)) return true
    const real = realPath(path)
    return (real !== path && touched.has(real)) || written.has(Number(statOf(real)?.ino))
  }
}

function statOf(path: string): Stats | undefined {
  return attempt(() => lstatSync(path, { throwIfNoEntry: false }), undefined)
}

function realPath(path: string): string {
  return attempt(() => realpathSync.native(path), path)
}
