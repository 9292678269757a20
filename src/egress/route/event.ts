/**
 * Egress events: one for each decision, allowed or denied; the merged log of one command; and the
 * lines in a run's summary. PURE.
 */

import { visible } from '../../scan/visible-text.ts'
import { type EgressCode, type EgressDenial, isFault, remedyFor } from '../wire/refusal.ts'
import { authorityOf, type Target } from '../wire/target.ts'

export type EgressVerdict = 'allow' | 'deny' | 'fault'

export interface EgressEvent {
  readonly command: string
  /** The connecting program; null if unknown. */
  readonly program: string | null
  /** The kind of request. */
  readonly kind: 'http' | 'connect' | 'socks' | 'tunnel' | 'websocket' | 'http2' | 'fetch' | 'name' | 'direct' | 'unix'
  readonly verdict: EgressVerdict
  readonly code: EgressCode
  readonly message: string
  readonly host: string | null
  readonly port: number | null
  /** The dialled address; null without one. */
  readonly address: string | null
  readonly method: string | null
  /** Without the query, which may contain private data. */
  readonly path: string | null
  /** Body bytes from the client, and to it. */
  readonly up: number
  readonly down: number
  readonly milliseconds: number
  /** Names of the inserted secrets; never their values. */
  readonly secrets: readonly string[]
  /** The number of merged decisions. */
  readonly count: number
}

/** The required facts of an event; the rest has defaults. */
export type EventFacts = Pick<EgressEvent, 'command' | 'kind'> &
  Partial<EgressEvent> & { readonly target?: Target | null }

export function allowed(facts: EventFacts): EgressEvent {
  return eventOf(facts, 'allow', 'granted', facts.message ?? 'went through')
}

export function refused(facts: EventFacts, refusal: EgressDenial): EgressEvent {
  return eventOf(facts, isFault(refusal.code) ? 'fault' : 'deny', refusal.code, refusal.message)
}

/** One line for the run's summary: the blocked target, its program, and how to allow it. */
export function summaryLine(event: EgressEvent): string {
  if (isAboutPackage(event)) return visible(`packages: ${event.message}`)
  const target = targetOfEvent(event)
  const subject = target === null ? 'a connection' : authorityOf(target, target.port === 80 ? 80 : 443)
  const remedy = remedyFor(event.code, target)
  const reason =
    event.code === 'host-unlisted'
      ? `not granted to \`${event.program ?? event.command}\``
      : `${event.code}: ${event.message}`
  const word = event.verdict === 'fault' ? 'failed' : 'blocked'
  return visible(`${word}: ${subject} (${reason})${remedy === null ? '' : `; to allow: ${remedy}`}`)
}

/**
 * Summary lines of refusals: one for each host, port and code with a count, and one for all
 * declined hosts.
 */
export function summarize(events: readonly EgressEvent[]): string[] {
  const declined = new Set<string>()
  const lines = new Map<string, { readonly line: string; count: number }>()
  for (const event of events) {
    if (event.verdict === 'allow' && event.code !== 'package-withdrawn') continue
    if (event.code === 'host-declined' && event.host !== null) {
      declined.add(event.host)
      continue
    }
    const key = `${event.host}:${event.port}:${event.code}:${event.program}${isAboutPackage(event) ? event.message : ''}`
    const known = lines.get(key)
    if (known) known.count += event.count
    else lines.set(key, { line: summaryLine(event), count: event.count })
  }
  const blocked = Array.from(lines.values(), ({ line, count }) => (count === 1 ? line : `${line} [${count} times]`))
  const [first] = declined
  if (first === undefined) return blocked
  const names = visible([...declined].join(', '))
  return [
    ...blocked,
    `declined without a question, for its updates, catalogues and telemetry: ${names}; to allow one: cordon run --allow-host ${visible(first)} …`,
  ]
}

/** Whether the event is about a package, not the host. */
function isAboutPackage({ code }: EgressEvent): boolean {
  return code.startsWith('package-')
}

function targetOfEvent(event: EgressEvent): Target | null {
  if (event.host === null || event.port === null) return null
  const kind = event.host.includes(':') ? 'ipv6' : /^[0-9.]+$/.test(event.host) ? 'ipv4' : 'name'
  return { host: event.host, port: event.port, kind }
}

function eventOf(facts: EventFacts, verdict: EgressVerdict, code: EgressCode, message: string): EgressEvent {
  return {
    command: facts.command,
    program: facts.program ?? null,
    kind: facts.kind,
    verdict,
    code,
    message,
    host: facts.target?.host ?? facts.host ?? null,
    port: facts.target?.port ?? facts.port ?? null,
    address: facts.address ?? null,
    method: facts.method ?? null,
    path: facts.path ?? null,
    up: facts.up ?? 0,
    down: facts.down ?? 0,
    milliseconds: facts.milliseconds ?? 0,
    secrets: facts.secrets ?? [],
    count: 1,
  }
}

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
