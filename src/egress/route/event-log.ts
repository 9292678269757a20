/**
 * The events of one command, merged: the same decision about the same host is one event with a
 * count. PURE.
 */

import type { EgressEvent } from './event.ts'

/** Distinct decisions that are kept; further ones are only counted. */
const MAX_KEPT = 1_000
const MAX_TEXT = 300

export interface EgressLog {
  add(event: EgressEvent): void
  events(): readonly EgressEvent[]
}

/** Refused and reached hosts are kept separately, so that neither pushes the other out. */
export function createEgressLog(): EgressLog {
  const kept = {
    allow: new Map<string, EgressEvent>(),
    deny: new Map<string, EgressEvent>(),
    fault: new Map<string, EgressEvent>(),
  }
  const rest = new Map<EgressEvent['verdict'], EgressEvent>()

  return {
    add: (event) => {
      const { verdict, host, port, code, kind } = event
      const group = kept[verdict]
      const key = `${host}\n${port}\n${code}\n${kind}\n${event.program}`
      const known = group.get(key)
      if (known) group.set(key, merged(known, event))
      else if (group.size < MAX_KEPT) group.set(key, shortened(event))
      else {
        const others = rest.get(verdict)
        rest.set(verdict, others ? merged(others, event) : nameless(event))
      }
    },
    events: () => [...kept.allow.values(), ...kept.deny.values(), ...kept.fault.values(), ...rest.values()],
  }
}

function merged(known: EgressEvent, event: EgressEvent): EgressEvent {
  return {
    ...known,
    count: known.count + event.count,
    up: known.up + event.up,
    down: known.down + event.down,
    milliseconds: known.milliseconds + event.milliseconds,
    address: known.address ?? event.address,
    secrets: known.secrets.length === 0 ? event.secrets : [...new Set([...known.secrets, ...event.secrets])],
  }
}

function shortened(event: EgressEvent): EgressEvent {
  const { message, path } = event
  return { ...event, message: message.slice(0, MAX_TEXT), path: path === null ? null : path.slice(0, MAX_TEXT) }
}

function nameless(event: EgressEvent): EgressEvent {
  const message = `more than ${MAX_KEPT} different ones; the names of these are not kept`
  return { ...event, host: null, port: null, address: null, path: null, method: null, message }
}
