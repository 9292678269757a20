/** The proxy of one command: open while the command runs, with only that command's rules. */

import { connect, type Server, type Socket } from 'node:net'
import type { Resolver } from '../system/dns.ts'
import type { Broker } from './credentials/broker.ts'
import { type Ecosystem, PackageMemory } from './packages/release.ts'
import type { PackageRules } from './packages/rules.ts'
import type { GitSsh } from './protocol/git-ssh.ts'
import type { PackageGate } from './protocol/package-gate.ts'
import { type PackageJudge, type Passage, recordAllowed, recordRefused, startRecord } from './protocol/passage.ts'
import { joinSigner } from './protocol/signer.ts'
import { createProxy, type Proxy as Protocols } from './proxy.ts'
import type { Aliases } from './route/aliases.ts'
import type { EgressEvent } from './route/event.ts'
import { type AskHost, createGate, type FlowWatch } from './route/gate.ts'
import { RouteAgent } from './route/route-agent.ts'
import type { EgressRules } from './route/rules.ts'
import type { Upstream } from './route/upstream.ts'
import { Budget, HostUsage } from './route/usage.ts'
import type { SessionCa } from './tls/certificate.ts'
import { createBodyHold } from './wire/body-hold.ts'
import { join } from './wire/join.ts'
import { DEFAULT_LIMITS, type ProxyLimits } from './wire/limits.ts'

export interface ProxyOptions {
  /** Bound inside the command's network namespace; the proxy owns it. */
  readonly listener: Server
  readonly rules: EgressRules
  /**
   * The rules of each program, by the source address of its connections; without it the command's.
   */
  readonly callers?: { rulesFor(address: string): EgressRules | Promise<EgressRules> }
  /** Addresses inside that represent granted hosts. */
  readonly aliases?: Aliases
  /** Shared by the proxies of a session. */
  readonly ca: SessionCa
  readonly upstream: Upstream
  readonly resolver: Resolver
  readonly broker?: Broker | null
  /** The person's ssh, for git hosts where a rule allows it. */
  readonly ssh?: Omit<GitSsh, 'dialer'>
  /**
   * The signing keys of agents, by the real path of their socket; other sockets are connected
   * without limits.
   */
  readonly signers?: ReadonlyMap<string, string>
  /** The session's traffic to hosts with limits; separate for this proxy by default. */
  readonly usage?: HostUsage
  /** The inputs of `rules.packages`. */
  readonly packages?: PackageSupport
  readonly onEvent?: (event: EgressEvent) => void
  /** Asks about undecided hosts; without it they are refused. */
  readonly ask?: AskHost
  /** Where data may go that the session has read since the command started. */
  readonly flow?: FlowWatch
  readonly limits?: Partial<ProxyLimits>
  /** Closes the proxy. */
  readonly signal?: AbortSignal
}

export interface PackageSupport {
  /** Shared by the proxies of a session. */
  readonly memory?: PackageMemory
  /** Names in committed lock files; null without any. */
  readonly committed?: (ecosystem: Ecosystem) => ReadonlySet<string> | null
  readonly now?: () => number
}

export interface ProxyStats {
  /** Client connections: open ones, and all ever accepted. */
  readonly open: number
  readonly accepted: number
  /** Open connections to hosts. */
  readonly upstream: number
  readonly allowed: number
  readonly denied: number
  readonly failed: number
  readonly up: number
  readonly down: number
}

export interface CommandProxy {
  /**
   * Serves one more listener of the sandbox: programs without proxy support connect to the address
   * of a granted host.
   */
  serve(listener: Server): void
  /** Connects a client of a granted unix socket; `target` is the path outside. */
  connectLocal(socket: Socket, target: string): void
  /** Closes every connection and the listener; resolves when all are gone. */
  close(): Promise<void>
  stats(): ProxyStats
}

/** Hosts whose certificate is signed in advance. */
const WARM_HOSTS = 4
/**
 * Most commands with network never use it and must not wait. The shortest end before this delay.
 * The others wait at most for pieces of about a millisecond, with pauses as long.
 */
const WARM_MILLISECONDS = 15

/** Loaded by the first request: most commands do not need it. */
function packageJudge(rules: PackageRules, options: ProxyOptions, signal: AbortSignal): PackageJudge {
  let gate: Promise<PackageGate> | null = null
  const open = async (): Promise<PackageGate> => {
    const { PackageGate } = await import('./protocol/package-gate.ts')
    const { memory = new PackageMemory(), committed = () => null, now = Date.now } = options.packages ?? {}
    const { command, whole = command } = options.rules
    return new PackageGate({ rules, memory, committed, now, ask: options.ask, command: whole, signal })
  }
  return {
    judge: async (passage, request) => {
      gate ??= open()
      return (await gate).judge(passage, request)
    },
    redirected: (read, location) => void gate?.then((opened) => opened.redirected(read, location)),
  }
}

export function openProxy(options: ProxyOptions): CommandProxy {
  const { listener, rules, signal, usage = new HostUsage() } = options
  const limits: ProxyLimits = { ...DEFAULT_LIMITS, ...options.limits }
  const agent = new RouteAgent(options.upstream, limits)
  const clients = new Set<Socket>()
  const ended = new AbortController()
  const counts = { accepted: 0, allowed: 0, denied: 0, failed: 0, up: 0, down: 0 }
  let closed: Promise<void> | null = null

  const bodies = createBodyHold()
  const packages = rules.packages ? packageJudge(rules.packages, options, ended.signal) : null
  const passageOf = (own: EgressRules): Passage => ({
    command: own.command,
    ...(own.program !== undefined && { program: own.program }),
    gate: createGate({
      rules: own,
      resolver: options.resolver,
      parent: options.upstream.parent,
      ask: options.ask,
      signal: ended.signal,
    }),
    aliases: options.aliases ?? null,
    agent,
    broker: options.broker ?? null,
    bodies,
    git: options.ssh ? { ...options.ssh, dialer: options.upstream.dialer } : null,
    budget: (judged, target) =>
      Budget.of({ usage, rules: judged, target, ask: options.ask, flow: options.flow, signal: ended.signal }),
    packages,
    limits,
    onEvent: (event) => {
      counts[event.verdict === 'allow' ? 'allowed' : event.verdict === 'deny' ? 'denied' : 'failed']++
      counts.up += event.up
      counts.down += event.down
      options.onEvent?.(event)
    },
  })
  const passage = passageOf(rules)
  const proxy = createProxy(passage, options.ca)
  /** One per connecting program, so that an answer about a host applies to that program. */
  const proxies = new Map<EgressRules, Protocols>()

  function proxyBy(own: EgressRules): Protocols {
    const known = proxies.get(own) ?? createProxy(passageOf(own), options.ca)
    proxies.set(own, known)
    return known
  }

  const listeners: Server[] = [listener]

  function accept(socket: Socket): void {
    take(socket, (client, by) => by.serve(client))
  }

  function acceptDirect(socket: Socket): void {
    take(socket, (client, by) => by.serveDirect(client))
  }

  function take(socket: Socket, serve: (socket: Socket, by: Protocols) => void): void {
    counts.accepted++
    if (closed !== null || clients.size >= limits.connections) {
      if (closed === null) {
        const message = `more than ${limits.connections} connections at once`
        recordRefused(passage, startRecord(passage, { kind: 'connect' }), { code: 'too-many-connections', message })
      }
      return void socket.destroy()
    }
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
    const own = options.callers?.rulesFor(socket.remoteAddress ?? '') ?? null
    if (own === null) serve(socket, proxy)
    else if (!('then' in own)) serve(socket, proxyBy(own))
    else {
      socket.once('error', () => socket.destroy())
      void own.then((found) => socket.destroyed || serve(socket, proxyBy(found)))
    }
  }

  function close(): Promise<void> {
    closed ??= shut()
    return closed
  }

  async function shut(): Promise<void> {
    signal?.removeEventListener('abort', onAbort)
    clearTimeout(warming)
    ended.abort()
    const gone = listeners.map((one) => new Promise<void>((resolve) => one.close(() => resolve())))
    for (const one of [proxy, ...proxies.values()]) one.close()
    const closing = Array.from(
      clients,
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    )
    for (const socket of clients) socket.destroy()
    const dropped = agent.closed()
    agent.destroy()
    await Promise.all([...gone, dropped, ...closing])
    listener.off('connection', accept)
  }

  function onAbort(): void {
    void close()
  }

  // In advance: the first request finds a signed leaf and the loaded roots.
  const pieces = warmUp()
  let warming = setTimeout(warm, WARM_MILLISECONDS)

  function warm(): void {
    // Answer a waiting client first; it triggers what it needs.
    if (counts.accepted > 0) return
    if (!pieces.next().done) warming = setTimeout(warm, 1)
  }

  function* warmUp(): Generator<void> {
    const likely =
      rules.allowed?.filter(({ pattern }) => !pattern.wildcard && pattern.kind !== 'unix').slice(0, WARM_HOSTS) ?? []
    for (const rule of likely) yield void options.ca.contextFor(rule.pattern.host)
    while (agent.prepare()) yield
  }

  listener.on('connection', accept)
  listener.on('error', onAbort)
  if (signal?.aborted) void close()
  else signal?.addEventListener('abort', onAbort, { once: true })
  return {
    close,
    serve: (further) => {
      listeners.push(further)
      further.on('connection', acceptDirect)
      further.on('error', onAbort)
      if (closed !== null) further.close()
    },
    connectLocal: (socket, target) =>
      take(socket, (client) => relayLocal(passage, client, target, options.signers?.get(target) ?? null)),
    stats: () => ({ ...counts, open: clients.size, upstream: agent.open }),
  }
}

/**
 * Connects a client with the socket at a judged path; closes it if that fails. With a key, the
 * socket only signs with it.
 */
function relayLocal(passage: Passage, client: Socket, path: string, signs: string | null): void {
  const record = startRecord(passage, { kind: 'unix', host: `unix:${path}` })
  client.allowHalfOpen = true
  const host = connect({ path, allowHalfOpen: true })
  const failed = ({ message }: Error) => {
    recordRefused(passage, record, { code: 'upstream-unreachable', message: `the unix socket ${path}: ${message}` })
    client.destroy()
  }
  const abandon = () => host.destroy()
  host.once('error', failed)
  client.once('close', abandon)
  host.once('connect', () => {
    client.off('close', abandon)
    // An agent, or a database in a long transaction, may be silent for any time.
    const refused = (what: string) =>
      recordRefused(passage, record, { code: 'signature-refused', message: `the agent ${path}: ${what}` })
    const joined = join(client, host, 0, signs === null ? {} : joinSigner(client, signs, refused))
    host.off('error', failed)
    void joined.then((bytes) => recordAllowed(passage, record, bytes))
  })
}
