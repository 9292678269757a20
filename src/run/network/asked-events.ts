/**
 * Reports host names that a command looked up without network access, as egress denials. Loaded on
 * demand.
 */

import { type EgressEvent, refused } from '../../egress/route/event.ts'
import type { EgressRules } from '../../egress/route/rules.ts'
import type { MissingPath } from '../../sandbox/backend.ts'

export function askedEvents(asked: readonly MissingPath[], { command }: EgressRules): EgressEvent[] {
  return asked.map(({ what, name, port }) => {
    const kind = /^[0-9.]+$/.test(name) ? 'ipv4' : name.includes(':') ? 'ipv6' : 'name'
    const target = { host: name, port: port === 0 ? 443 : port, kind } as const
    const message =
      what === 'name' ? 'the name was asked for, and does not exist inside' : 'this command was granted no host'
    return refused({ command, kind: what === 'name' ? 'name' : 'connect', target }, { code: 'host-unlisted', message })
  })
}
