/** Shared by the protocols of a proxy: the gate, the pool, the broker, and the event log. */

import type { Duplex } from 'node:stream'
import type { Broker, SwappedRequest } from '../credentials/broker.ts'
import type { Aliases } from '../route/aliases.ts'
import { allowed, type EgressEvent, type EventFacts, refused } from '../route/event.ts'
import type { Admission, Gate } from '../route/gate.ts'
import type { RouteAgent } from '../route/route-agent.ts'
import { type EgressRules, isLoopback, judgeRequest } from '../route/rules.ts'
import type { Route } from '../route/upstream.ts'
import { type Budget, headBytes } from '../route/usage.ts'
import type { BodyHold } from '../wire/body-hold.ts'
import type { ProxyLimits } from '../wire/limits.ts'
import { type EgressDenial, httpRefusal, refusalBytes } from '../wire/refusal.ts'
import type { RequestTarget, TunnelFacts } from '../wire/request-head.ts'
import type { Target } from '../wire/target.ts'
import type { GitSsh } from './git-ssh.ts'
import type { PackageAnswer, PackageRequest, PackageVerdict } from './package-gate.ts'

export interface Passage {
  readonly command: string
  /** The connecting program, if known. */
  readonly program?: string
  readonly gate: Gate
  /** Addresses inside that represent hosts; null without any. */
  readonly aliases: Aliases | null
  readonly agent: RouteAgent
  readonly broker: Broker | null
  /** Reads bodies whose hash will be signed. */
  readonly bodies: BodyHold
  /** The person's ssh for git services; null if not allowed. */
  readonly git: GitSsh | null
  /** Judges packages; null if not configured. */
  readonly packages: PackageJudge | null
  /** The remaining budget for a host; null without limits. */
  readonly budget: (rules: EgressRules, target: Target) => Budget | null
  readonly limits: ProxyLimits
  readonly onEvent: (event: EgressEvent) => void
}

export interface PackageJudge {
  judge(passage: Passage, request: PackageRequest): Promise<PackageVerdict>
  /** The host redirected the client. */
  redirected(read: RequestTarget, location: string): void
}

/** A connection that was admitted as a whole: all its requests must name the same host. */
export interface Tunnel extends TunnelFacts {
  readonly admission: Admission
}

/** A request that may leave, in its outgoing form. */
export interface Cleared extends SwappedRequest {
  readonly admission: Admission
  /** For its body; null without limits. */
  readonly budget: Budget | null
  /** Removes secrets from the answer; null if it cannot contain any. */
  readonly scrub: Broker | null
}

/**
 * The real target of a client that resolved the name itself: an alias address is replaced by its
 * host.
 */
export function meant({ aliases }: Passage, target: Target): Target {
  return (
    (target.kind === 'ipv4' && target.host.startsWith('127.64.') && aliases?.targetOf(target.host, target.port)) ||
    target
  )
}

/** Judges a parsed request: host, addresses, method, path, secrets and package. */
export async function clearRequest(
  passage: Passage,
  read: RequestTarget,
  method: string,
  rawHeaders: readonly string[],
  tunnel: Tunnel | null,
  payloadHash: string | null = null,
): Promise<Cleared | { readonly refusal: EgressDenial } | { readonly answer: PackageAnswer }> {
  const cleared = await clearHost(passage, read, method, rawHeaders, tunnel, payloadHash)
  if ('refusal' in cleared) return cleared
  const { budget } = cleared
  const limited = (await budget?.take(1, headBytes(method, read.path, rawHeaders))) ?? null
  if (limited !== null) return { refusal: limited }
  if (passage.packages === null) return cleared
  return (await passage.packages.judge(passage, { read, method, rawHeaders, tunnel })) ?? cleared
}

/** The same without the package. */
export async function clearHost(
  passage: Passage,
  read: RequestTarget,
  method: string,
  rawHeaders: readonly string[],
  tunnel: Tunnel | null,
  payloadHash: string | null = null,
): Promise<Cleared | { readonly refusal: EgressDenial }> {
  const admission = tunnel?.admission ?? (await passage.gate.admit(read.target))
  if ('refusal' in admission) return admission
  const refusal = judgeRequest(admission.rules, read.target, { method, path: read.path, rawHeaders })
  if (refusal !== null) return { refusal }
  const budget = passage.budget(admission.rules, read.target)
  if (passage.broker === null)
    return { admission, path: read.path, rawHeaders, used: [], asked: null, scrub: null, budget }
  const secure = read.secure || staysHere(admission.route)
  const swapped = passage.broker.swap({
    target: read.target,
    method,
    payloadHash,
    secure,
    path: read.path,
    rawHeaders,
    suffixes: admission.rules.suffixes,
  })
  if ('refusal' in swapped) return swapped
  return { ...swapped, admission, budget, scrub: passage.broker.mayEcho(read.target) ? passage.broker : null }
}

/** Whether a connection stays on this machine. */
function staysHere({ addresses, parent }: Route): boolean {
  return parent === undefined && addresses.length > 0 && addresses.every(isLoopback)
}

/** Facts of an event that are known when a request starts; `started` later becomes a duration. */
export interface Record {
  readonly facts: EventFacts
  readonly started: number
}

export function startRecord(passage: Passage, facts: Omit<EventFacts, 'command'>): Record {
  const { command, program } = passage
  return { facts: { ...facts, command, ...(program !== undefined && { program }) }, started: performance.now() }
}

export function recordAllowed(passage: Passage, record: Record, more: Partial<EventFacts>): void {
  passage.onEvent(allowed({ ...record.facts, ...more, milliseconds: elapsed(record) }))
}

export function recordRefused(
  passage: Passage,
  record: Record,
  refusal: EgressDenial,
  more: Partial<EventFacts> = {},
): void {
  passage.onEvent(refused({ ...record.facts, ...more, milliseconds: elapsed(record) }, refusal))
}

/** Writes a refusal to a raw connection and closes it once flushed. */
export function refuseSocket(
  passage: Passage,
  socket: Duplex,
  refusal: EgressDenial,
  target: Target | null,
  accept?: string,
): void {
  if (socket.destroyed || !socket.writable) return void socket.destroy()
  socket.end(refusalBytes(httpRefusal(refusal, target, passage.command, accept)))
  closeSoon(socket)
}

/** Discards what the peer still sends, so that it sees the answer and not a reset, and closes. */
export function closeSoon(socket: Duplex): void {
  socket.on('error', () => socket.destroy())
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MILLISECONDS)
  socket.once('end', () => socket.destroy())
  socket.once('close', () => clearTimeout(timer))
}

const LINGER_MILLISECONDS = 2_000

function elapsed(record: Record): number {
  return Math.round((performance.now() - record.started) * 1000) / 1000
}
