/**
 * Records at a receiver: read from its storage, ordered, and verified by their chains and
 * checkpoints.
 */

import { parseLine } from '../audit/event.ts'
import { type LinesVerification, verifyLines } from '../audit/verify.ts'
import { fleetDirectory, storedBundle } from '../fleet/bundle-store.ts'
import { type FleetTeam, readEnrolment, voucherOf } from '../fleet/identity.ts'
import { type FleetSettings, readFleetSettings } from '../fleet/settings.ts'
import { joinPieces, type RecordPiece, type ShippedRecord } from '../fleet/ship/record.ts'
import { Fault } from '../system/fault.ts'
import { keyId, type PublicKey, parsePublicKey } from '../system/keys/signing-key.ts'
import type { Machine } from '../system/machine.ts'
import { openBus } from './connection.ts'

/** A record and the machine that sent it. */
export interface ReceivedRecord extends ShippedRecord {
  readonly machine: string
}

/** Reads records from a text of JSON lines: those of JetStream, or OTLP as a collector writes it to files. */
export function readReceived(text: string): readonly ReceivedRecord[] {
  const received = text.split('\n').flatMap((line): readonly ReceivedPiece[] => {
    if (line.trim() === '') return []
    const value = parse(line)
    if (value === null) return []
    if (Array.isArray(value.resourceLogs)) return value.resourceLogs.flatMap(fromOtlp)
    return isRecord(value) ? [value] : []
  })
  return joinPieces(received, placeOf)
}

type ReceivedPiece = ReceivedRecord & RecordPiece

function placeOf({ machine, session, part, offset }: ReceivedRecord): string {
  return JSON.stringify([machine, session, part, offset])
}

/** The lines of the audit in a text of any of these forms, or in an audit file itself. */
export function shippedLines(text: string): readonly string[] {
  const received = readReceived(text)
  return received.length > 0 ? received.map((record) => record.text) : text.split('\n')
}

interface ReceivedVerification {
  readonly ok: boolean
  readonly records: number
  /** Records that came more than once and were counted once. */
  readonly repeated: number
  readonly sessions: readonly (LinesVerification & { readonly machine: string })[]
}

/**
 * Verifies everything that was received, machine by machine and session by session. Besides the
 * given keys, a checkpoint counts by the key for which its machine vouches, and the team for that.
 */
export function verifyReceived(
  received: readonly ReceivedRecord[],
  keys: readonly string[],
  team: FleetTeam | null = null,
): ReceivedVerification {
  const unique = new Map<string, ReceivedRecord>()
  let conflicts = 0
  for (const record of received) {
    const name = placeOf(record)
    const before = unique.get(name)
    // Two texts for one place cannot both be the line: neither is left out, and the chain shows it.
    if (before && before.text !== record.text) unique.set(`${name}#${++conflicts}`, record)
    else unique.set(name, record)
  }
  const groups = Map.groupBy(unique.values(), ({ machine, session }) => JSON.stringify([machine, session]))
  const sessions = [...groups.values()].map((records) => {
    const ordered = records.toSorted((a, b) => a.part - b.part || a.offset - b.offset)
    const { machine, session } = ordered[0]!
    return { machine, ...verifyLines(session, ordered, [...keys, ...vouchedKeys(ordered, machine, team)]) }
  })
  return {
    ok: sessions.every((session) => session.damage.length === 0),
    records: unique.size,
    repeated: received.length - unique.size,
    sessions,
  }
}

/** Keys of a session's checkpoints for which its own machine vouches: no machine does for another. */
function vouchedKeys(records: readonly ReceivedRecord[], machine: string, team: FleetTeam | null): readonly string[] {
  if (team === null) return []
  const keys = records.flatMap(({ voucher, text }) => {
    if (voucher === undefined) return []
    const key = parseLine(text)?.key
    const by = typeof key === 'string' ? voucherOf(voucher, key, team) : null
    return by !== null && keyId(by) === machine ? [key as string] : []
  })
  return [...new Set(keys)]
}

interface OtlpValue {
  readonly stringValue?: string
  readonly intValue?: string | number
}

interface OtlpAttributes {
  readonly attributes?: readonly { readonly key: string; readonly value: OtlpValue }[]
}

function fromOtlp(resourceLogs: {
  readonly resource?: OtlpAttributes
  readonly scopeLogs?: readonly { readonly logRecords?: readonly (OtlpAttributes & { readonly body?: OtlpValue })[] }[]
}): readonly ReceivedRecord[] {
  const machine = attribute(resourceLogs.resource, 'cordon.machine')
  const logs = resourceLogs.scopeLogs?.flatMap((scope) => scope.logRecords ?? []) ?? []
  return logs.flatMap((log) => {
    const record = {
      machine,
      session: attribute(log, 'cordon.session'),
      part: Number(attribute(log, 'cordon.record.part')),
      offset: Number(attribute(log, 'cordon.record.offset')),
      text: log.body?.stringValue,
      ...(attribute(log, 'cordon.record.hash') !== undefined && { hash: attribute(log, 'cordon.record.hash') }),
      voucher: parse(attribute(log, 'cordon.record.voucher') ?? '') ?? undefined,
    }
    return isRecord(record) ? [record] : []
  })
}

function attribute(of: OtlpAttributes | undefined, key: string): string | undefined {
  const value = of?.attributes?.find((one) => one.key === key)?.value
  return value?.stringValue ?? (value?.intValue === undefined ? undefined : String(value.intValue))
}

function isRecord(value: unknown): value is ReceivedPiece {
  const record = value as Partial<ReceivedPiece>
  return (
    typeof record.machine === 'string' &&
    typeof record.session === 'string' &&
    Number.isSafeInteger(record.part) &&
    Number.isSafeInteger(record.offset) &&
    typeof record.text === 'string' &&
    (record.piece === undefined || isPiece(record.piece))
  )
}

function isPiece(piece: unknown): boolean {
  const [at, count] = Array.isArray(piece) ? (piece as readonly unknown[]) : []
  return Number.isSafeInteger(at) && Number.isSafeInteger(count) && (count as number) <= 1000
}

function parse(text: string): { readonly resourceLogs?: Parameters<typeof fromOtlp>[0][] } | null {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Every key that the team has or had, as far as this machine knows. */
export function teamKeysOf(machine: Machine, settings: FleetSettings): readonly PublicKey[] {
  return storedBundle(machine.stateDir, settings)?.team ?? settings.keys
}

/** The team whose certificates count here: this machine's fleet, and the keys that a person names. */
export function knownTeam(machine: Machine, named: readonly string[]): FleetTeam {
  const settings = readFleetSettings(machine)
  const policy = settings && storedBundle(machine.stateDir, settings)
  const revoked = policy?.bundle.revoked ?? []
  const keys = [...(policy?.team ?? settings?.keys ?? []), ...named.flatMap((key) => parsePublicKey(key) ?? [])]
  return { fleet: settings?.fleet ?? null, keys: keys.filter((key) => !revoked.includes(key)) }
}

/** Records on the NATS servers of this machine's fleet: every machine's for an admin, else its own. */
export async function fleetRecords(machine: Machine): Promise<readonly ReceivedRecord[]> {
  const settings = readFleetSettings(machine)
  if (settings === null) throw new Fault('no-fleet', 'this machine is in no fleet')
  const { readRecords } = await import('../fleet/nats/admin.ts')
  const enrolment = readEnrolment(fleetDirectory(machine.stateDir), settings)
  const bus = await openBus(settings, machine)
  try {
    const own = enrolment === null || enrolment.role === 'admin' ? null : keyId(enrolment.machine)
    const pieces = (await readRecords(bus, own)).flatMap(({ subject, data }): readonly ReceivedPiece[] => {
      const record = { ...parse(data), machine: subject.split('.')[3] }
      return isRecord(record) ? [record] : []
    })
    return joinPieces(pieces, placeOf)
  } finally {
    await bus.close()
  }
}
