/** Asks that a hook could not put to anybody: kept for a while, so that the person can answer them at a terminal. */

import { createHash } from 'node:crypto'
import { join, posix } from 'node:path'
import { type Suggestion, suggestGrants } from '../../approval/suggestion.ts'
import { machineFiles } from '../../system/files.ts'
import { withLock } from '../../system/lock.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../../system/state.ts'
import { openSavedGrants } from '../policy/saved-grants.ts'
import type { HookJudgement } from './judge.ts'

export interface OpenAsk {
  readonly id: string
  readonly project: string
  readonly host: string
  readonly tool: string
  readonly subject: string
  readonly reason: string
  /** What could be granted, from the narrowest on; empty when only the manifest can allow it. */
  readonly suggestions: readonly Suggestion[]
  readonly time: number
}

interface AskFile {
  readonly version: 1
  readonly asks: readonly OpenAsk[]
}

const MAX_ASKS = 50
const KEPT_MS = 24 * 3600 * 1000

/** The asks of the last day, the newest last. */
export function openAsks(machine: Machine, now: number): readonly OpenAsk[] {
  return read(machine).filter((ask) => ask.time > now - KEPT_MS)
}

/** Keeps an ask and gives its id, the same for the same ask; null when only the manifest can allow it. */
export function keepAsk(machine: Machine, ask: Omit<OpenAsk, 'id' | 'time'>, now: number): string | null {
  if (ask.suggestions.length === 0) return null
  const key = JSON.stringify([ask.project, ask.tool, ask.subject])
  const id = createHash('sha256').update(key).digest('hex').slice(0, 6)
  change(machine, (asks) => [...asks.filter((other) => other.id !== id), { ...ask, id, time: now }].slice(-MAX_ASKS))
  return id
}

/** The ask of a hook's judgement, with what could be granted. */
export function askOf(
  machine: Machine,
  host: string,
  project: string,
  judgement: HookJudgement,
): Omit<OpenAsk, 'id' | 'time'> {
  const { subject, decision, facts, call } = judgement
  const resolve = (given: string): string => machineFiles.canonical(posix.resolve(project, given))
  const places = { root: project, home: machine.home, resolve }
  return {
    host,
    project,
    subject,
    tool: call.kind === 'search' ? 'grep' : call.tool,
    reason: decision.reason.message,
    suggestions: call.kind === 'tool' ? suggestGrants(decision, facts, places) : [],
  }
}

/** Grants what an ask suggested, for a time; every agent in the project may then do it. */
export function grantAsk(machine: Machine, ask: OpenAsk, suggestion: Suggestion, minutes: number, now: number): void {
  const saved = openSavedGrants(machine)
  for (const { kind, value } of [suggestion, ...(suggestion.also ?? [])])
    saved.add({
      project: ask.project,
      session: 'terminal',
      kind,
      value,
      verdict: 'allow',
      scope: 'time',
      expires: now + minutes * 60_000,
    })
  dropAsk(machine, ask.id)
}

export function dropAsk(machine: Machine, id: string): void {
  change(machine, (asks) => asks.filter((ask) => ask.id !== id))
}

function read(machine: Machine): readonly OpenAsk[] {
  return readOwnJson(join(openOwnDirectory(machine.stateDir), 'asks.json'), isAskFile)?.asks ?? []
}

function change(machine: Machine, how: (asks: readonly OpenAsk[]) => readonly OpenAsk[]): void {
  const directory = openOwnDirectory(machine.stateDir)
  withLock(join(directory, 'asks.lock'), () => {
    writeOwnJson(join(directory, 'asks.json'), { version: 1, asks: how(read(machine)) } satisfies AskFile)
  })
}

function isAskFile(value: unknown): value is AskFile {
  if (typeof value !== 'object' || value === null) return false
  const { version, asks } = value as Partial<AskFile>
  return version === 1 && Array.isArray(asks) && asks.every(isAsk)
}

function isAsk(value: unknown): value is OpenAsk {
  const ask = value as Partial<OpenAsk> | null
  const texts = ['id', 'project', 'host', 'tool', 'subject', 'reason'] as const
  return (
    typeof ask === 'object' &&
    ask !== null &&
    texts.every((name) => typeof ask[name] === 'string') &&
    Array.isArray(ask.suggestions) &&
    typeof ask.time === 'number'
  )
}
