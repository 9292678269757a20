/** Where a policy bundle comes from: a file, HTTPS with ETag, or a JetStream bucket. What it says is no one's word until it was verified. */

import { readFileSync, statSync } from 'node:fs'
import { errorCode, Fault } from '../system/fault.ts'
import type { FleetHttp } from './http.ts'

/** The ways to a bundle beside the file system. */
export interface PolicyPorts {
  readonly http: FleetHttp
  /** The newest bundle of the bucket; null where there is none. */
  readonly bucket: () => Promise<string | null>
}

export type FetchedPolicy = { readonly text: string; readonly etag: string | null } | 'unchanged'

const MAX_BYTES = 4 * 1024 * 1024

/** Fetches the bundle; throws a Fault when there is none to be had. `etag`: what the last good one was called. */
export async function fetchPolicy(place: string, etag: string | null, ports: PolicyPorts): Promise<FetchedPolicy> {
  if (place === 'nats') {
    const text = await ports.bucket()
    if (text === null) throw missing('the bucket holds no policy yet')
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
