/** Internal names: host names that mean this machine, its network or its cloud, whatever DNS says about them. */

import { words } from '../files/glob.ts'

export type NameClass = 'public' | 'internal' | 'metadata'

/** Names of cloud metadata services, themselves and everything below; no setting opens them. */
const METADATA_NAMES: readonly string[] = words(`
    metadata metadata.google.internal metadata.goog metadata.azure.internal
    metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com
    api.metadata.cloud.ibm.com rancher-metadata instance-data instance-data.ec2.internal`)

/** Domains that no public registry hands out, or that resolve inside the house; themselves and everything below. */
const INTERNAL_DOMAINS: readonly string[] = words(`
    localhost localdomain localdomain4 localdomain6 localnet local internal intranet intra lan
    home home.arpa corp mail workgroup private priv svc kubernetes.default consul docker lxd incus
    fritz.box`)

const METADATA: ReadonlySet<string> = new Set(METADATA_NAMES)
const INTERNAL: ReadonlySet<string> = new Set(INTERNAL_DOMAINS)

/**
 * Classifies a canonical name; a single label is internal because the resolver's search list
 * decides its meaning.
 */
export function classifyName(host: string): NameClass {
  if (isBelow(host, METADATA)) return 'metadata'
  return !host.includes('.') || isBelow(host, INTERNAL) ? 'internal' : 'public'
}

function isBelow(host: string, domains: ReadonlySet<string>): boolean {
  for (let at = 0; ; ) {
    if (domains.has(at === 0 ? host : host.slice(at))) return true
    const dot = host.indexOf('.', at)
    if (dot < 0) return false
    at = dot + 1
  }
}
