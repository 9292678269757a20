/** Sends asks of this machine to the fleet, and waits for the people who may answer them. */

import { askSummary, askText, askView, withAnswers } from '../approval/ask-view.ts'
import type { Answer, ApprovalRequest, Prompter } from '../approval/prompter.ts'
import { approversFor, type FleetAsk, newAskId, type SignedAsk, settleAsk, signAsk } from '../fleet/ask.ts'
import { fleetDirectory, storedBundle } from '../fleet/bundle-store.ts'
import { type Certificate, type Enrolment, machineKey, readCertificate, verifyCertificate } from '../fleet/identity.ts'
import type { FleetBus } from '../fleet/nats/bus.ts'
import { type FleetSettings, readFleetSettings } from '../fleet/settings.ts'
import { Fault } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import type { SigningKey } from '../system/keys/signing-key.ts'
import type { Machine } from '../system/machine.ts'
import { OwnList } from '../system/own-list.ts'
import { pause } from '../system/timing.ts'
import { peopleOf } from './answer.ts'
import { openBus } from './connection.ts'

export interface FleetQuestion {
  readonly project: string
  readonly request: ApprovalRequest
  readonly signal: AbortSignal
  /** How long the asker can wait; the ask itself stays open until its deadline, for when the call is tried again. */
  readonly waitMs?: number
}

/** A prompter that asks the fleet; null if this machine's fleet answers no asks. */
export function fleetPrompter(
  machine: Machine,
  project: string,
  more: Pick<FleetQuestion, 'waitMs'> = {},
): Prompter | null {
  const settings = readFleetSettings(machine)
  if (settings?.asks === null || settings === null) return null
  return {
    name: 'fleet',
    ask: (request, signal) => askFleet(settings, machine, { project, request, signal, ...more }),
  }
}

/** Asks, on its own connection; whatever fails is not an answer, and with that a no. */
export async function askFleet(
  settings: FleetSettings,
  machine: Machine,
  question: FleetQuestion,
  open: () => Promise<FleetBus> = () => openBus(settings, machine),
): Promise<Answer> {
  const self = asker(settings, machine)
  const pending = pendingAsk(machine, question.request.call, Date.now(), () => newAsk(settings, self, question))
  const { ask, signed } = pending
  const until = Math.min(Date.parse(ask.deadline), Date.now() + (question.waitMs ?? Number.POSITIVE_INFINITY))
  const { signal } = question
  let bus: FleetBus
  try {
    bus = await again(until, signal, open)
  } catch (error) {
    if (signal.aborted) takePending(machine, pending)
    throw error
  }
  try {
    // However often it takes, and by whichever call: it has a name, and is one ask.
    await again(until, signal, () => bus.publishAsk(ask.id, JSON.stringify(signed)))
    return await answerOf(bus, machine, settings, { pending, groups: self.enrolment.groups, until }, signal)
  } finally {
    // A call that was cancelled asks nothing any more: no later call takes the answer to it.
    if (signal.aborted && takePending(machine, pending)) await bus.withdrawAsk(ask.id).catch(() => {})
    await bus.close()
  }
}

interface Asker {
  readonly enrolment: Enrolment
  readonly certificate: Certificate
  readonly key: SigningKey
}

function asker(settings: FleetSettings, machine: Machine): Asker {
  const policy = storedBundle(machine.stateDir, settings)
  const certificate = readCertificate(fleetDirectory(machine.stateDir))
  const enrolment = certificate && verifyCertificate(certificate, settings, policy?.bundle.revoked)
  const { key } = machineKey(openKeyStore(machine.stateDir))
  if (!policy || !enrolment || enrolment.machine !== key.publicKey)
    throw new Fault('no-fleet', 'this machine is not enrolled, so the fleet cannot be asked')
  return { enrolment, certificate, key }
}

function newAsk(settings: FleetSettings, { key, certificate }: Asker, { project, request }: FleetQuestion): PendingAsk {
  const view = withAnswers(askView(request), ['once', 'deny', 'deny-message'])
  const { tool, subject, where, call } = view
  // Nobody may approve a truncated call.
  const size = askText(view, { whole: true }).length
  if (size > MAX_TEXT || view.fields.some(({ hidden }) => hidden > 0))
    throw new Fault('fleet-unreachable', `the call is too long to send to the fleet (over ${MAX_TEXT} characters)`)
  const asked = Date.now()
  const deadline = asked + (settings.asks ?? 0) * 1000
  const ask: FleetAsk = {
    fleet: settings.fleet,
    id: newAskId(deadline),
    machine: key.publicKey,
    tool,
    subject,
    why: askSummary(view, MAX_TEXT),
    view,
    call,
    project: where === null ? project : `${where} (of ${project})`,
    asked: new Date(asked).toISOString(),
    deadline: new Date(deadline).toISOString(),
  }
  return { call, ask, signed: signAsk(ask, key, certificate) }
}

/** Retries what servers under load or without a leader refuse, up to a time limit. */
async function again<T>(until: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      if (isFinal(error) || Date.now() > until) throw error
      await pause(AGAIN_MS, signal)
    }
  }
}

/** What no further try changes: this machine is not enrolled, or its settings or key are damaged. */
function isFinal(error: unknown): boolean {
  return error instanceof Fault && error.code !== 'fleet-unreachable'
}

const AGAIN_MS = 200
const MAX_TEXT = 64 * 1024
/** A lost notice costs as much. */
const LOOK_MS = 1000

interface Waiting {
  readonly pending: PendingAsk
  readonly groups: readonly string[]
  readonly until: number
}

async function answerOf(
  bus: FleetBus,
  machine: Machine,
  settings: FleetSettings,
  { pending, groups, until }: Waiting,
  signal: AbortSignal,
): Promise<Answer> {
  const { ask, signed } = pending
  let wake: () => void = () => {}
  const stop = bus.onAnswer(ask.id, () => wake())
  try {
    for (;;) {
      signal.throwIfAborted()
      // Read again: a key that was revoked meanwhile no longer counts.
      const bundle = storedBundle(machine.stateDir, settings)?.bundle
      if (!bundle) throw new Fault('fleet-policy', 'the policy that says who may answer is gone')
      const heard = new Promise<void>((resolve) => {
        wake = resolve
      })
      const people = await peopleOf(bundle, bus)
      const approvers = approversFor(bundle, ask.machine, groups, { people, now: Date.now() })
      const answers = await Promise.all(approvers.map(({ key }) => read(bus, ask, key)))
      const settlement = settleAsk(
        { payload: signed.payload, ask, groups, bundle, people, now: Date.now() },
        answers.filter((text) => text !== null),
      )
      if (settlement.settled !== null) {
        const taken = takePending(machine, pending)
        if (settlement.settled === 'yes') {
          if (taken) return { kind: 'once', by: `fleet (${settlement.by.join(', ')})` }
          throw new Fault('fleet-unreachable', 'the yes of the fleet was for one call, and another one has taken it')
        }
        const { by, message } = settlement
        if (by === 'deadline') throw new Fault('fleet-unreachable', message ?? 'nobody answered')
        return { by: `fleet (${by})`, ...(message === null ? { kind: 'deny' } : { kind: 'deny-message', message }) }
      }
      if (Date.now() >= until)
        throw new Fault(
          'fleet-unreachable',
          `the fleet was asked (${ask.id}) and has not answered yet: try the very same call again before ${ask.deadline}`,
        )
      await Promise.race([heard, pause(Math.min(LOOK_MS, Math.max(1, until - Date.now())), signal)])
    }
  } finally {
    stop()
  }
}

/** A server that does not answer now may do so at the next look, until the deadline. */
async function read(bus: FleetBus, ask: FleetAsk, approver: FleetAsk['machine']): Promise<string | null> {
  try {
    return await bus.readAnswer(ask.machine, ask.id, approver)
  } catch {
    return null
  }
}

/** Asks of this machine that are with the fleet: a call that is tried again waits on for the answer to the same ask. */
interface PendingAsk {
  /** The hash of the very call. */
  readonly call: string
  readonly ask: FleetAsk
  readonly signed: SignedAsk
}

const MAX_PENDING = 100

/** The open ask of a call, or a new one from `make`. */
function pendingAsk(machine: Machine, call: string, now: number, make: () => PendingAsk): PendingAsk {
  let found: PendingAsk | undefined
  change(machine, (asks) => {
    const open = asks.filter(({ ask }) => Date.parse(ask.deadline) > now)
    found = open.find((one) => one.call === call)
    if (found) return open
    found = make()
    return [...open, found].slice(-MAX_PENDING)
  })
  return found!
}

/** Takes an ask that is settled; false when somebody else has: an answer is for one call, however many waited for it. */
function takePending(machine: Machine, { ask }: PendingAsk): boolean {
  let taken = false
  change(machine, (asks) => {
    const left = asks.filter((one) => one.ask.id !== ask.id)
    taken = left.length < asks.length
    return left
  })
  return taken
}

function change(machine: Machine, how: (asks: readonly PendingAsk[]) => readonly PendingAsk[]): void {
  PENDING.change(fleetDirectory(machine.stateDir), how)
}

function isPending(value: unknown): boolean {
  const one = value as Partial<PendingAsk> | null
  return (
    typeof one?.call === 'string' &&
    typeof one.ask?.id === 'string' &&
    typeof one.ask.deadline === 'string' &&
    typeof one.signed?.payload === 'string'
  )
}

const PENDING = new OwnList<PendingAsk>({ file: 'asks.json', lock: 'asks.lock', field: 'asks' }, isPending)
