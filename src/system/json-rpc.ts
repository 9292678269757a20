/** JSON-RPC 2.0: single messages, requests from both sides, cancellation. Without I/O. */

import { isRecord } from './json.ts'

export type Json = Readonly<Record<string, unknown>>
export type RequestId = string | number

/** Sends a message; a transport encodes it. */
export type Send = (message: Json) => void

/** A request for its handler. */
export interface IncomingRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: Json
  readonly signal: AbortSignal
}

export interface Handlers {
  request(request: IncomingRequest): Promise<unknown>
  notification(method: string, params: Json): void
}

/** The codes of JSON-RPC, and those of MCP 2026-07-28. */
export const ERROR = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  headers: -32020,
  capability: -32021,
  revision: -32022,
  /** Cordon's own: the policy or the person said no. */
  refused: 4003,
} as const

/** An error with a JSON-RPC code; other errors of a handler are internal. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly data: unknown

  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: Error) => void
}

/** More concurrent requests are refused: each can be a sandbox. */
const MAX_REQUESTS = 256

/** How a protocol cancels a request. */
export type Cancellation = (id: RequestId) => readonly [method: string, params: Json]

const MCP_CANCELLATION: Cancellation = (requestId) => [
  'notifications/cancelled',
  { requestId, reason: 'no longer needed' },
]

/** One side of a conversation. */
export class RpcPeer {
  readonly #send: Send
  readonly #handlers: Handlers
  readonly #cancellation: Cancellation
  readonly #running = new Map<RequestId, AbortController>()
  readonly #waiting = new Map<RequestId, Waiting>()
  #count = 0
  #closed: Error | null = null

  constructor(send: Send, handlers: Handlers, cancellation: Cancellation = MCP_CANCELLATION) {
    this.#send = send
    this.#handlers = handlers
    this.#cancellation = cancellation
  }

  /** Takes a message as text, or null for invalid bytes. Never throws; resolves once its request was answered. */
  async receive(text: string | null): Promise<void> {
    let message: unknown
    try {
      if (text === null) return this.#fail(null, ERROR.parse, 'the message is not UTF-8')
      message = JSON.parse(text)
    } catch {
      return this.#fail(null, ERROR.parse, 'the message is not JSON')
    }
    await this.accept(message)
  }

  async accept(message: unknown): Promise<void> {
    if (!isRecord(message) || message.jsonrpc !== '2.0') {
      return this.#fail(null, ERROR.request, 'a message is one JSON-RPC 2.0 object; batches are not supported')
    }
    const { id, method } = message
    if (typeof method === 'string') {
      const params = message.params ?? {}
      if (!isRecord(params)) return this.#fail(isId(id) ? id : null, ERROR.params, '"params" must be an object')
      if (id === undefined) return this.#notified(method, params)
      if (!isId(id)) return this.#fail(null, ERROR.request, '"id" must be a text or a number')
      return this.#requested({ id, method, params })
    }
    if (isId(id) && ('result' in message || 'error' in message)) return this.#answered(id, message)
    this.#fail(isId(id) ? id : null, ERROR.request, 'neither a request nor an answer')
  }

  request(method: string, params: Json, signal: AbortSignal): Promise<unknown> {
    const id = `cordon-${++this.#count}`
    return new Promise((resolve, reject) => {
      const cancelled = () => new Error('cancelled', { cause: signal.reason })
      if (this.#closed || signal.aborted) return reject(this.#closed ?? cancelled())
      const cancel = (): void => {
        this.#waiting.delete(id)
        this.notify(...this.#cancellation(id))
        reject(cancelled())
      }
      signal.addEventListener('abort', cancel, { once: true })
      const settled = (): void => signal.removeEventListener('abort', cancel)
      this.#waiting.set(id, {
        resolve: (result) => {
          settled()
          resolve(result)
        },
        reject: (error) => {
          settled()
          reject(error)
        },
      })
      this.#send({ jsonrpc: '2.0', id, method, params })
    })
  }

  notify(method: string, params: Json): void {
    if (!this.#closed) this.#send({ jsonrpc: '2.0', method, params })
  }

  /** Cancels the other side's requests, and fails ours. */
  close(reason: Error = new Error('the other side disconnected')): void {
    this.#closed ??= reason
    for (const controller of this.#running.values()) controller.abort()
    for (const { reject } of this.#waiting.values()) reject(this.#closed)
    this.#waiting.clear()
  }

  async #requested(request: Omit<IncomingRequest, 'signal'>): Promise<void> {
    const { id } = request
    if (this.#running.has(id))
      return this.#fail(id, ERROR.request, `a request with the id ${JSON.stringify(id)} is still running`)
    if (this.#running.size >= MAX_REQUESTS)
      return this.#fail(id, ERROR.internal, `${MAX_REQUESTS} requests are running already`)
    const controller = new AbortController()
    this.#running.set(id, controller)
    let answer: Json
    try {
      const result = await this.#handlers.request({ ...request, signal: controller.signal })
      answer = { jsonrpc: '2.0', id, result }
    } catch (error) {
      answer = { jsonrpc: '2.0', id, error: errorObject(error) }
    }
    this.#running.delete(id)
    // A cancelled request gets no answer.
    if (controller.signal.aborted) return
    try {
      this.#send(answer)
    } catch (error) {
      // A result that cannot be serialised, such as a cycle, is an error.
      this.#send({ jsonrpc: '2.0', id, error: errorObject(error) })
    }
  }

  #notified(method: string, params: Json): void {
    if (method === 'notifications/cancelled') {
      const { requestId } = params
      if (isId(requestId)) this.#running.get(requestId)?.abort()
      return
    }
    try {
      this.#handlers.notification(method, params)
    } catch {
      // A failing notification must not end the conversation.
    }
  }

  #answered(id: RequestId, message: Json): void {
    const waiting = this.#waiting.get(id)
    if (!waiting) return
    this.#waiting.delete(id)
    if ('error' in message) {
      const { code, message: text, data } = isRecord(message.error) ? message.error : {}
      waiting.reject(new RpcError(typeof code === 'number' ? code : ERROR.internal, String(text ?? 'an error'), data))
    } else waiting.resolve(message.result)
  }

  #fail(id: RequestId | null, code: number, message: string): void {
    if (!this.#closed) this.#send({ jsonrpc: '2.0', id, error: { code, message } })
  }
}

/** An error for the other side. */
export function errorObject(error: unknown): Json {
  const message = error instanceof Error ? error.message : String(error)
  if (!(error instanceof RpcError)) return { code: ERROR.internal, message }
  return { code: error.code, message, ...(error.data !== undefined && { data: error.data }) }
}

export function isId(value: unknown): value is RequestId {
  return typeof value === 'string' || (typeof value === 'number' && Number.isInteger(value))
}
