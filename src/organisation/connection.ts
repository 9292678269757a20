/** The machine's connection to its fleet's NATS servers, and joining the fleet. */

import { createServer, type IncomingMessage, type Server } from 'node:http'
import { fleetDirectory } from '../fleet/bundle-store.ts'
import { fleetHttp } from '../fleet/http.ts'
import {
  type Certificate,
  codeProof,
  isProof,
  machineKey,
  parseCode,
  readEnrolment,
  verifyCertificate,
} from '../fleet/identity.ts'
import type { FleetBus } from '../fleet/nats/bus.ts'
import { type FleetSettings, isSecureUrl, parseFleetSettings } from '../fleet/settings.ts'
import { Fault } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory } from '../system/state.ts'
import { type JoinAnswer, type JoinRequest, joinFleet, joinText, type Team } from './team.ts'

/** Connects as the machine that was enrolled here. */
export async function openBus(settings: FleetSettings, machine: Machine): Promise<FleetBus> {
  if (settings.nats === null) throw new Fault('fleet-settings', 'this fleet has no NATS servers')
  const enrolment = readEnrolment(fleetDirectory(machine.stateDir), settings)
  const { key, secret } = machineKey(openKeyStore(machine.stateDir))
  if (enrolment === null || enrolment.nats === null || enrolment.machine !== key.publicKey)
    throw new Fault('no-fleet', 'this machine is not enrolled with the NATS servers of its fleet', {
      remedy: 'Join with a code of the team: cordon fleet join URL CODE.',
    })
  const { connectBus } = await import('../fleet/nats/bus.ts')
  return connectBus({
    fleet: settings.fleet,
    servers: settings.nats.servers,
    tls: settings.tls,
    machine: enrolment.machine,
    name: enrolment.name,
    token: enrolment.nats,
    secret,
  })
}

/** One connection for everything that this process does with the servers; opened when it is needed. */
export interface BusHolder {
  open(): Promise<FleetBus>
  close(): Promise<void>
}

export function holdBus(settings: FleetSettings, machine: Machine): BusHolder {
  let current: Promise<FleetBus> | null = null
  return {
    async open() {
      const before = await current?.catch(() => null)
      if (!before || before.connection.isClosed()) current = openBus(settings, machine)
      return current!
    },
    async close() {
      const bus = await current?.catch(() => null)
      current = null
      await bus?.close()
    },
  }
}

/** Publishes the fleet's current account to the NATS servers, with every revoked key. */
export async function pushRevocations(team: Team, machine: Machine): Promise<void> {
  const { settings } = team
  if (settings.nats === null) return
  const { account, login } = team.natsAccount(Date.now())
  const { key, secret } = machineKey(openKeyStore(machine.stateDir))
  const { openConnection } = await import('../fleet/nats/bus.ts')
  const { pushAccount } = await import('../fleet/nats/admin.ts')
  const connection = await openConnection({
    fleet: settings.fleet,
    servers: settings.nats.servers,
    tls: settings.tls,
    machine: key.publicKey,
    name: 'cordon fleet revoke',
    token: login,
    secret,
  })
  try {
    await pushAccount(connection, account)
  } finally {
    await connection.close()
  }
}

/** Makes the bucket and the streams of a fleet; see `makeStreams` there. */
export async function makeStreams(bus: FleetBus, replicas: number | null): Promise<void> {
  const admin = await import('../fleet/nats/admin.ts')
  await admin.makeStreams(bus, replicas)
}

/** Joins; returns the new settings. Writes nothing unless every check succeeded. */
export async function joinByCode(machine: Machine, url: string, code: string, name: string): Promise<FleetSettings> {
  const parts = parseCode(code)
  if (parts === null) throw new Fault('bad-key', 'that is not a code of a fleet')
  if (!isSecureUrl(url)) throw new Fault('fleet-settings', `${url} must be an https URL`)
  const { key } = machineKey(openKeyStore(openOwnDirectory(machine.stateDir)))
  const request: JoinRequest = {
    id: parts.id,
    key: key.publicKey,
    name,
    proof: codeProof(parts.secret, 'join', joinText({ key: key.publicKey, name })),
  }
  const { status, text } = await fleetHttp({})({
    url: new URL('/join', url).href,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
  })
  if (status !== 200)
    throw new Fault('no-fleet', `the fleet did not take this machine (${status})`, {
      remedy: 'A code works once and for a limited time: ask the team for a new one.',
    })
  const answer = JSON.parse(text) as JoinAnswer
  // A process that sits in between has no code, and so it cannot put its own settings or keys into the answer.
  if (typeof answer.text !== 'string' || !isProof(answer.proof, codeProof(parts.secret, 'joined', answer.text)))
    throw new Fault('no-fleet', 'the answer does not come from the team that issued the code, so it was ignored')
  const { settings: settingsText, certificate } = JSON.parse(answer.text) as {
    settings: string
    certificate: Certificate
  }
  const settings = parseFleetSettings(settingsText, url)
  if (verifyCertificate(certificate, settings)?.machine !== key.publicKey)
    throw new Fault('no-fleet', 'the certificate is not for this machine')
  joinFleet(machine, settingsText, certificate)
  return settings
}

const MAX_BODY = 64 * 1024

/** What the desk does besides enrolling machines; each returns the status of its answer. */
export interface DeskParts {
  /** Passes an answer to an ask on. */
  readonly relay?: (answer: string) => Promise<void>
  readonly health?: (text: string) => boolean
  readonly signIn?: (person: string) => Promise<boolean>
  /** The overview, as Prometheus reads it. */
  readonly metrics?: () => Promise<string>
}

/** Where machines join and report, and people hand in sign-ins and answers. */
export function serveDesk(team: Team, { relay, health, signIn, metrics }: DeskParts): Server {
  return createServer(async (request, response) => {
    const reply = (status: number, body: object = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    try {
      if (request.method === 'GET' && request.url === '/metrics' && metrics) {
        if (!isFromHere(request)) return reply(404)
        const text = await metrics()
        response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text)
        return
      }
      if (request.method !== 'POST') return reply(405)
      const body = await bodyOf(request)
      if (body === null) return reply(413)
      if (request.url === '/join') {
        const answer = team.enrol(JSON.parse(body) as JoinRequest, Date.now())
        return answer === null ? reply(403) : reply(200, answer)
      }
      if (request.url === '/answers' && relay) {
        await relay(body)
        return reply(202)
      }
      if (request.url === '/health' && health) return reply(health(body) ? 202 : 403)
      if (request.url === '/sign-in' && signIn) return reply((await signIn(body)) ? 202 : 403)
      return reply(404)
    } catch {
      return reply(400)
    }
  })
}

/** Neither a page whose name resolves to this machine, nor somebody behind the TLS server, reads the figures. */
function isFromHere({ headers }: IncomingMessage): boolean {
  const names = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']
  return /^(?:127\.0\.0\.1|localhost):\d+$/.test(headers.host ?? '') && names.every((name) => !(name in headers))
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > MAX_BODY) return null
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
