/** The questions that can be answered from elsewhere, in one file: those of processes that wait, and those that nobody could be asked. */

import { createHash } from 'node:crypto'
import { join, posix } from 'node:path'
import type { Answer, ApprovalRequest } from '../../approval/prompter.ts'
import { type Suggestion, suggestGrants } from '../../approval/suggestion.ts'
import { isSameProcess } from '../../system/alive.ts'
import { canonicalJson } from '../../system/canonical-json.ts'
import { machineFiles } from '../../system/files.ts'
import { withLock } from '../../system/lock.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../../system/state.ts'
import type { HookJudgement } from '../hook/judge.ts'
import { openSavedGrants } from '../policy/saved-grants.ts'

export interface OpenAsk {
  readonly id: string
  readonly project: string
  readonly host: string
  readonly tool: string
  readonly subject: string
  readonly reason: string
  /** What could be granted, from the narrowest on; empty when no grant may be saved for it. */
  readonly suggestions: readonly Suggestion[]
  /** The hash of the very call, which can be allowed once. */
  readonly once?: string
  readonly time: number
  /** Until when the call may be tried once; there only when the person allowed that. */
  readonly allowedUntil?: number
  /** Of a question whose asker waits right now. */
  readonly waiting?: WaitingAsk
}

/** Who waits, with the question as it may be shown. */
export interface WaitingAsk {
  readonly pid: number
  readonly started: string | null
  /** Secrets in it are masked. */
  readonly request: Pick<ApprovalRequest, 'tool' | 'subject' | 'where' | 'asks' | 'suggestions'>
  /** The answer that stands: the first one. */
  readonly answer?: GivenAnswer
}

/** An answer from elsewhere. What it would save is named by its number: the asker knows what it stands for. */
export interface GivenAnswer {
  readonly kind: Answer['kind']
  readonly choice?: number
  readonly seconds?: number
  readonly message?: string
  /** `page`, `link`, `terminal`. */
  readonly by: string
}

interface AskFile {
  readonly version: 1
  readonly asks: readonly OpenAsk[]
}

/** Its name in the state directory, for those who watch it. */
export const ASKS_FILE = 'asks.json'

const MAX_ASKS = 50
const KEPT_MS = 24 * 3600 * 1000

/** The asks of the last day that nobody answered and whose asker is not gone, the newest last. */
export function openAsks(machine: Machine, now: number): readonly OpenAsk[] {
  return readAsks(machine).filter(
    ({ time, allowedUntil, waiting }) =>
      time > now - KEPT_MS && allowedUntil === undefined && (waiting === undefined || isOpen(waiting)),
  )
}

/** Whether somebody still waits for it. */
function isOpen({ pid, started, answer }: WaitingAsk): boolean {
  return answer === undefined && isSameProcess(pid, started)
}

/** Keeps an ask and gives its id, the same for the same ask; null when only the manifest can allow it. */
export function keepAsk(machine: Machine, ask: NewAsk, now: number): string | null {
  if (ask.suggestions.length === 0 && ask.once === undefined) return null
  const id = hashOf([ask.project, ask.tool, ask.subject, ...(ask.once === undefined ? [] : [ask.once])]).slice(0, 6)
  changeAsks(machine, (asks) => [...asks.filter((other) => other.id !== id), { ...ask, id, time: now }])
  return id
}

type NewAsk = Omit<OpenAsk, 'id' | 'time' | 'allowedUntil' | 'waiting'>

/** The ask of a hook's judgement, with what could be granted; `cwd` is where the call would run. */
export function askOf(
  machine: Machine,
  host: string,
  { root: project, cwd }: { readonly root: string; readonly cwd: string },
  judgement: HookJudgement,
): NewAsk {
  const { subject, decision, facts, call } = judgement
  const resolve = (given: string): string => machineFiles.canonical(posix.resolve(project, given))
  const places = { root: project, home: machine.home, resolve }
  const asked = {
    host,
    project,
    subject,
    tool: call.kind === 'search' ? 'grep' : call.tool,
    reason: decision.reason.message,
  }
  // Of a tool that is not known the input is not known either: a yes would be for anything.
  if (call.kind !== 'tool') return { ...asked, suggestions: [] }
  const suggestions = suggestGrants(decision, facts, places)
  const input = call.tool === 'bash' ? { command: call.input.command } : call.input
  return { ...asked, suggestions, once: hashOf([host, project, cwd, call.tool, canonicalJson(input)]) }
}

/** Allows the very call of an ask, the next time it is tried. */
export function allowOnce(machine: Machine, { id }: OpenAsk, minutes: number, now: number): void {
  changeAsks(machine, (asks) =>
    asks.map((ask) => (ask.id === id ? { ...ask, allowedUntil: now + minutes * 60_000 } : ask)),
  )
}

/** Whether this very call was allowed once; it is not any more afterwards. */
export function takeOnce(machine: Machine, { once }: NewAsk, now: number): boolean {
  if (once === undefined) return false
  const isAllowed = (ask: OpenAsk): boolean => ask.once === once && ask.allowedUntil !== undefined
  if (!readAsks(machine).some(isAllowed)) return false
  let taken = false
  changeAsks(machine, (asks) => {
    taken = asks.some((ask) => isAllowed(ask) && ask.allowedUntil! > now)
    return asks.filter((ask) => !isAllowed(ask))
  })
  return taken
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
  changeAsks(machine, (asks) => asks.filter((ask) => ask.id !== id))
}

function hashOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** Everything in the file, answered or not. */
export function readAsks(machine: Machine): readonly OpenAsk[] {
  return readOwnJson(join(openOwnDirectory(machine.stateDir), ASKS_FILE), isAskFile)?.asks ?? []
}

/** Changes the file between processes. */
export function changeAsks(machine: Machine, how: (asks: readonly OpenAsk[]) => readonly OpenAsk[]): void {
  const directory = openOwnDirectory(machine.stateDir)
  withLock(join(directory, 'asks.lock'), () => {
    const asks = how(readAsks(machine)).slice(-MAX_ASKS)
    writeOwnJson(join(directory, ASKS_FILE), { version: 1, asks } satisfies AskFile)
  })
}

function isAskFile(value: unknown): value is AskFile {
  if (typeof value !== 'object' || value === null) return false
  const { version, asks } = value as Partial<AskFile>
  return version === 1 && Array.isArray(asks) && asks.every(isAsk)
}

function isWaitingAsk(value: unknown): value is WaitingAsk {
  const waiting = value as Partial<WaitingAsk> | null
  return (
    typeof waiting === 'object' &&
    waiting !== null &&
    typeof waiting.pid === 'number' &&
    (waiting.started === null || typeof waiting.started === 'string') &&
    typeof waiting.request === 'object'
  )
}

function isAsk(value: unknown): value is OpenAsk {
  const ask = value as Partial<OpenAsk> | null
  const texts = ['id', 'project', 'host', 'tool', 'subject', 'reason'] as const
  return (
    typeof ask === 'object' &&
    ask !== null &&
    texts.every((name) => typeof ask[name] === 'string') &&
    Array.isArray(ask.suggestions) &&
    (ask.once === undefined || typeof ask.once === 'string') &&
    (ask.allowedUntil === undefined || typeof ask.allowedUntil === 'number') &&
    (ask.waiting === undefined || isWaitingAsk(ask.waiting)) &&
    typeof ask.time === 'number'
  )
}
