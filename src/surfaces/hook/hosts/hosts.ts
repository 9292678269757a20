/** Finds hosts by name. */

import type { Host, Json } from '../host/host.ts'
import type { HostInstall } from '../host/host-install.ts'
import * as list from './list.ts'

/** Sorted: bundles and Node list the exports of a module differently. */
const HOSTS: readonly Host<HostName>[] = Object.values(list).toSorted((a, b) => (a.name < b.name ? -1 : 1))

export type HostName = (typeof list)[keyof typeof list]['name']

export const HOST_NAMES: readonly HostName[] = HOSTS.map(({ name }) => name)

/** The host with that name, or null. */
export function findHost(name: string): Host<HostName> | null {
  return HOSTS.find((host) => host.name === name) ?? null
}

/** The host that sent an input: some hosts also run another host's hooks. */
export function speakerOf(host: Host, input: Json): Host {
  return HOSTS.find(({ borrows }) => borrows?.(host.name, input)) ?? host
}

export type InstalledHost = HostInstall & { readonly name: HostName }

/** A host's installation. */
export async function installOf(name: HostName): Promise<InstalledHost> {
  return { name, ...(await findHost(name)!.install()) }
}
