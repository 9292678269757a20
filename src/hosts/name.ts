/** Internal names: host names that mean this machine, its network or its cloud, whatever DNS says about them. */

export type NameClass = 'public' | 'internal' | 'metadata'

/** Names of cloud metadata services, themselves and everything below; no setting opens them. */
const METADATA: ReadonlySet<string> = names(`
    metadata metadata.google.internal metadata.goog metadata.azure.internal
    metadata.tencentyun.com metadata.packet.net metadata.platformequinix.com
    api.metadata.cloud.ibm.com rancher-metadata instance-data instance-data.ec2.internal`)

/** Domains that no public registry hands out, or that resolve inside the house; themselves and everything below. */
const INTERNAL: ReadonlySet<string> = names(`
    localhost localdomain localdomain4 localdomain6 localnet local internal intranet intra lan
    home home.arpa corp mail workgroup private priv svc kubernetes.default consul docker lxd incus
    fritz.box`)

function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}

/** Classifies a canonical name. A single label is internal: the resolver's search list decides. */
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
