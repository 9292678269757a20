/** A waiting question in the file: posted, answered by the first, withdrawn. */

import { randomBytes } from 'node:crypto'
import { ANSWERS } from '../approval/ask-view.ts'
import type { Machine } from '../system/machine.ts'
import { isSameProcess, startOf } from '../system/processes.ts'
import { changeAsks, type GivenAnswer, type OpenAsk, readAsks } from './asks.ts'

/** Answered questions stay for a while, so that a later answer can be reported. */
const REMEMBERED_MS = 10 * 60_000

/** Posts a question of this process and returns its id. */
export function postAsk(
  machine: Machine,
  { shows = false, ...ask }: Pick<OpenAsk, 'project' | 'host' | 'tool' | 'view'> & { shows?: boolean },
  now: number,
): string {
  const id = randomBytes(5).toString('hex')
  const waiting = { pid: process.pid, started: startOf(process.pid), ...(shows && { show: 'possible' as const }) }
  const posted: OpenAsk = { ...ask, id, time: now, suggestions: [], waiting }
  changeAsks(machine, (asks) => [...asks.filter((other) => !isOver(other, now)), posted])
  return id
}

/** Answers a waiting question. Returns null if it counts, otherwise why not. */
export function answerWaiting(machine: Machine, id: string, answer: GivenAnswer): string | null {
  let why: string | null = 'that question is closed: the call no longer waits for an answer'
  changeAsks(machine, (asks) =>
    asks.map((ask) => {
      if (ask.id !== id || ask.waiting === undefined) return ask
      const { waiting } = ask
      if (waiting.answer) why = `it was answered already: ${answerText(waiting.answer)}`
      if (waiting.answer || !isSameProcess(waiting.pid, waiting.started)) return ask
      why = null
      return { ...ask, waiting: { ...waiting, answer } }
    }),
  )
  return why
}

/** Asks the waiting process to unmask its question; false if it cannot. */
export function requestUnmasking(machine: Machine, id: string): boolean {
  return changeShown(machine, id, 'possible', (ask) => ({ ...ask, waiting: { ...ask.waiting!, show: 'wanted' } }))
}

/** Whether unmasking was requested. */
export function isUnmaskingRequested(machine: Machine, id: string): boolean {
  return readAsks(machine).some((ask) => ask.id === id && ask.waiting?.show === 'wanted')
}

/** Unmasks a question on request. */
export function unmaskAsk(machine: Machine, id: string, view: OpenAsk['view']): void {
  changeShown(machine, id, 'wanted', (ask) => {
    const { show: _, ...waiting } = ask.waiting!
    return { ...ask, view, waiting }
  })
}

function changeShown(
  machine: Machine,
  id: string,
  from: 'possible' | 'wanted',
  how: (ask: OpenAsk) => OpenAsk,
): boolean {
  let changed = false
  changeAsks(machine, (asks) =>
    asks.map((ask) => {
      if (ask.id !== id || ask.waiting?.show !== from) return ask
      changed = true
      return how(ask)
    }),
  )
  return changed
}

/** The accepted answer, or null. */
export function acceptedAnswer(machine: Machine, id: string): GivenAnswer | null {
  return readAsks(machine).find((ask) => ask.id === id)?.waiting?.answer ?? null
}

/** Withdraws an unanswered question. */
export function withdrawAsk(machine: Machine, id: string): void {
  changeAsks(machine, (asks) => asks.filter((ask) => ask.id !== id || ask.waiting?.answer !== undefined))
}

/** What was answered and where, for the one who came second. */
export function answerText({ kind, by }: GivenAnswer): string {
  const label = ANSWERS.find((row) => row.kind === kind)?.label ?? 'no'
  const where = {
    page: 'on the page',
    link: 'by a link',
    approvals: 'with cordon approvals',
    terminal: 'at the terminal',
  }
  return `“${label}”, ${where[by as keyof typeof where] ?? `by ${by}`}`
}

function isOver({ waiting, time }: OpenAsk, now: number): boolean {
  if (waiting === undefined) return false
  return waiting.answer ? time < now - REMEMBERED_MS : !isSameProcess(waiting.pid, waiting.started)
}
