/** A question that somebody waits for, as it lies in the file: posted, answered by the process that is first, taken back. */

import { randomBytes } from 'node:crypto'
import { ANSWERS } from '../approval/ask-view.ts'
import { isSameProcess, startOf } from '../system/alive.ts'
import type { Machine } from '../system/machine.ts'
import { changeAsks, type GivenAnswer, type OpenAsk, readAsks } from './asks.ts'

/** Answered questions stay for a moment, so that the process that comes late can be reported. */
const REMEMBERED_MS = 10 * 60_000

/** Posts a question of this process; its id. */
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

/** Gives the answer to a question that waits. Null: it stands. Otherwise why not, in a sentence. */
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

/** Asks the process that waits to show what is masked in its question; false where no one can. */
export function wantShown(machine: Machine, id: string): boolean {
  return changeShown(machine, id, 'possible', (ask) => ({ ...ask, waiting: { ...ask.waiting!, show: 'wanted' } }))
}

/** Whether somebody wants to see what is masked in this question. */
export function isShowWanted(machine: Machine, id: string): boolean {
  return readAsks(machine).some((ask) => ask.id === id && ask.waiting?.show === 'wanted')
}

/** Shows a question with nothing masked, because its person asked for that. */
export function showAsk(machine: Machine, id: string, view: OpenAsk['view']): void {
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

/** The answer that stands for a question; null while there is none. */
export function standingAnswer(machine: Machine, id: string): GivenAnswer | null {
  return readAsks(machine).find((ask) => ask.id === id)?.waiting?.answer ?? null
}

/** Takes a question back that no one answered. */
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
