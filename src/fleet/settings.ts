/**
 * The settings of a machine in a fleet: the trusted keys, the source of the policy, the targets of
 * records and asks.
 */

import { join } from 'node:path'
import { Fault } from '../system/fault.ts'
import { type PublicKey, parsePublicKey } from '../system/keys/signing-key.ts'
import { ownUid, readOwnFile } from '../system/state.ts'

/** Files for TLS: further authorities, and the certificate of this machine. */
export interface FleetTls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export interface FleetSettings {
  /** The fleet's name; part of everything that is signed for it. */
  readonly fleet: string
  /** The team's keys, and how many of them must have signed a policy. */
  readonly keys: readonly PublicKey[]
  readonly signers: number
  /** Where the policy comes from: a path, an https URL, or `nats`; null: this fleet has none. */
  readonly policy: string | null
  readonly nats: { readonly servers: readonly string[] } | null
  /** The team's desk, which takes the health of machines where there are no servers. */
  readonly desk: string | null
  readonly records: {
    /** The OTLP/HTTP endpoint, without `/v1/logs`. */
    readonly otlp: string | null
    readonly headers: Readonly<Record<string, string>>
    /** Whether records go to JetStream. */
    readonly nats: boolean
  }
  /** Seconds that an ask waits for an answer of the fleet; null: asks are not put to it. */
  readonly asks: number | null
  readonly tls: FleetTls
}

export const FLEET_FILE = 'fleet.json'
const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/

/** The settings of this machine, else of the user, else null. Unreadable ones are a fault. */
export function readFleetSettings(places: {
  readonly systemDir: string
  readonly configDir: string
}): FleetSettings | null {
  const found = [
    { path: join(places.systemDir, FLEET_FILE), owners: [0, ownUid()] },
    { path: join(places.configDir, FLEET_FILE), owners: [ownUid()] },
  ]
  for (const { path, owners } of found) {
    const bytes = readOwnFile(path, owners, 1024 * 1024)
    if (bytes === null) continue
    return parseFleetSettings(new TextDecoder().decode(bytes), path)
  }
  return null
}

/** Parses settings; a Fault names the problem. */
export function parseFleetSettings(text: string, path: string): FleetSettings {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw bad(path, 'it is not JSON', error)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw bad(path, 'it is not an object')
  if (value.version !== 1) throw bad(path, '"version" must be 1')
  const known = ['version', 'fleet', 'keys', 'signers', 'policy', 'nats', 'desk', 'records', 'asks', 'tls']
  const odd = Object.keys(value).find((name) => !known.includes(name))
  if (odd !== undefined) throw bad(path, `there is no setting "${odd}"`)
  const { fleet, signers = 1, policy = null, desk = null, asks = null } = value
  if (typeof fleet !== 'string' || !NAME.test(fleet)) throw bad(path, '"fleet" must be a name: letters, digits, dashes')
  const keys = strings(value.keys, path, 'keys').map((key) => parsePublicKey(key))
  if (keys.some((key) => key === null)) throw bad(path, '"keys" must hold public keys: ed25519:BASE64')
  const distinct = new Set(keys)
  if (!Number.isInteger(signers) || (signers as number) < 1 || (signers as number) > distinct.size)
    throw bad(path, '"signers" must be a number from 1 to the number of keys')
  if (policy !== null && (typeof policy !== 'string' || !isPolicyPlace(policy)))
    throw bad(path, '"policy" must be an absolute path, an https URL, or "nats"')
  if (desk !== null && (typeof desk !== 'string' || !isSecureUrl(desk))) throw bad(path, '"desk" must be an https URL')
  if (asks !== null && !(Number.isInteger(asks) && (asks as number) >= 1 && (asks as number) <= 3600))
    throw bad(path, '"asks" must be seconds, from 1 to 3600')
  const nats = value.nats === undefined ? null : natsOf(value.nats, path)
  const records = recordsOf(value.records ?? {}, path)
  if (nats === null && (policy === 'nats' || records.nats || asks !== null))
    throw bad(path, '"nats" must name the servers that the other settings use')
  return {
    fleet,
    keys: [...distinct] as PublicKey[],
    signers: signers as number,
    policy: policy as string | null,
    nats,
    desk,
    records,
    asks: asks as number | null,
    tls: tlsOf(value.tls ?? {}, path),
  }
}

/** Plain HTTP is only for loopback, where nobody is in between. */
export function isSecureUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || url.username !== '' || url.password !== '') return false
  if (url.protocol === 'https:') return true
  return url.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
}

function isPolicyPlace(text: string): boolean {
  return text === 'nats' || text.startsWith('/') || isSecureUrl(text)
}

function natsOf(value: unknown, path: string): FleetSettings['nats'] {
  const servers = strings((value as { servers?: unknown } | null)?.servers, path, 'nats.servers')
  const odd = servers.find((server) => !/^(?:tls|nats):\/\/[^\s/@]+$/.test(server))
  if (servers.length === 0 || odd !== undefined) throw bad(path, '"nats.servers" must be URLs such as tls://host:4222')
  return { servers }
}

function recordsOf(value: unknown, path: string): FleetSettings['records'] {
  const { otlp = null, headers = {}, nats = false } = value as Partial<FleetSettings['records']>
  if (otlp !== null && !isSecureUrl(otlp)) throw bad(path, '"records.otlp" must be an https URL')
  if (typeof headers !== 'object' || Object.values(headers).some((text) => typeof text !== 'string'))
    throw bad(path, '"records.headers" must be texts by name')
  if (typeof nats !== 'boolean') throw bad(path, '"records.nats" must be true or false')
  return { otlp, headers, nats }
}

function tlsOf(value: unknown, path: string): FleetTls {
  for (const [name, file] of Object.entries(value as object))
    if (!['ca', 'cert', 'key'].includes(name) || typeof file !== 'string' || !file.startsWith('/'))
      throw bad(path, '"tls" takes absolute paths for ca, cert and key')
  return value as FleetTls
}

function strings(value: unknown, path: string, name: string): readonly string[] {
  if (!Array.isArray(value) || value.some((item) => typeof item !== 'string'))
    throw bad(path, `"${name}" must be a list of texts`)
  return value
}

function bad(path: string, why: string, cause?: unknown): Fault {
  return new Fault('fleet-settings', `${path} does not load: ${why}`, {
    cause,
    remedy: 'Correct it, or join again: cordon fleet join URL CODE. Without the file this machine is in no fleet.',
  })
}
