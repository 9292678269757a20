/** A question that somebody waits for, as it lies in the file: posted, answered by whoever is first, taken back. */

import { randomBytes } from 'node:crypto'
import { ANSWERS } from '../../approval/ask-view.ts'
import { isSameProcess, startOf } from '../../system/alive.ts'
import type { Machine } from '../../system/machine.ts'
import { changeAsks, type GivenAnswer, type OpenAsk, readAsks } from '../hook/asks.ts'

/** Answered questions stay for a moment, so that whoever comes late can be told. */
const REMEMBERED_MS = 10 * 60_000

/** Posts a question of this process; its id. */
export function postAsk(
  machine: Machine,
  ask: Pick<OpenAsk, 'project' | 'host' | 'tool' | 'subject' | 'view'>,
  now: number,
): string {
  const id = randomBytes(5).toString('hex')
  const waiting = { pid: process.pid, started: startOf(process.pid) }
  const posted: OpenAsk = { ...ask, id, time: now, suggestions: [], waiting }
  changeAsks(machine, (asks) => [...asks.filter((other) => !isOver(other, now)), posted])
  return id
}

/** Gives the answer to a question that waits. Null: it stands. Otherwise why not, in a sentence. */
export function answerWaiting(machine: Machine, id: string, answer: GivenAnswer): string | null {
  let why: string | null = 'that question is gone: whoever asked it does not wait any more'
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

/** The answer that stands for a question; null while there is none. */
export function standingAnswer(machine: Machine, id: string): GivenAnswer | null {
  return readAsks(machine).find((ask) => ask.id === id)?.waiting?.answer ?? null
}

/** Takes a question back that nobody answered. */
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
