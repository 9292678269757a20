/** The questions that can be answered from elsewhere, in one file: of sessions that wait, and of hooks that had no one to ask. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type AnswerKind, type AskView, parseAskView } from '../approval/ask-view.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import { isSameProcess } from '../system/alive.ts'
import { canonicalJson } from '../system/canonical-json.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { sha256 } from '../system/sha256.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../system/state.ts'

export interface OpenAsk {
  readonly id: string
  readonly project: string
  readonly host: string
  readonly tool: string
  /** What a person is shown, with the answers that can be given. What is masked in it is written nowhere. */
  readonly view: AskView
  /** What could be granted, from the narrowest on; empty when no grant may be saved for it. */
  readonly suggestions: readonly Suggestion[]
  /** The host's own id of the session that asked, where it has one. */
  readonly session?: string
  /** The hash of the very call, which can be answered once. */
  readonly once?: string
  readonly time: number
  /** Until when the call may be tried once, or is refused with the message; there only when the person said so. */
  readonly answeredUntil?: number
  /** What the person has to say to the agent instead of a yes. */
  readonly message?: string
  /** Of a question whose asker waits right now. */
  readonly waiting?: WaitingAsk
}

/** Who waits, and the answer that stands: the first one. */
export interface WaitingAsk {
  readonly pid: number
  readonly started: string | null
  readonly answer?: GivenAnswer
  /** Whether what is masked can be shown by the process that waits, or somebody has asked for that. */
  readonly show?: 'possible' | 'wanted'
}

/** An answer from elsewhere. What it would save is named by its number: the asker knows what it stands for. */
export interface GivenAnswer {
  readonly kind: AnswerKind
  readonly choice?: number
  readonly seconds?: number
  readonly message?: string
  /** `page`, `link`, `approvals`, or the asker's own prompter. */
  readonly by: string
}

/** Its name in the state directory, for those who watch it. */
export const ASKS_FILE = 'asks.json'

interface AskFile {
  readonly version: 3
  readonly asks: readonly OpenAsk[]
}

const MAX_ASKS = 50
const KEPT_MS = 24 * 3600 * 1000

/** The asks of the last day that no one answered and whose asker is not gone, the newest last. */
export function openAsks(machine: Machine, now: number): readonly OpenAsk[] {
  return readAsks(machine).filter(
    ({ time, answeredUntil, waiting }) =>
      time > now - KEPT_MS && answeredUntil === undefined && (waiting === undefined || isAwaited(waiting)),
  )
}

function isAwaited({ pid, started, answer }: WaitingAsk): boolean {
  return answer === undefined && isSameProcess(pid, started)
}

/**
 * Keeps an ask and gives its id; null when only the manifest can allow it. An id is drawn, never made from the agent's own words:
 * two calls that shared one would let a yes to the first allow the second. While an ask is open, the very same one keeps its id.
 */
export function keepAsk(machine: Machine, ask: NewAsk, now: number): string | null {
  if (ask.suggestions.length === 0 && ask.once === undefined) return null
  const shown = contentOf(ask)
  let id = ''
  changeAsks(machine, (asks) => {
    const known = asks.find((other) => isUnanswered(other) && contentOf(other) === shown)
    const taken = new Set(asks.map((other) => other.id))
    do id = known?.id ?? randomBytes(4).toString('hex')
    while (!known && taken.has(id))
    return [...asks.filter((other) => !isSameCall(other, ask)), { ...ask, id, time: now }]
  })
  return id
}

/** Everything that a person is shown of an ask, or that a yes to it would grant. */
function contentOf({ project, host, tool, view, suggestions, session = '', once = '' }: NewAsk): string {
  return hashOf([project, host, tool, session, once, canonicalJson({ view, suggestions })])
}

function isUnanswered({ answeredUntil, waiting }: OpenAsk): boolean {
  return answeredUntil === undefined && waiting === undefined
}

function isSameCall({ waiting, ...other }: OpenAsk, { project, tool, view, once }: NewAsk): boolean {
  const same = other.project === project && other.tool === tool && other.view.call === view.call && other.once === once
  return same && waiting === undefined
}

export type NewAsk = Omit<OpenAsk, 'id' | 'time' | 'answeredUntil' | 'message' | 'waiting'>

/** Allows the very call of an ask the next time it is tried, or refuses it then with a message. */
export function answerNext(machine: Machine, { id }: OpenAsk, until: number, message: string | null): void {
  const answer = { answeredUntil: until, ...(message !== null && { message }) }
  changeAsks(machine, (asks) => asks.map((ask) => (ask.id === id ? { ...ask, ...answer } : ask)))
}

/** What the person answered to this very call, once: yes, or no with a message. It is answered no more afterwards. */
export function takeAnswer(
  machine: Machine,
  { once }: NewAsk,
  now: number,
): { readonly message: string | null } | null {
  if (once === undefined) return null
  const isAnswered = (ask: OpenAsk): boolean => ask.once === once && ask.answeredUntil !== undefined
  if (!readAsks(machine).some(isAnswered)) return null
  let taken: { readonly message: string | null } | null = null
  changeAsks(machine, (asks) => {
    const found = asks.filter((ask) => isAnswered(ask) && ask.answeredUntil! > now)
    // A no holds against a yes.
    const ask = found.find(({ message }) => message !== undefined) ?? found[0]
    taken = ask === undefined ? null : { message: ask.message ?? null }
    return asks.filter((ask) => !isAnswered(ask))
  })
  return taken
}

export function dropAsk(machine: Machine, id: string): void {
  changeAsks(machine, (asks) => asks.filter((ask) => ask.id !== id))
}

function hashOf(parts: readonly string[]): string {
  return sha256(JSON.stringify(parts))
}

/** Everything in the file, answered or not. */
export function readAsks(machine: Machine): readonly OpenAsk[] {
  const file = readOwnJson(join(openOwnDirectory(machine.stateDir), ASKS_FILE), isAskFile)
  return file?.version === 3 ? file.asks : []
}

/** Changes the file, one process at a time. */
export function changeAsks(machine: Machine, how: (asks: readonly OpenAsk[]) => readonly OpenAsk[]): void {
  const directory = openOwnDirectory(machine.stateDir)
  withLock(join(directory, 'asks.lock'), () => {
    const asks = how(readAsks(machine)).slice(-MAX_ASKS)
    writeOwnJson(join(directory, ASKS_FILE), { version: 3, asks } satisfies AskFile)
  })
}

/** What an earlier build kept says no worst case, and is asked again. */
interface EarlierFile {
  readonly version: 1 | 2
}

function isAskFile(value: unknown): value is AskFile | EarlierFile {
  if (typeof value !== 'object' || value === null) return false
  const { version, asks } = value as { readonly version?: unknown; readonly asks?: unknown }
  return version === 1 || version === 2 || (version === 3 && Array.isArray(asks) && asks.every(isAsk))
}

function isAsk(value: unknown): value is OpenAsk {
  const ask = value as Partial<OpenAsk> | null
  const texts = ['id', 'project', 'host', 'tool'] as const
  return (
    typeof ask === 'object' &&
    ask !== null &&
    texts.every((name) => typeof ask[name] === 'string') &&
    Array.isArray(ask.suggestions) &&
    parseAskView(ask.view) !== null &&
    [ask.once, ask.session, ask.message].every((text) => text === undefined || typeof text === 'string') &&
    (ask.answeredUntil === undefined || typeof ask.answeredUntil === 'number') &&
    (ask.waiting === undefined || isWaiting(ask.waiting)) &&
    typeof ask.time === 'number'
  )
}

function isWaiting(value: unknown): value is WaitingAsk {
  const waiting = value as Partial<WaitingAsk> | null
  return (
    typeof waiting === 'object' &&
    waiting !== null &&
    typeof waiting.pid === 'number' &&
    (waiting.started === null || typeof waiting.started === 'string') &&
    (waiting.answer === undefined || typeof waiting.answer.kind === 'string')
  )
}
