/** Puts asks of this machine to the fleet, and waits for the people who may answer them. */

import { maskedRequest } from '../../approval/masked-request.ts'
import type { Answer, ApprovalRequest, Prompter } from '../../approval/prompter.ts'
import { approversFor, type FleetAsk, newAskId, settleAsk, signAsk } from '../../fleet/ask.ts'
import { fleetDirectory, storedBundle } from '../../fleet/bundle-store.ts'
import { machineKey, readCertificate, verifyCertificate } from '../../fleet/identity.ts'
import type { FleetBus } from '../../fleet/nats/bus.ts'
import { type FleetSettings, readFleetSettings } from '../../fleet/settings.ts'
import { Fault } from '../../system/fault.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import type { Machine } from '../../system/machine.ts'
import { openBus } from './connection.ts'

/** A prompter whose person is the fleet; null where this machine is in none that answers asks. */
export function fleetPrompter(machine: Machine, project: string): Prompter | null {
  const settings = readFleetSettings(machine)
  if (settings?.asks === null || settings === null) return null
  return {
    name: 'fleet',
    ask: (request, signal) => askFleet(settings, machine, { project, request, signal }),
  }
}

export interface FleetQuestion {
  readonly project: string
  readonly request: ApprovalRequest
  readonly signal: AbortSignal
}

/** Asks, on a connection of its own; whatever fails is no answer, and with that a no. */
export async function askFleet(
  settings: FleetSettings,
  machine: Machine,
  question: FleetQuestion,
  open: () => Promise<FleetBus> = () => openBus(settings, machine),
): Promise<Answer> {
  const policy = storedBundle(machine.stateDir, settings)
  const certificate = readCertificate(fleetDirectory(machine.stateDir))
  const enrolment = certificate && verifyCertificate(certificate, settings, policy?.bundle.revoked)
  if (!policy || !enrolment || !certificate)
    throw new Fault('no-fleet', 'this machine is not enrolled, so the fleet cannot be asked')
  const { key } = machineKey(openKeyStore(machine.stateDir))
  const masked = maskedRequest(question.request)
  const seconds = settings.asks ?? 0
  const asked = Date.now()
  const ask: FleetAsk = {
    fleet: settings.fleet,
    id: newAskId(),
    machine: key.publicKey,
    tool: masked.tool,
    subject: masked.subject.slice(0, MAX_TEXT),
    why: masked.asks
      .map((part) => part.reason.message)
      .join(' ')
      .slice(0, MAX_TEXT),
    project: question.project,
    asked: new Date(asked).toISOString(),
    deadline: new Date(asked + seconds * 1000).toISOString(),
  }
  const signed = signAsk(ask, key, certificate)
  const bus = await open()
  try {
    await putAsk(bus, ask, JSON.stringify(signed), question.signal)
    return await answerOf(
      bus,
      machine,
      settings,
      { ask, payload: signed.payload, groups: enrolment.groups },
      question.signal,
    )
  } finally {
    await bus.close()
  }
}

/** Puts the ask there, however often it takes: it has a name, and is one ask. After the deadline nobody need answer. */
async function putAsk(bus: FleetBus, ask: FleetAsk, text: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await bus.publishAsk(ask.id, text)
    } catch (error) {
      if (Date.now() > Date.parse(ask.deadline)) throw error
      await pause(AGAIN_MS, signal)
    }
  }
}

const AGAIN_MS = 200
const MAX_TEXT = 4000
/** A lost notice costs as much. */
const LOOK_MS = 1000

interface Waiting {
  readonly ask: FleetAsk
  readonly payload: string
  readonly groups: readonly string[]
}

async function answerOf(
  bus: FleetBus,
  machine: Machine,
  settings: FleetSettings,
  { ask, payload, groups }: Waiting,
  signal: AbortSignal,
): Promise<Answer> {
  let wake: () => void = () => {}
  const stop = bus.onAnswer(ask.id, () => wake())
  try {
    for (;;) {
      signal.throwIfAborted()
      // Read anew: a key that was taken back meanwhile counts no more.
      const bundle = storedBundle(machine.stateDir, settings)?.bundle
      if (!bundle) throw new Fault('fleet-policy', 'the policy that says who may answer is gone')
      const heard = new Promise<void>((resolve) => {
        wake = resolve
      })
      const approvers = approversFor(bundle, ask.machine, groups)
      const answers = await Promise.all(approvers.map(({ key }) => read(bus, ask, key)))
      const settlement = settleAsk(
        { payload, ask, groups, bundle, now: Date.now() },
        answers.filter((text) => text !== null),
      )
      if (settlement.settled === 'yes') return { kind: 'once' }
      if (settlement.settled === 'no') {
        const { by, message } = settlement
        if (by === 'deadline') throw new Fault('fleet-unreachable', message ?? 'nobody answered')
        return message === null ? { kind: 'deny' } : { kind: 'deny-message', message }
      }
      await Promise.race([heard, pause(LOOK_MS, signal)])
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

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
