/** Streams a model's answer, with retries before the first byte and never after. */

import { messageOf } from '../system/fault.ts'
import { recordOf } from '../system/json.ts'
import { type ModelRequest, type ProviderEvent, ProviderFault } from './conversation.ts'
import { cutShort, EventStreamReader, fieldsOf, textOf, type Wire } from './wire.ts'

/** Sends a request under Cordon's egress rules. Throws a `ProviderFault` if refused. */
export type Transport = (request: TransportRequest) => Promise<TransportAnswer>

export interface TransportRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Null: a GET. */
  readonly body: string | null
  readonly signal: AbortSignal
}

export interface TransportAnswer {
  readonly status: number
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

export interface Endpoint {
  readonly wire: Wire
  readonly baseUrl: string
  readonly key: string | null
  readonly headers: Readonly<Record<string, string>>
}

export interface AskOptions {
  readonly transport: Transport
  readonly signal: AbortSignal
  /** Attempts after the first. */
  readonly retries?: number
  /** A stream may be silent for this long. */
  readonly silenceMs?: number
  /** Limit of an answer. */
  readonly maxBytes?: number
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>
  /** Between 0 and 1, to spread retries. */
  readonly random: () => number
  readonly now: () => number
  readonly onRetry?: (problem: ProviderFault, waitMs: number) => void
  /** Receives payloads for dumps, without headers. */
  readonly onPayload?: (direction: 'request' | 'answer', text: string) => void
}

const RETRIES = 4
const SILENCE_MS = 180_000
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 60_000
const MAX_ERROR_BYTES = 64 * 1024
/** An endless answer must not fill the memory. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024
const BUSY: ReadonlySet<number> = new Set([408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529])

/** Ends with `done`, or throws a `ProviderFault` or the signal's reason. */
export async function* askModel(
  endpoint: Endpoint,
  request: ModelRequest,
  options: AskOptions,
): AsyncGenerator<ProviderEvent> {
  const retries = options.retries ?? RETRIES
  for (let attempt = 0; ; attempt++) {
    let came = false
    try {
      for await (const event of attemptOnce(endpoint, request, options)) {
        came = true
        yield event
      }
      return
    } catch (error) {
      options.signal.throwIfAborted()
      const fault = error instanceof ProviderFault ? error : unreachable(error)
      const wait = waitOf(fault, attempt, options)
      if (came || !fault.resumable || attempt >= retries || wait === null) throw fault
      options.onRetry?.(fault, wait)
      await options.sleep(wait, options.signal)
    }
  }
}

async function* attemptOnce(
  { wire, baseUrl, key, headers: own }: Endpoint,
  request: ModelRequest,
  { transport, signal, silenceMs = SILENCE_MS, maxBytes = MAX_ANSWER_BYTES, onPayload, now }: AskOptions,
): AsyncGenerator<ProviderEvent> {
  const { path, headers, body } = wire.request(request, key)
  const text = JSON.stringify(body)
  onPayload?.('request', text)
  const silence = new SilenceWatch(silenceMs)
  try {
    const answer = await transport({
      url: `${baseUrl.replace(/\/+$/, '')}${path}`,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'user-agent': 'cordon',
        ...headers,
        ...own,
      },
      body: text,
      signal: AbortSignal.any([signal, silence.signal]),
    })
    if (answer.status !== 200) throw await failureOf(answer, now())
    const events = new EventStreamReader()
    const reader = wire.reader()
    let size = 0
    for await (const bytes of answer.body) {
      signal.throwIfAborted()
      silence.heard()
      size += bytes.length
      if (size > maxBytes) throw new ProviderFault('provider-malformed', 'the response of the provider is too long')
      for (const event of events.take(bytes)) {
        onPayload?.('answer', event.data)
        for (const parsed of reader.take(event)) {
          yield parsed
          if (parsed.type === 'done') return
        }
      }
    }
    signal.throwIfAborted()
    yield* reader.end()
  } catch (error) {
    signal.throwIfAborted()
    if (silence.signal.aborted) {
      throw new ProviderFault('provider-silent', `nothing came for ${silenceMs / 1000} s`, { resumable: true })
    }
    throw error
  } finally {
    silence.stop()
  }
}

const MAX_MODELS = 500

/** The names of the endpoint's models; empty if it lists none. */
export async function listModels(
  { wire, baseUrl, key, headers: own }: Endpoint,
  { transport, signal }: Pick<AskOptions, 'transport' | 'signal'>,
): Promise<readonly string[]> {
  const { headers } = wire.request(
    { system: '', messages: [], tools: [], model: 'x', maxTokens: 1, extra: {} } as unknown as ModelRequest,
    key,
  )
  const url = `${baseUrl.replace(/\/+$/, '')}/models`
  const answer = await transport({ url, headers: { 'user-agent': 'cordon', ...headers, ...own }, body: null, signal })
  const text = await firstBytes(answer.body, 16 * MAX_ERROR_BYTES)
  if (answer.status !== 200) return []
  const { data, models } = fieldsOf(text)
  const rows = [data, models].flatMap((list) => (Array.isArray(list) ? list : []))
  const names = rows.map((row) => textOf(recordOf(row).id) || textOf(recordOf(row).name).replace(/^models\//, ''))
  return [...new Set(names.filter((name) => name !== '' && name.length <= 200))].sort().slice(0, MAX_MODELS)
}

/** Aborts after a silence. */
class SilenceWatch {
  readonly #abort = new AbortController()
  readonly #timer: NodeJS.Timeout

  constructor(milliseconds: number) {
    this.#timer = setTimeout(() => this.#abort.abort(), milliseconds)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  heard(): void {
    this.#timer.refresh()
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}

/** The fault of an error status, with the provider's reason. */
async function failureOf({ status, headers, body }: TransportAnswer, now: number): Promise<ProviderFault> {
  const said = reasonIn(await firstBytes(body))
  const wait = retryAfter(headers, now)
  const remedy =
    status === 401 || status === 403
      ? 'Check the key: cordon login stores another one.'
      : status === 404
        ? 'Check the model and the base URL of the profile.'
        : undefined
  const fault = new RefusedRequest(
    status === 401 || status === 403 ? 'provider-key' : status === 429 ? 'provider-limit' : 'provider-status',
    `the provider answered ${status}${said === '' ? '' : `: ${said}`}`,
    { status, resumable: BUSY.has(status), ...(remedy !== undefined && { remedy }) },
  )
  fault.waitMs = wait
  return fault
}

class RefusedRequest extends ProviderFault {
  waitMs: number | null = null
}

async function firstBytes(body: AsyncIterable<Uint8Array>, most = MAX_ERROR_BYTES): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const bytes of body) {
      parts.push(bytes)
      size += bytes.length
      if (size > most) break
    }
  } catch {
    // The status is enough.
  }
  return Buffer.concat(parts).toString('utf8').slice(0, most)
}

function reasonIn(text: string): string {
  try {
    const body = fieldsOf(text)
    const { error } = body
    return textOf(error) || textOf(recordOf(error).message) || textOf(body.message)
  } catch {
    return text
      .replace(/<[^>]*>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 200)
  }
}

/** The wait that the provider asks for, in milliseconds; null if none. */
export function retryAfter(headers: Readonly<Record<string, string>>, now: number): number | null {
  const exact = Number(headers['retry-after-ms'])
  if (headers['retry-after-ms'] !== undefined && Number.isFinite(exact) && exact >= 0) return exact
  const given = headers['retry-after']?.trim()
  if (given === undefined || given === '') return null
  const seconds = Number(given)
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds * 1000 : null
  const date = Date.parse(given)
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}

/** Null if the requested wait is too long. */
function waitOf(fault: ProviderFault, attempt: number, { random }: AskOptions): number | null {
  const asked = fault instanceof RefusedRequest ? fault.waitMs : null
  if (asked !== null) return asked > MAX_WAIT_MS ? null : asked
  return Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** attempt) * (0.75 + random() / 2)
}

function unreachable(error: unknown): ProviderFault {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET' || /aborted|terminated/i.test(messageOf(error))) {
    return Object.assign(cutShort(), { cause: error })
  }
  return new ProviderFault('provider-unreachable', `the provider cannot be reached: ${messageOf(error)}`, {
    cause: error,
    resumable: true,
  })
}
