/** Puts asks of the fleet where questions of this machine are answered: on the page, by a link, by `cordon approvals`. */

import { type AskView, withAnswers } from '../approval/ask-view.ts'
import type { Answer } from '../approval/prompter.ts'
import type { FleetBus } from '../fleet/nats/bus.ts'
import type { FleetSettings } from '../fleet/settings.ts'
import { askElsewhere } from '../questions/shared-prompter.ts'
import { messageOf } from '../system/fault.ts'
import type { Machine } from '../system/machine.ts'
import { pause } from '../system/timing.ts'
import { answerAsk, type WaitingAsk, waitingAsks } from './answer.ts'

const LOOK_MS = 1000

/** Goes on until the signal; `heard` is told of every ask that was answered here, or why it could not be. */
export async function followAsks(
  settings: FleetSettings,
  machine: Machine,
  bus: FleetBus,
  signal: AbortSignal,
  heard: (ask: WaitingAsk, outcome: string) => void,
): Promise<void> {
  const open = new Map<string, AbortController>()
  const put = async (waiting: WaitingAsk, settled: AbortSignal): Promise<void> => {
    const { enrolment, ask } = waiting
    const origin = { machine, project: `${enrolment.name}: ${ask.project}`, surface: `fleet ${settings.fleet}` }
    try {
      const answer = await askElsewhere(shownView(waiting), origin, AbortSignal.any([signal, settled]))
      const verdict = answer.kind === 'once' ? 'yes' : 'no'
      await answerAsk(settings, machine, bus, waiting, verdict, messageOfAnswer(answer))
      heard(waiting, verdict)
    } catch (error) {
      if (!signal.aborted && !settled.aborted) heard(waiting, messageOf(error))
    }
  }
  const take = (waiting: readonly WaitingAsk[]): void => {
    for (const one of waiting) {
      if (open.has(one.ask.id)) continue
      const settled = new AbortController()
      open.set(one.ask.id, settled)
      void put(one, settled.signal)
    }
    for (const [id, settled] of open) {
      if (waiting.some(({ ask }) => ask.id === id)) continue
      settled.abort(new Error('it was answered elsewhere, or no longer waiting'))
      open.delete(id)
    }
  }
  while (!signal.aborted) {
    // Servers that do not answer now may do so at the next look.
    const waiting = await waitingAsks(settings, machine, bus).catch(() => null)
    if (waiting !== null) take(waiting)
    await pause(LOOK_MS, signal)
  }
}

/** The question of the machine, with how many people it takes. */
function shownView({ view, people, missing }: WaitingAsk): AskView {
  const once = withAnswers(view, ['once', 'deny', 'deny-message'])
  if (people <= 1) return once
  const message = { text: `${missing} of ${people} people still have to say yes.`, count: 1 }
  const reason = { code: 'level-ask' as const, messages: [message], rule: null, source: null }
  return { ...once, reasons: [...once.reasons, reason] }
}

function messageOfAnswer(answer: Answer): string | null {
  return answer.kind === 'deny-message' ? answer.message : null
}
