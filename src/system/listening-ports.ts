/** The ports of this machine's loopback that some program listens on. */

import { readFileSync } from 'node:fs'

const LISTENING = '0A'
/** Any address and loopback, as the kernel writes them; both forms of IPv6, and IPv4 in IPv6. */
const LOOPBACK: ReadonlySet<string> = new Set([
  '00000000',
  '0100007F',
  '00000000000000000000000000000000',
  '00000000000000000000000001000000',
  '0000000000000000FFFF00000100007F',
])

/** Reads them from the kernel; none where it does not say. */
export function listeningPorts(): ReadonlySet<number> {
  const ports = new Set<number>()
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    let rows: string[]
    try {
      rows = readFileSync(table, 'utf8').split('\n').slice(1)
    } catch {
      continue
    }
    for (const row of rows) {
      const [, local = '', , state] = row.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      if (state === LISTENING && LOOPBACK.has(address)) ports.add(Number.parseInt(port, 16))
    }
  }
  return ports
}
