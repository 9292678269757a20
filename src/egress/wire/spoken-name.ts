/** Finds the host of a connection to a whole domain, by the name in TLS or HTTP. */

import type { Socket } from 'node:net'
import { helloReader } from './client-hello.ts'
import type { ProxyLimits } from './limits.ts'
import { peek } from './peek.ts'
import { type Target, targetOf } from './target.ts'

/** The host below `domain` that the client names; null for none or another. No bytes are taken. */
export async function spokenTarget(
  socket: Socket,
  domain: string,
  port: number,
  { headMilliseconds, headerBytes }: Pick<ProxyLimits, 'headMilliseconds' | 'headerBytes'>,
): Promise<Target | null> {
  const hello = helloReader()
  const spoken = await peek(
    socket,
    (bytes): { readonly name: string | null } | null => {
      if (bytes[0] !== 0x16) return hostField(bytes, headerBytes)
      const reading = hello(bytes)
      return reading.state === 'more' ? null : { name: reading.state === 'hello' ? reading.hello.serverName : null }
    },
    headMilliseconds,
  )
  if (typeof spoken === 'string' || spoken.value.name === null) return null
  const target = targetOf(spoken.value.name.toLowerCase(), port)
  return !('problem' in target) && target.kind === 'name' && target.host.endsWith(`.${domain}`) ? target : null
}

/**
 * The Host of a request head, without its port; null while incomplete. The request itself is
 * checked again later.
 */
function hostField(bytes: Buffer, most: number): { readonly name: string | null } | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return bytes.length > most ? { name: null } : null
  const head = bytes.toString('latin1', 0, end + 2)
  return { name: /\r\nhost:[ \t]*([^\s:]+)(?::80)?[ \t]*\r\n/i.exec(head)?.[1] ?? null }
}
