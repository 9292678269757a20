/** A wrapped server with its catalog, grants, progress and requests. */

import type { ServerPins } from '../../../agents/mcp/pins.ts'
import type { ServerRequest } from '../../../agents/mcp/servers.ts'
import { createRedactor, type Redactor } from '../../../scan/redact/redact.ts'
import { ERROR, type Json, RpcError } from '../../../system/json-rpc.ts'
import type { Elicit } from '../rounds.ts'
import type { ChangeFeed } from './change-feed.ts'
import type { GatewayGate } from './gate.ts'
import { LogRelay, reaches } from './log-relay.ts'
import { guardedNote, type Origin } from './result.ts'
import { ServerCatalog } from './server-catalog.ts'
import { answerServer } from './server-requests.ts'
import { ALONE, type CallContext, type Connection, WrappedServer } from './wrapped-server.ts'

const INTERVAL_MS = 100
/** Progress steps that are relayed at once. */
const BURST = 10

export class ProgressRelay {
  readonly #tell: (given: Json) => void
  readonly #now: () => number
  /** Steps left, as of `#counted`. */
  #left = BURST
  #counted = Number.NEGATIVE_INFINITY
  #waiting: Json | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(tell: (given: Json) => void, now: () => number) {
    this.#tell = tell
    this.#now = now
  }

  take(given: Json): void {
    this.#count()
    this.#waiting = given
    if (this.#left >= 1) this.#flush()
    else this.#timer ??= setTimeout(() => this.#flush(), (1 - this.#left) * INTERVAL_MS)
  }

  /** Sends the last waiting progress before the answer, and nothing afterwards. */
  end(): void {
    this.#flush()
  }

  #flush(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
    const given = this.#waiting
    this.#waiting = null
    if (given === null) return
    this.#count()
    this.#left = Math.max(0, this.#left - 1)
    this.#tell(given)
  }

  #count(): void {
    const now = this.#now()
    this.#left = Math.min(BURST, this.#left + (now - this.#counted) / INTERVAL_MS)
    this.#counted = now
  }
}

export interface GatewayServerParts {
  readonly label: string
  readonly connect: (receive: (text: string | null) => void) => Connection
  readonly pins: Pick<ServerPins, 'known' | 'accept'>
  readonly accept: boolean
  readonly requests: readonly ServerRequest[]
  /** Values given to the server that must not come back; more may be added while it runs. */
  readonly known: () => readonly string[]
  /** Those of them that no definition may contain. */
  readonly keys: () => readonly string[]
  readonly startMs?: number
  readonly listMs?: number
}

/** The functions of its gateway that a server needs. */
export interface Surroundings {
  readonly root: string
  readonly gate: GatewayGate
  readonly feed: ChangeFeed
  readonly warn: (text: string) => void
  readonly now: () => number
  /** Whether the person can be shown forms. */
  readonly elicits: () => boolean
  readonly elicit: () => Elicit | null
  readonly sample: () => ((params: Json, signal: AbortSignal) => Promise<unknown>) | null
  readonly logLevel: () => string | null
  readonly log: (params: Json) => void
}

const MAX_QUESTIONS = 10
const QUESTIONS_MS = 60_000

/** The redactor of values of which there may be more later. */
function redactorOf(values: () => readonly string[]): () => Redactor {
  let known: readonly string[] = []
  let redactor = createRedactor()
  return () => {
    const now = values()
    if (now.length !== known.length) [known, redactor] = [now, createRedactor(now)]
    return redactor
  }
}

export class GatewayServer {
  readonly label: string
  readonly wrapped: WrappedServer
  readonly catalog: ServerCatalog
  readonly origin: Origin
  readonly #around: Surroundings
  readonly #parts: GatewayServerParts
  readonly #logs: LogRelay
  #asking = false
  #questions: number[] = []

  constructor(parts: GatewayServerParts, around: Surroundings) {
    this.label = parts.label
    this.#parts = parts
    this.#around = around
    const [known, keys] = [redactorOf(parts.known), redactorOf(parts.keys)]
    this.origin = {
      label: parts.label,
      get redactor() {
        return known()
      },
    }
    this.#logs = new LogRelay(this.origin, around.now)
    this.wrapped = new WrappedServer({
      label: parts.label,
      connect: parts.connect,
      capabilities: () => this.#capabilities(),
      asked: (method, params, context, signal) => this.#asked(method, params, context, signal),
      clean: (text) => String(guardedNote(text, this.origin)),
      notified: (method, params) => this.#notified(method, params),
      up: () => this.#up(),
      warn: around.warn,
      now: around.now,
      ...(parts.startMs !== undefined && { startMs: parts.startMs }),
    })
    this.catalog = new ServerCatalog({
      server: this.wrapped,
      pins: parts.pins,
      accept: parts.accept,
      leaks: (text) => {
        const [own, plain] = [keys(), createRedactor()]
        return own !== plain && own.redact(text) !== plain.redact(text)
      },
      ask: (message, elicit, signal) => around.gate.ask(message, elicit, signal),
      warn: around.warn,
      ...(parts.listMs !== undefined && { listMs: parts.listMs }),
    })
  }

  /** Sends a client's request to the server, and cleans progress on the way. */
  async request(method: string, params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { progress, logLevel } = context
    if (logLevel !== null) await this.setLogLevel(logLevel, signal).catch(() => {})
    const relay = progress && new ProgressRelay((given) => progress(this.#progressOf(given)), this.#around.now)
    try {
      const reported = relay && ((given: Json) => relay.take(given))
      return await this.wrapped.request(method, params, { ...context, progress: reported }, signal)
    } finally {
      relay?.end()
    }
  }

  /** Sent once to a server with a handshake, and with each request to others. */
  async setLogLevel(level: string, signal: AbortSignal): Promise<void> {
    await this.wrapped.ready()
    if (!this.wrapped.isStateless && this.wrapped.has('logging')) {
      await this.wrapped.request('logging/setLevel', { level }, ALONE, signal)
    }
  }

  close(): Promise<void> {
    return this.wrapped.close()
  }

  #capabilities(): Json {
    const { requests } = this.#parts
    return {
      ...(requests.includes('elicitation') && this.#around.elicits() && { elicitation: {} }),
      ...(requests.includes('sampling') && this.#around.sample() && { sampling: {} }),
      ...(requests.includes('roots') && { roots: {} }),
    }
  }

  /** One question at a time with a limit: people say yes to end a flood. */
  async #asked(method: string, params: Json, context: CallContext, signal: AbortSignal): Promise<unknown> {
    if (this.#asking) throw new RpcError(ERROR.refused, 'another question of this server is open')
    const now = this.#around.now()
    this.#questions = this.#questions.filter((time) => now - time < QUESTIONS_MS)
    if (this.#questions.length >= MAX_QUESTIONS) throw new RpcError(ERROR.refused, 'this server asks too often')
    this.#questions.push(now)
    this.#asking = true
    try {
      const { root, gate } = this.#around
      const { requests: granted } = this.#parts
      const parts = { origin: this.origin, granted, root, gate, sample: this.#around.sample() }
      return await answerServer(method, params, parts, context.elicit ?? this.#around.elicit(), signal)
    } finally {
      this.#asking = false
    }
  }

  #up(): void {
    const level = this.#around.logLevel()
    if (level !== null) void this.setLogLevel(level, new AbortController().signal).catch(() => {})
    this.#around.feed.resubscribe(this)
  }

  #notified(method: string, params: Json): void {
    if (method === 'notifications/message') this.#logged(params)
    else this.#around.feed.changed(this.label, method, params)
  }

  #logged(params: Json): void {
    const message = this.#logs.pass(params)
    if (!message) return
    const level = this.#around.logLevel()
    if (level !== null && reaches(message.level, level)) this.#around.log(message)
    const wanting = this.wrapped
      .contexts()
      .find(({ logLevel }) => logLevel !== null && reaches(message.level, logLevel))
    wanting?.log?.(message)
  }

  #progressOf({ progress, total, message }: Json): Json {
    return {
      progress: typeof progress === 'number' ? progress : 0,
      ...(typeof total === 'number' && { total }),
      ...(typeof message === 'string' && { message: guardedNote(message, this.origin) }),
    }
  }
}
