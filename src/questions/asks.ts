/** The file of questions that can be answered from elsewhere. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Approval, Refusal } from '../approval/approve.ts'
import { ANSWERS, type AnswerKind, type AskView, askView, parseAskView, withAnswers } from '../approval/ask-view.ts'
import type { ApprovalRequest } from '../approval/prompter.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import { sha256 } from '../system/addon.ts'
import { canonicalJson } from '../system/json.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { isSameProcess } from '../system/processes.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../system/state.ts'

export interface OpenAsk {
  readonly id: string
  readonly project: string
  readonly host: string
  readonly tool: string
  /** What the person sees, with the possible answers. What is masked in it is stored nowhere. */
  readonly view: AskView
  /** Possible grants, narrowest first; empty if none may be saved. */
  readonly suggestions: readonly Suggestion[]
  /** The host's session id, if any. */
  readonly session?: string
  /** The hash of the exact call, which can be approved once. */
  readonly once?: string
  readonly time: number
  /** Until when the call may be retried once, or is refused with the message. */
  readonly answeredUntil?: number
  /** The person's message instead of a yes; empty for a plain no. */
  readonly message?: string
  /** Set while the process that asked is waiting. */
  readonly waiting?: WaitingAsk
}

/** The waiting process, and the first answer. */
export interface WaitingAsk {
  readonly pid: number
  readonly started: string | null
  readonly answer?: GivenAnswer
  /** Whether masked text can be shown, or a person asked for it. */
  readonly show?: 'possible' | 'wanted'
}

/** An answer from elsewhere, with a suggestion's number: only the asker knows the grant. */
export interface GivenAnswer {
  readonly kind: AnswerKind
  readonly choice?: number
  readonly seconds?: number
  readonly message?: string
  /** `page`, `link`, `approvals`, or the waiting process's own prompter. */
  readonly by: string
}

/** Its name in the state directory. */
export const ASKS_FILE = 'asks.json'

interface AskFile {
  readonly version: 3
  readonly asks: readonly OpenAsk[]
}

const MAX_ASKS = 50
/** Kept questions of one project: an agent that asks a lot must not push away what others ask. */
const MAX_OF_PROJECT = 20
const KEPT_MS = 24 * 3600 * 1000

/** Open asks of the last day, newest last. */
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
 * Stores an ask and returns its id, or null if only the manifest can allow it. Ids are random: an
 * id derived from the agent's words could collide, and a yes to one call would allow another. An
 * identical open ask keeps its id.
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
    const others = asks.filter((other) => !isSameCall(other, ask))
    const own = others.filter((other) => other.project === ask.project && isUnanswered(other))
    const over = new Set(own.slice(0, Math.max(0, own.length - MAX_OF_PROJECT + 1)))
    return [...others.filter((other) => !over.has(other)), { ...ask, id, time: now }]
  })
  return id
}

/** Keeps a question of an agent for an answer before its next try; null if only the manifest can allow it. */
export function keepRequest(
  machine: Machine,
  place: Pick<OpenAsk, 'host' | 'project' | 'session'>,
  request: ApprovalRequest,
): string | null {
  const { tool, suggestions, once } = request
  const kinds = ANSWERS.map(({ kind }) => kind).filter((kind) => kind !== 'session' || place.session !== undefined)
  const view = withAnswers(askView(request), kinds)
  return keepAsk(machine, { ...place, tool, view, suggestions, once }, Date.now())
}

/** Everything that a person sees of an ask, or that a yes would grant. */
function contentOf({ project, host, tool, view, suggestions, session = '', once = '' }: NewAsk): string {
  // Not the agent's reason, which changes with every try.
  return hashOf([
    project,
    host,
    tool,
    session,
    once,
    canonicalJson({ view: { ...view, said: undefined }, suggestions }),
  ])
}

function isUnanswered({ answeredUntil, waiting }: OpenAsk): boolean {
  return answeredUntil === undefined && waiting === undefined
}

function isSameCall({ waiting, ...other }: OpenAsk, { project, tool, view, once }: NewAsk): boolean {
  const same = other.project === project && other.tool === tool && other.view.call === view.call && other.once === once
  return same && waiting === undefined
}

export type NewAsk = Omit<OpenAsk, 'id' | 'time' | 'answeredUntil' | 'message' | 'waiting'>

/** Allows the exact call on its next try, or refuses it with a message. */
export function answerNext(machine: Machine, { id }: OpenAsk, until: number, message: string | null): void {
  const answer = { answeredUntil: until, ...(message !== null && { message }) }
  changeAsks(machine, (asks) => asks.map((ask) => (ask.id === id ? { ...ask, ...answer } : ask)))
}

/** Takes the answer to this exact call, once, as the approval of the call. */
export function takeApproval(machine: Machine, once: string | undefined, now: number): Approval | null {
  const answer = takeAnswer(machine, { once }, now)
  if (answer === null) return null
  const by = 'approvals'
  if (answer.message === null) return { approved: true, remember: null, by }
  const refusal: Refusal =
    answer.message === ''
      ? { kind: 'declined', message: 'the user said no' }
      : { kind: 'corrected', message: answer.message }
  return { approved: false, refusal, remember: null, by }
}

function takeAnswer(
  machine: Machine,
  { once }: Pick<NewAsk, 'once'>,
  now: number,
): { readonly message: string | null } | null {
  if (once === undefined) return null
  const isAnswered = (ask: OpenAsk): boolean => ask.once === once && ask.answeredUntil !== undefined
  if (!readAsks(machine).some(isAnswered)) return null
  let taken: { readonly message: string | null } | null = null
  changeAsks(machine, (asks) => {
    const found = asks.filter((ask) => isAnswered(ask) && ask.answeredUntil! > now)
    // A no beats a yes.
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

/** All asks, answered or not. */
export function readAsks(machine: Machine): readonly OpenAsk[] {
  const file = readOwnJson(join(openOwnDirectory(machine.stateDir), ASKS_FILE), isAskFile)
  return file?.version === 3 ? file.asks : []
}

/** Changes the file under a lock. */
export function changeAsks(machine: Machine, how: (asks: readonly OpenAsk[]) => readonly OpenAsk[]): void {
  const directory = openOwnDirectory(machine.stateDir)
  withLock(join(directory, 'asks.lock'), () => {
    const asks = how(readAsks(machine)).slice(-MAX_ASKS)
    writeOwnJson(join(directory, ASKS_FILE), { version: 3, asks } satisfies AskFile)
  })
}

/** Written by an earlier version: without a worst case, so it is asked again. */
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
