/** The changes of one command: held by rules while it runs, kept so that they can be undone, and told afterwards. */

import { lstatSync } from 'node:fs'
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
import { CallStore, DEFAULT_PRUNE } from '../undo/call-store.ts'
import type { JournalRecord } from '../undo/journal.ts'
import { type NetChanges, netChanges } from '../undo/net-changes.ts'
import { ownChanges } from './own-changes.ts'

/** Larger files are not copied before they are written, and a command's copies together take no more. */
const FILE_BYTES = 64 * 1024 * 1024
const TOTAL_BYTES = 1024 * 1024 * 1024

/** What is appended to a large log is told as not kept; a command that is known to destroy may not even do that. */
const MUST = { undo: 'everything', keeping: 'but-appends', none: 'nothing' } as const

/** What a command changed, by name. */
export interface CommandChanges extends NetChanges {
  /** The name under which `cordon undo` puts it back; null when there is nothing to restored. */
  readonly call: string | null
  readonly refused: readonly Violation[]
  /** Left as it was, because it could not be kept. */
  readonly unkept: readonly string[]
  /** Undo keeps more for the project than it may. */
  readonly isFull: boolean
  /** Changed, and a person may want to know. */
  readonly noted: readonly string[]
  /** Files with further names, perhaps outside: only the copies under these names were changed. */
  readonly apart: readonly string[]
  /** Whether the command itself changed a path: what others did meanwhile is theirs. */
  readonly isOwn: (path: string) => boolean
}

/** What is known of the command whose changes are kept. */
export interface KeptCommand {
  readonly argv: readonly string[]
  readonly session?: string
  /** Why no one was asked: nothing is changed that cannot be kept. */
  readonly relies?: Decision['relies']
}

/** One command's changes, from before it starts until it is told what they were. */
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

  /** The command is done. A call that changed nothing is forgotten. */
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
      noted: [...new Set(records.filter(({ op }) => op === 'noted').map(({ path }) => path))],
    }
  }

  /** The command never ran. */
  drop(): void {
    this.#store.forget(this.#id)
  }
}

const LARGE_BYTES = 64n * 1024n * 1024n

function keptBytes(records: readonly JournalRecord[]): bigint {
  return records.reduce((sum, { kept, before }) => (kept === 'link' || kept === 'copy' ? sum + before.size : sum), 0n)
}

/** The second is made when the first does not hold: hardly ever. */
function anyOf(first: (path: string) => boolean, make: () => (path: string) => boolean): (path: string) => boolean {
  let second: ((path: string) => boolean) | null = null
  return (path) => {
    if (first(path)) return true
    second ??= make()
    return second(path)
  }
}

/**
 * What commands that ran beside these calls had touched and was changed after their end, when no one checked it for them any more:
 * one of these can have written, by a descriptor, its own file where they put it.
 */
function changedBehind(store: CallStore, ids: readonly string[]): (path: string) => boolean {
  const calls = store.list()
  const begun = Math.min(...calls.filter(({ id }) => ids.includes(id)).map(({ about }) => Date.parse(about.at)))
  const others = calls
    .filter(({ id, about }) => about.run !== undefined && !ids.includes(id))
    .map(({ id }) => store.journalOf(id))
    .map(({ ended, records, whole }) => ({
      end: ended === null ? null : Number(ended.seconds) * 1000 + ended.nanoseconds / 1e6,
      owns: whole ? ownChanges(records) : () => true,
    }))
  return (path) => {
    const changed = lstatSync(path, { throwIfNoEntry: false })?.ctimeMs ?? 0
    return others.some(({ end, owns }) => end !== null && end >= begun && changed > end && owns(path))
  }
}

/** What a run that was killed had changed itself, by the journals of its calls; null when there are none to tell. */
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

/** At the end of a session or a run: what is kept for too long, or is too much, goes now and then. */
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

/** The command as a person would recognise it: of `bash -c TEXT`, the text. */
function nameOf(argv: readonly string[]): string {
  // A text for the shell is known by the text.
  const shell = argv[1] === '-c' && (argv.length === 3 || (argv.length === 4 && argv[2] === '--'))
  const text = shell ? argv.at(-1)! : argv.join(' ')
  return text.length > MAX_NAME ? `${text.slice(0, MAX_NAME)}…` : text
}
