/** Ships the record of this machine to its fleet: the audit files are the queue, and a cursor for each receiver. */

import { hash } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { parseLine, redactDeep } from '../audit/event.ts'
import { AuditQueue, type QueuedLine } from '../audit/queue.ts'
import { fleetDirectory } from '../fleet/bundle-store.ts'
import { fleetHttp } from '../fleet/http.ts'
import { machineKey, readCertificate, readEnrolment, type Voucher, vouchFor } from '../fleet/identity.ts'
import type { FleetBus } from '../fleet/nats/bus.ts'
import type { FleetSettings } from '../fleet/settings.ts'
import { otlpSink } from '../fleet/ship/otlp.ts'
import {
  piecesOf,
  type RecordQueue,
  type RecordSink,
  recordId,
  type Shipment,
  type ShipOptions,
  type ShippedRecord,
  ship,
} from '../fleet/ship/record.ts'
import { userPublicKey } from '../manifest/sign/sign.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import { Fault, messageOf } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import { keyId } from '../system/keys/signing-key.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory } from '../system/state.ts'
import { version } from '../system/version.ts'
import { type BusHolder, holdBus } from './connection.ts'
import { metricsOf } from './machine-health.ts'

/** Ships to every receiver of the fleet; a receiver that is down delays no other. */
export async function shipRecords(
  settings: FleetSettings,
  machine: Machine,
  signal: AbortSignal,
  options: Omit<ShipOptions, 'signal'> = {},
  bus: BusHolder | null = null,
): Promise<readonly Shipment[]> {
  const directory = fleetDirectory(machine.stateDir)
  const { records } = settings
  const shipped: Promise<Shipment>[] = []
  const to = async (sink: RecordSink, cursor: string): Promise<Shipment> =>
    ship(recordQueue(machine, join(directory, cursor), voucherFor(machine)), sink, { ...options, signal })
  if (records.otlp !== null) shipped.push(to(otlpOf(settings, machine), 'cursor-otlp.json'))
  if (records.nats) shipped.push(throughBus(settings, machine, bus, (sink) => to(sink, 'cursor-nats.json')))
  return Promise.all(shipped)
}

async function throughBus(
  settings: FleetSettings,
  machine: Machine,
  given: BusHolder | null,
  work: (sink: RecordSink) => Promise<Shipment>,
): Promise<Shipment> {
  const holder = given ?? holdBus(settings, machine)
  let bus: FleetBus
  try {
    bus = await holder.open()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return { sink: 'NATS', sent: 0, rejected: [], problem: messageOf(error) }
  }
  try {
    return await work(natsSink(bus, machineName(settings, machine)))
  } finally {
    if (given === null) await holder.close()
  }
}

/** The sink of JetStream: the servers recognise duplicates by the record's name. */
export function natsSink(bus: FleetBus, machine: string): RecordSink {
  return {
    name: 'NATS',
    send: (records) =>
      bus.publishRecords(
        records.flatMap(piecesOf).map((piece) => ({
          id: bus.secretName(`${recordId(machine, piece)}.${piece.piece?.[0] ?? ''}`),
          session: piece.session,
          data: JSON.stringify(piece),
        })),
      ),
  }
}

function otlpOf(settings: FleetSettings, machine: Machine): RecordSink {
  const enrolment = readEnrolment(fleetDirectory(machine.stateDir), settings)
  return otlpSink({
    endpoint: settings.records.otlp!,
    headers: settings.records.headers,
    http: fleetHttp(settings.tls),
    metrics: () => metricsOf(machine),
    source: {
      fleet: settings.fleet,
      machine: machineName(settings, machine),
      name: enrolment?.name ?? hostname(),
      groups: enrolment?.groups ?? [],
      version,
    },
  })
}

function machineName(settings: FleetSettings, machine: Machine): string {
  const enrolment = readEnrolment(fleetDirectory(machine.stateDir), settings)
  return enrolment === null ? hostname() : keyId(enrolment.machine)
}

/** What goes along with checkpoints: a machine that was enrolled vouches for its person's key, and for no other. */
function voucherFor(machine: Machine): (recordKey: unknown) => Voucher | null {
  const certificate = readCertificate(fleetDirectory(machine.stateDir))
  const own = userPublicKey(machine.stateDir)
  if (certificate === null || own === null) return () => null
  const { key } = machineKey(openKeyStore(openOwnDirectory(machine.stateDir)))
  const voucher = vouchFor(own, certificate, key)
  return (recordKey) => (recordKey === own ? voucher : null)
}

/** The audit files as records that may leave. */
export function recordQueue(
  machine: Pick<Machine, 'stateDir'>,
  cursorFile: string,
  voucher: (recordKey: unknown) => Voucher | null = () => null,
): RecordQueue {
  const queue = new AuditQueue({ stateDir: machine.stateDir, cursor: cursorFile })
  const redactor = createRedactor()
  return {
    next() {
      const batch = queue.next()
      if (batch === null) return null
      return {
        records: batch.lines.map((line) => {
          const record = leaving(line, (text) => redactor.redact(text))
          const event = parseLine(line.text)
          const vouched = event?.type === 'checkpoint' ? voucher(event.key) : null
          return vouched === null ? record : { ...record, voucher: vouched }
        }),
        // Two that ship at once would each put the other's cursor back; both would send all, and none would be lost.
        confirm: () => withLock(`${cursorFile}.lock`, () => batch.confirm()),
      }
    },
  }
}

/** What identifies a line and its place in the chain: no secret, though it looks like one. */
const KEPT = ['v', 'seq', 'time', 'session', 'type', 'prev', 'args_hash', 'value_hash', 'call', 'key', 'signature']

/**
 * A line was redacted when written, and is redacted again with today's knowledge. If that finds a
 * secret, the line leaves without it, with the hash to which the next line is chained.
 */
function leaving({ session, part, offset, text }: QueuedLine, redact: (text: string) => string): ShippedRecord {
  const place = { session, part, offset }
  if (redact(text) === text) return { ...place, text }
  const line = parseLine(text)
  if (line === null) return { ...place, text: redact(text), hash: hash('sha256', text) }
  const isOwn = (name: string): boolean =>
    KEPT.includes(name) && (line.type === 'checkpoint' || (name !== 'key' && name !== 'signature'))
  const clean = Object.fromEntries(
    Object.entries(line).map(([name, value]) => [name, isOwn(name) ? value : redactDeep(value, redact)]),
  )
  const cleaned = JSON.stringify(clean)
  return cleaned === JSON.stringify(line) ? { ...place, text } : { ...place, text: cleaned, hash: hash('sha256', text) }
}
