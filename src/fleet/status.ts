/** What a machine remembers of its dealings with the fleet: when it last heard of a policy, and what it refused. */

import { join } from 'node:path'
import { readOwnJson, writeOwnJson } from '../system/state.ts'

export interface FleetStatus {
  readonly version: 1
  /** When the place of the policy was last asked, and what it called its answer. */
  readonly checked: string | null
  readonly etag: string | null
  /** When a place of the policy last accepted this machine. */
  readonly proved?: string | null
  /** Since when the fleet's servers refuse this machine's login; null while they accept it. */
  readonly refused?: string | null
  /** The last thing that went wrong with it; null once a good one was fetched. */
  readonly problem: { readonly code: string; readonly message: string; readonly time: string } | null
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
