/** The wire of the Language Server Protocol: messages with a length before them, requests with their answers. No process. */

import { isRecord } from '../../system/record.ts'

const MAX_MESSAGE = 32 * 1024 * 1024

export type LanguageMessage = Readonly<Record<string, unknown>>

/** Messages out of bytes, however they were cut. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0)

  take(bytes: Uint8Array): LanguageMessage[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const messages: LanguageMessage[] = []
    for (;;) {
      const end = this.#rest.indexOf('\r\n\r\n')
      if (end < 0) break
      const length = Number(
        /content-length: *(\d+)/i.exec(this.#rest.subarray(0, end).toString('latin1'))?.[1] ?? Number.NaN,
      )
      if (!(length <= MAX_MESSAGE)) throw new Error('the language server sent a message without a fit length')
      if (this.#rest.length < end + 4 + length) break
      const text = this.#rest.subarray(end + 4, end + 4 + length).toString('utf8')
      this.#rest = this.#rest.subarray(end + 4 + length)
      const value: unknown = JSON.parse(text)
      if (isRecord(value)) messages.push(value)
    }
    if (this.#rest.length > MAX_MESSAGE + 4096) throw new Error('the language server sent a message without end')
    return messages
  }
}

/** A conversation with a server. */
export class LanguageConnection {
  readonly #send: (bytes: Buffer) => void
  readonly #reader = new MessageReader()
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  readonly #onNotification: (method: string, params: unknown) => void
  #id = 0
  #ended: Error | null = null

  constructor(send: (bytes: Buffer) => void, onNotification: (method: string, params: unknown) => void) {
    this.#send = send
    this.#onNotification = onNotification
  }

  take(bytes: Uint8Array): void {
    try {
      for (const message of this.#reader.take(bytes)) this.#receive(message)
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended)
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(id)
        this.notify('$/cancelRequest', { id })
        reject(signal.reason)
      }
      const done = () => signal.removeEventListener('abort', onAbort)
      this.#waiting.set(id, {
        resolve: (value) => {
          done()
          resolve(value)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      })
      signal.addEventListener('abort', onAbort, { once: true })
      this.#write({ id, method, params })
    })
  }

  notify(method: string, params: unknown): void {
    if (!this.#ended) this.#write({ method, params })
  }

  /** The server is gone: the process that waits is told. */
  end(reason: Error): void {
    this.#ended ??= reason
    for (const { reject } of this.#waiting.values()) reject(this.#ended)
    this.#waiting.clear()
  }

  #write(message: object): void {
    const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
    this.#send(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]))
  }

  #receive(message: LanguageMessage): void {
    const { id, method, result, error, params } = message
    if (typeof method === 'string') {
      if (id === undefined) this.#onNotification(method, params)
      // What servers ask of their client is nothing that they get here; null answers most of it.
      else this.#write({ id, result: method === 'workspace/configuration' ? itemsOf(params).map(() => null) : null })
      return
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (!waiting) return
    this.#waiting.delete(id as number)
    if (isRecord(error)) waiting.reject(new Error(`the language server says: ${String(error.message).slice(0, 500)}`))
    else waiting.resolve(result)
  }
}

function itemsOf(params: unknown): readonly unknown[] {
  return isRecord(params) && Array.isArray(params.items) ? params.items : []
}
