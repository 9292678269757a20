/**
 * The source of a policy bundle: a file, HTTPS with ETag, or a JetStream bucket; and its status.
 */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, Fault } from '../system/fault.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'
import type { FleetHttp } from './http.ts'

/** The ways to a bundle beside the file system. */
export interface PolicyPorts {
  readonly http: FleetHttp
  /** The newest bundle of the bucket; null if there is none. */
  readonly bucket: () => Promise<string | null>
}

type FetchedPolicy = { readonly text: string; readonly etag: string | null } | 'unchanged'

const MAX_BYTES = 4 * 1024 * 1024

/** Fetches the bundle; throws a Fault if it cannot. `etag`: that of the last good one. */
export async function fetchPolicy(place: string, etag: string | null, ports: PolicyPorts): Promise<FetchedPolicy> {
  if (place === 'nats') {
    const text = await ports.bucket()
    if (text === null) throw missing('the bucket has no policy yet')
    return { text, etag: null }
  }
  if (place.startsWith('/')) return { text: readBundle(place), etag: null }
  const { status, header, text } = await ports.http({
    url: place,
    method: 'GET',
    headers: etag === null ? {} : { 'if-none-match': etag },
  })
  if (status === 304 && etag !== null) return 'unchanged'
  if (status === 401 || status === 403)
    throw new Fault('fleet-refused', `${new URL(place).host} refuses this machine (${status})`)
  if (status !== 200) throw missing(`${new URL(place).host} answered ${status}`)
  return { text, etag: header('etag') }
}

/**
 * What lies beside the bundle under another name, such as `policy.bundle.openings`; null if there is
 * nothing.
 */
export async function fetchBeside(place: string, name: string, http: FleetHttp): Promise<string | null> {
  const beside = `${place}.${name}`
  if (place.startsWith('/')) return existsSync(beside) ? readBundle(beside) : null
  const { status, text } = await http({ url: beside, method: 'GET' })
  if (status === 404) return null
  if (status !== 200) throw missing(`${new URL(place).host} answered ${status}`)
  return text
}

function readBundle(path: string): string {
  try {
    if (statSync(path).size > MAX_BYTES) throw missing(`${path} is larger than ${MAX_BYTES} bytes`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Fault) throw error
    throw missing(`${path} cannot be read (${errorCode(error) ?? 'unknown'})`)
  }
}

function missing(why: string): Fault {
  return new Fault('fleet-unreachable', `the organisation’s policy could not be fetched: ${why}`)
}

/** A machine's state towards the fleet: the last policy it received, and what it refused. */
export interface FleetStatus {
  readonly version: 1
  /** When the policy was last fetched, and the ETag of the answer. */
  readonly checked: string | null
  readonly etag: string | null
  /** When a place of the policy last accepted this machine. */
  readonly proved?: string | null
  /** Since when the fleet's servers refuse this machine's login; null while they accept it. */
  readonly refused?: string | null
  /** The last thing that went wrong with it; null once a good one was fetched. */
  readonly problem: { readonly code: string; readonly message: string; readonly time: string } | null
}

/** Break-glass openings, and the sign-ins that count for them, as fetched: verified at every use. */
export interface StoredOpenings {
  readonly version: 1
  /** The latest time that was seen here. */
  readonly clock: number
  readonly openings: string | null
  readonly people: string | null
  /** Those whose beginning is in the record, and whose end is not. */
  readonly recorded: readonly string[]
}

export function readOpenings(fleetDirectory: string): StoredOpenings | null {
  return readOwnJson(openingsPath(fleetDirectory), isStoredOpenings)
}

export function writeOpenings(fleetDirectory: string, stored: Omit<StoredOpenings, 'version'>): void {
  writeOwnJson(openingsPath(fleetDirectory), { version: 1, ...stored } satisfies StoredOpenings)
}

function openingsPath(directory: string): string {
  return join(directory, 'openings.json')
}

function isStoredOpenings(value: unknown): value is StoredOpenings {
  const { version, clock, openings, people, recorded } = (value ?? {}) as Partial<StoredOpenings>
  const texts = [openings, people].every((text) => text === null || typeof text === 'string')
  return version === 1 && Number.isFinite(clock) && texts && Array.isArray(recorded)
}

const NOTHING: FleetStatus = { version: 1, checked: null, etag: null, problem: null }

export function readStatus(fleetDirectory: string): FleetStatus {
  return readOwnJson(statusPath(fleetDirectory), isStatus) ?? NOTHING
}

export function writeStatus(fleetDirectory: string, status: FleetStatus): void {
  writeOwnJson(statusPath(fleetDirectory), status)
}

function statusPath(directory: string): string {
  return join(directory, 'status.json')
}

function isStatus(value: unknown): value is FleetStatus {
  return (value as Partial<FleetStatus> | null)?.version === 1
}
