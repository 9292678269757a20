/** A gateway between a client and servers that a test plays, of either era, without processes. */

import type { GatewayJudge } from '../../../src/agents/mcp/judge.ts'
import type { DescriptionPin } from '../../../src/agents/mcp/pins.ts'
import type { ServerRequest } from '../../../src/agents/mcp/servers.ts'
import { LiveHistory } from '../../../src/call/admission.ts'
import type { SessionRecorder } from '../../../src/call/record/recorder.ts'
import { soleDecision } from '../../../src/policy/decision.ts'
import { readMcpName } from '../../../src/policy/mcp-names.ts'
import {
  gatewayCall,
  judgeMcpCall,
  type McpRules,
  readToolGrant,
  type ToolGrant,
} from '../../../src/policy/mcp-rules.ts'
import type { Elsewhere } from '../../../src/surfaces/mcp/gateway/gate.ts'
import { GatewaySession } from '../../../src/surfaces/mcp/gateway/session.ts'
import { META, STATELESS_REVISION } from '../../../src/surfaces/mcp/revision.ts'
import { ERROR, type Json, RpcError, RpcPeer } from '../../../src/system/json-rpc.ts'

export type Era = 'handshake' | 'stateless'
export const signal: AbortSignal = new AbortController().signal
export const text = (value: string): Json => ({ content: [{ type: 'text', text: value }] })

export const echo: Json = {
  name: 'echo',
  description: 'Says it again.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
}

/** A marker for JSON nested deeper than JSON.stringify can write. */
export const BOTTOMLESS = '@bottomless@'
const NESTED = `${'{"properties":'.repeat(100_000)}{}${'}'.repeat(100_000)}`

/** A server that does what the test says. */
export class PlayedServer {
  era: Era = 'handshake'
  name = 'played'
  tools: Json[] = [echo]
  prompts: Json[] = []
  resources: Json[] = []
  templates: Json[] = []
  endless = false
  starts = 0
  readonly asked: { readonly method: string; readonly params: Json }[] = []
  answer: (method: string, params: Json) => Promise<unknown> = async (_, params) =>
    text(String((params.arguments as Json | undefined)?.text))
  peer: RpcPeer = null!
  /** Ends the server as a crash would. */
  crash: () => void = () => {}

  connect(receive: (message: Json) => void): (message: Json) => void {
    this.starts++
    const peer = new RpcPeer((message) => queueMicrotask(() => receive(message)), {
      request: ({ method, params }) => this.#serve(method, params),
      notification: (method, params) => void this.asked.push({ method, params }),
    })
    this.peer = peer
    return (message) => queueMicrotask(() => void peer.accept(message))
  }

  async #serve(method: string, params: Json): Promise<unknown> {
    this.asked.push({ method, params })
    const stateless = this.era === 'stateless'
    const capabilities = {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      completions: {},
      logging: {},
    }
    const sealedAs = (result: Json): Json => (stateless ? { resultType: 'complete', ...result } : result)
    if (method === 'initialize') {
      if (stateless) throw new RpcError(ERROR.method, 'there is no handshake')
      return { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: this.name } }
    }
    if (stateless && (params._meta as Json | undefined)?.[META.revision] !== STATELESS_REVISION)
      throw new RpcError(ERROR.params, 'no envelope')
    const cursor = this.endless ? { nextCursor: 'on' } : {}
    switch (method) {
      case 'server/discover':
        return sealedAs({
          supportedVersions: [STATELESS_REVISION],
          capabilities,
          _meta: { [META.server]: { name: this.name } },
        })
      case 'tools/list':
        return sealedAs({ tools: this.tools, ...cursor })
      case 'prompts/list':
        return sealedAs({ prompts: this.prompts })
      case 'resources/list':
        return sealedAs({ resources: this.resources })
      case 'resources/templates/list':
        return sealedAs({ resourceTemplates: this.templates })
      case 'subscriptions/listen':
        return new Promise(() => {})
      case 'logging/setLevel':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return {}
      default: {
        const result = await this.answer(method, params)
        return stateless && typeof result === 'object' ? sealedAs(result as Json) : result
      }
    }
  }
}

export interface WorldOptions {
  readonly servers?: Readonly<Record<string, PlayedServer>>
  readonly levels?: Readonly<Record<string, 'allow' | 'deny'>>
  readonly rules?: McpRules
  readonly client?: Era
  readonly elicits?: boolean
  readonly samples?: boolean
  readonly answer?: string
  readonly requests?: readonly ServerRequest[]
  readonly pins?: Map<string, DescriptionPin>
  readonly accept?: boolean
  readonly elsewhere?: Elsewhere
  readonly startMs?: number
  readonly listMs?: number
  readonly patienceMs?: number
}

export interface World {
  readonly servers: Readonly<Record<string, PlayedServer>>
  readonly server: PlayedServer
  readonly gateway: GatewaySession
  readonly warnings: string[]
  readonly recorded: string[]
  /** Questions that were put to the person. */
  readonly asked: Json[]
  readonly sampled: Json[]
  readonly heard: { readonly method: string; readonly params: Json }[]
  readonly pins: Map<string, DescriptionPin>
  /** Moves the clock of the gateway. */
  readonly wait: (milliseconds: number) => void
  /** A request of the client; in the stateless era its questions are answered on the way. */
  readonly request: (method: string, params?: Json, signal?: AbortSignal) => Promise<Json>
  readonly list: () => Promise<string[]>
  readonly call: (name: string, given: Json) => Promise<{ readonly text: string; readonly isError: boolean }>
}

/** No one but the client can be asked. */
export const NOWHERE: Elsewhere = {
  share: (inner) => inner,
  wait: async () => {},
  fleet: async () => null,
  taken: () => null,
  keep: () => 'no one is there',
}

/** Opens a gateway; the first server is `srv` unless others are given. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const servers = options.servers ?? { srv: new PlayedServer() }
  const era = options.client ?? 'handshake'
  const pins = options.pins ?? new Map<string, DescriptionPin>()
  const [warnings, recorded] = [[] as string[], [] as string[]]
  const [asked, sampled]: [Json[], Json[]] = [[], []]
  const heard: { method: string; params: Json }[] = []
  let now = 1_000_000
  const gateway: GatewaySession = new GatewaySession({
    judge: judge(options.levels ?? {}, options.rules),
    recorder: recorder(recorded),
    elsewhere: options.elsewhere ?? NOWHERE,
    root: '/project',
    toClient: (message) => queueMicrotask(() => void client.accept(message)),
    warn: (line) => void warnings.push(line),
    now: () => now,
    ...(options.patienceMs !== undefined && { patienceMs: options.patienceMs }),
    servers: Object.entries(servers).map(([label, server]) => ({
      label,
      accept: options.accept ?? false,
      requests: options.requests ?? ['elicitation'],
      startMs: options.startMs ?? 500,
      ...(options.listMs !== undefined && { listMs: options.listMs }),
      known: () => ['value-from-a-config', 'word-of-a-config'],
      keys: () => ['value-from-a-config'],
      pins: {
        known: () => ownPins(pins, label),
        accept: (more) => {
          for (const [name, pin] of Object.entries(more)) pins.set(`${label} ${name}`, pin)
        },
      },
      connect: (receive) => {
        let end = (_: string): void => {}
        const ended = new Promise<string>((resolve) => {
          end = resolve
        })
        let alive = true
        const send = server.connect((message) => {
          if (alive) receive(JSON.stringify(message).replaceAll(`"${BOTTOMLESS}"`, NESTED))
        })
        server.crash = () => {
          alive = false
          end('it crashed')
        }
        return {
          ended,
          send: (message) => {
            if (alive) send(message)
          },
          stop: async () => {
            alive = false
            end('stopped')
          },
        }
      },
    })),
  })
  const client: RpcPeer = new RpcPeer((message) => queueMicrotask(() => void gateway.client.accept(message)), {
    request: async ({ method, params }) => {
      if (method === 'sampling/createMessage') {
        sampled.push(params)
        return { role: 'assistant', model: 'm', content: { type: 'text', text: 'four' } }
      }
      return elicited(params)
    },
    notification: (method, params) => void heard.push({ method, params }),
  })
  const elicited = (params: Json): Json => {
    asked.push(params)
    const answer = options.answer ?? 'no'
    const { properties } = params.requestedSchema as { properties?: { answer?: { enum?: readonly string[] } } }
    // A call has every answer there is; other questions have yes and no.
    const names: Readonly<Record<string, string>> = properties?.answer?.enum?.includes('once')
      ? { yes: 'once', no: 'deny' }
      : {}
    return { action: 'accept', content: { answer: names[answer] ?? answer } }
  }
  const capabilities = {
    ...(options.elicits && { elicitation: {} }),
    ...(options.samples && { sampling: {} }),
  }
  const stateless = async (method: string, params: Json, still: AbortSignal): Promise<Json> => {
    const own = { ...(params._meta as Json), [META.revision]: STATELESS_REVISION, [META.capabilities]: capabilities }
    let given: Json = {}
    for (;;) {
      const result = (await client.request(method, { ...params, ...given, _meta: own }, still)) as Json
      if (result.resultType !== 'input_required') return result
      const requests = result.inputRequests as Record<string, { params: Json }>
      const inputResponses = Object.fromEntries(
        Object.entries(requests).map(([key, request]) => [key, elicited(request.params)]),
      )
      given = { inputResponses, requestState: result.requestState }
    }
  }
  const request: World['request'] = async (method, params = {}, still = signal) =>
    era === 'stateless' ? stateless(method, params, still) : ((await client.request(method, params, still)) as Json)
  if (era === 'handshake') {
    await request('initialize', {
      protocolVersion: '2025-11-25',
      capabilities,
      clientInfo: { name: 't', version: '0' },
    })
  }
  return {
    servers,
    server: Object.values(servers)[0]!,
    gateway,
    warnings,
    recorded,
    asked,
    sampled,
    heard,
    pins,
    wait: (milliseconds) => {
      now += milliseconds
    },
    request,
    list: async () => ((await request('tools/list')).tools as { name: string }[]).map((tool) => tool.name),
    call: async (name, given) => {
      const { content, isError } = await request('tools/call', { name, arguments: given })
      return {
        text: (content as { text: string }[]).map((part) => part.text).join('\n'),
        isError: isError === true,
      }
    },
  }
}

function ownPins(pins: ReadonlyMap<string, DescriptionPin>, label: string): Record<string, DescriptionPin> | null {
  const own = [...pins].filter(([name]) => name.startsWith(`${label} `))
  return own.length === 0 ? null : Object.fromEntries(own.map(([name, pin]) => [name.slice(label.length + 1), pin]))
}

function judge(
  levels: Readonly<Record<string, 'allow' | 'deny'>>,
  rules: McpRules | undefined,
): Omit<GatewayJudge, 'answered'> {
  const live = new LiveHistory({
    breaker: () => ({ failures: 1000, cooldown: 30 }),
    ring: () => ({ number: 2, limits: { callsPerMinute: null, seconds: null, memory: null } }),
    label: () => {},
    now: () => 0,
  })
  const place = { root: '/project', home: '/home/you' }
  const saved: ToolGrant[] = []
  return {
    place,
    history: live.of('mcp'),
    refresh: async () => {},
    decide: (called, _, call) => {
      const base = soleDecision(
        levels[called] ?? 'ask',
        { kind: 'tool', text: called },
        { code: 'level-ask', message: 'its level' },
      )
      if (!call) return base
      const known = new Map(rules ? [[readMcpName(called).server, rules]] : [])
      const mcp = gatewayCall(called, known, { ...call, canonical: (path) => path })
      return judgeMcpCall(base, called, mcp, {} as never, saved)
    },
    remember: async ({ grant, verdict }) => {
      const read = readToolGrant(grant.value, place)!
      saved.push({ ...read, level: verdict, rule: 'saved', source: 'test' })
      return null
    },
    close: () => {},
    whyNotAsked: () => null,
  }
}

function recorder(recorded: string[]): Pick<SessionRecorder, 'begin' | 'end' | 'answered' | 'granted' | 'flagged'> {
  return {
    begin: ({ tool, decision }) => {
      recorded.push(`${tool} ${decision.decision}`)
      return { call: '', started: 0, parsed: 'text' }
    },
    // As the real one: a denial is one line.
    end: (_, { status }) => void (status === 'denied' || recorded.push(status)),
    answered: () => {},
    granted: ({ scope, verdict, kind, value }) => void recorded.push(`${verdict} ${scope} ${kind} ${value}`),
    flagged: (_, tool) => void recorded.push(`taint ${tool}`),
  }
}
