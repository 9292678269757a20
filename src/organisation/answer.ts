/** Answers asks of the fleet: lists those that wait, signs an answer with this machine's key, and hands it in. */

import { type AskView, parseAskView, withAnswers } from '../approval/ask-view.ts'
import type { Answer } from '../approval/prompter.ts'
import {
  approversFor,
  askHash,
  type FleetAsk,
  peopleNeeded,
  type SignedAsk,
  settleAsk,
  signAnswer,
  verifyAnswer,
  verifyAsk,
} from '../fleet/ask.ts'
import type { Bundle } from '../fleet/bundle.ts'
import { storedBundle } from '../fleet/bundle-store.ts'
import { type Enrolment, machineKey } from '../fleet/identity.ts'
import type { FleetBus } from '../fleet/nats/bus.ts'
import { type Person, parsePeople } from '../fleet/people.ts'
import type { FleetSettings } from '../fleet/settings.ts'
import { askElsewhere } from '../questions/shared-prompter.ts'
import { Fault, messageOf } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import { keyId } from '../system/keys/signing-key.ts'
import type { Machine } from '../system/machine.ts'
import { pause } from '../system/timing.ts'
import { openBus } from './connection.ts'

/** An ask of a machine of the fleet that still waits. */
export interface WaitingAsk {
  readonly ask: FleetAsk
  /** The question, as every surface shows it. */
  readonly view: AskView
  readonly signed: SignedAsk
  readonly enrolment: Enrolment
  /** How many people have to say yes, and how many more of them. */
  readonly people: number
  readonly missing: number
}

/** The asks that this machine may answer and that nothing has settled yet. */
export async function waitingAsks(
  settings: FleetSettings,
  machine: Machine,
  bus: FleetBus,
): Promise<readonly WaitingAsk[]> {
  const { readAsks } = await import('../fleet/nats/admin.ts')
  const policy = storedBundle(machine.stateDir, settings)
  if (policy === null) return []
  const { bundle } = policy
  const own = machineKey(openKeyStore(machine.stateDir)).key.publicKey
  const now = Date.now()
  const signIns = { people: await peopleOf(bundle, bus), now }
  const team = { fleet: settings.fleet, keys: policy.team }
  const waiting: WaitingAsk[] = []
  for (const text of await readAsks(bus, now)) {
    const found = verifyAsk(text, team, bundle.revoked)
    if (found === null || Date.parse(found.ask.deadline) < now) continue
    const { ask, signed, enrolment } = found
    const view = parseAskView(ask.view)
    if (view === null || view.tool !== ask.tool || view.call !== ask.call) continue
    const approvers = approversFor(bundle, ask.machine, enrolment.groups, signIns)
    if (!approvers.some(({ key }) => key === own)) continue
    const answers = await Promise.all(approvers.map(({ key }) => bus.readAnswer(ask.machine, ask.id, key)))
    const given = answers.filter((answer) => answer !== null)
    const facts = { payload: signed.payload, ask, groups: enrolment.groups, bundle, ...signIns }
    const settlement = settleAsk(facts, given)
    if (settlement.settled !== null) continue
    const people = peopleNeeded(bundle, ask.tool, enrolment.groups)
    waiting.push({ ask, view, signed, enrolment, people, missing: settlement.missing })
  }
  return waiting.sort((a, b) => (a.ask.asked < b.ask.asked ? -1 : 1))
}

/** Who signed in, where the policy names a provider for that. */
export async function peopleOf({ identity }: Bundle, bus: FleetBus): Promise<readonly Person[]> {
  return identity === undefined ? [] : parsePeople(await bus.readPeople())
}

/** Answers one of them. A second answer of the same key is refused by the servers, whatever it says. */
export async function answerAsk(
  settings: FleetSettings,
  machine: Machine,
  bus: FleetBus,
  { ask, signed }: Pick<WaitingAsk, 'ask' | 'signed'>,
  verdict: 'yes' | 'no',
  message: string | null = null,
): Promise<void> {
  const { publishAnswer } = await import('../fleet/nats/admin.ts')
  const { key } = machineKey(openKeyStore(machine.stateDir))
  const time = new Date().toISOString()
  const answer = signAnswer(signed, settings.fleet, { verdict, message, time }, key)
  await publishAnswer(bus, keyId(ask.machine), ask.id, keyId(key.publicKey), JSON.stringify(answer))
}

/**
 * Passes on answers from programs, such as a chat bot: each is signed by the process that gave it,
 * so the relay cannot change it.
 */
export function answerRelay(settings: FleetSettings, machine: Machine): (body: string) => Promise<void> {
  return async (body) => {
    const { answer, ask } = JSON.parse(body) as { answer?: unknown; ask?: unknown }
    const { publishAnswer, readAsks } = await import('../fleet/nats/admin.ts')
    const bus = await openBus(settings, machine)
    try {
      const policy = storedBundle(machine.stateDir, settings)
      const team = { fleet: settings.fleet, keys: policy?.team ?? settings.keys }
      const asks = (await readAsks(bus, Date.now())).map((text) => verifyAsk(text, team, policy?.bundle.revoked ?? []))
      const found = asks.find((one) => one?.ask.id === ask)
      const text = JSON.stringify(answer)
      // Checked first: an invalid answer would take the one slot of its sender.
      const given = found ? verifyAnswer(text, found.ask, askHash(found.signed.payload)) : null
      if (!found || !given) throw new Fault('not-found', 'that does not answer an open question')
      await publishAnswer(bus, keyId(found.ask.machine), found.ask.id, keyId(given.by), text)
    } finally {
      await bus.close()
    }
  }
}

/** Puts asks of the fleet where questions of this machine are answered: on the page, by a link, by `cordon approvals`. */
const LOOK_MS = 1000

/** Runs until the signal; `heard` gets every ask that was answered here, or the reason why not. */
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
