/** What every protocol of a proxy shares: the gate, the pool, the broker, and where events go. */

import type { Duplex } from 'node:stream'
import type { Broker, SwappedRequest } from '../credentials/broker.ts'
import type { Aliases } from '../route/aliases.ts'
import { allowed, type EgressEvent, type EventFacts, refused } from '../route/event.ts'
import type { Admission, Gate } from '../route/gate.ts'
import { isLoopback } from '../route/loopback.ts'
import type { RouteAgent } from '../route/route-agent.ts'
import { type EgressRules, judgeRequest } from '../route/rules.ts'
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
  /** Which of its programs connects, where that is known. */
  readonly program?: string
  readonly gate: Gate
  /** Addresses inside that stand for hosts; null where there are none. */
  readonly aliases: Aliases | null
  readonly agent: RouteAgent
  readonly broker: Broker | null
  /** Holds bodies whose hash is to be signed. */
  readonly bodies: BodyHold
  /** With whose ssh git services are reached; null where with no one's. */
  readonly git: GitSsh | null
  /** What judges packages; null where nothing does. */
  readonly packages: PackageJudge | null
  /** What is left for a host; null where nothing limits it. */
  readonly budget: (rules: EgressRules, target: Target) => Budget | null
  readonly limits: ProxyLimits
  readonly onEvent: (event: EgressEvent) => void
}

export interface PackageJudge {
  judge(passage: Passage, request: PackageRequest): Promise<PackageVerdict>
  /** The host sends the client elsewhere for what it asked for. */
  redirected(read: RequestTarget, location: string): void
}

/** A connection that was admitted as a whole: every request in it must name the same host. */
export interface Tunnel extends TunnelFacts {
  readonly admission: Admission
}

/** A request that may leave, as it leaves. */
export interface Cleared extends SwappedRequest {
  readonly admission: Admission
  /** For its body; null where nothing limits it. */
  readonly budget: Budget | null
  /** What takes secrets out of the answer; null where none can be in it. */
  readonly scrub: Broker | null
}

/** What a client means that looked the name up by itself: the address of a host inside is that host. */
export function meant({ aliases }: Passage, target: Target): Target {
  return (
    (target.kind === 'ipv4' && target.host.startsWith('127.64.') && aliases?.targetOf(target.host, target.port)) ||
    target
  )
}

/** Judges a request whose target was read: host, addresses, method, path, secrets, and the package that it fetches. */
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
  if (passage.broker === null) return { admission, path: read.path, rawHeaders, used: [], scrub: null, budget }
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

/** True for a connection that no cable carries. */
function staysHere({ addresses, parent }: Route): boolean {
  return parent === undefined && addresses.length > 0 && addresses.every(isLoopback)
}

/** Facts of an event that are known from the start of a request; `started` is turned into a duration later. */
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

/** Writes a refusal to a bare connection and closes it once it is flushed. */
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

/** Reads away what the peer still sends, so that it sees the answer and not a reset, and then lets go of it. */
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
