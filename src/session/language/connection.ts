/** The Language Server Protocol: framed messages, requests and answers, without a process. */

import { fileURLToPath } from 'node:url'
import { isRecord, recordOf } from '../../system/json.ts'
import type { LanguageAction } from '../../tools/built-in/agent-tools.ts'
import type { ToolOutput } from '../../tools/tool.ts'

interface Diagnostic {
  readonly line: number
  readonly column: number
  readonly severity: string
  readonly message: string
}

const MAX_ROWS = 200
const SEVERITIES = ['', 'error', 'warning', 'information', 'hint']

/** An answer as text and data; `shown` shortens paths. */
export function answerText(action: LanguageAction, answer: unknown, shown: (path: string) => string): ToolOutput {
  switch (action) {
    case 'diagnostics': {
      const found = diagnosticsIn(answer)
      return rows(
        found.map((one) => `${one.line}:${one.column} ${one.severity}: ${one.message}`),
        'No problems.',
        found,
      )
    }
    case 'symbols':
      return rows(symbolsIn(answer, ''), 'No symbols.')
    case 'rename':
      return rows(editsIn(answer, shown), 'Nothing would change.')
    default:
      return rows(placesIn(answer, shown), 'Nothing was found.')
  }
}

function rows(lines: readonly string[], none: string, data: unknown = lines): ToolOutput {
  const left = lines.length - MAX_ROWS
  const text = lines.slice(0, MAX_ROWS).join('\n') || none
  return { text: left > 0 ? `${text}\n… and ${left} more` : text, data }
}

function diagnosticsIn(answer: unknown): readonly Diagnostic[] {
  const { items } = recordOf(answer)
  return list(items).map((item) => {
    const { line, column } = startOf(item.range)
    const message = String(item.message ?? '').slice(0, 1000)
    return { line, column, severity: SEVERITIES[Number(item.severity)] || 'error', message }
  })
}

function symbolsIn(answer: unknown, indent: string): string[] {
  return list(answer).flatMap((symbol) => {
    const { line } = startOf(symbol.selectionRange ?? recordOf(symbol.location).range)
    return [`${indent}${String(symbol.name)} (line ${line})`, ...symbolsIn(symbol.children, `${indent}  `)]
  })
}

function placesIn(answer: unknown, shown: (path: string) => string): string[] {
  const places = isRecord(answer) ? [answer] : list(answer)
  return places.map((place) => {
    const { line, column } = startOf(place.targetSelectionRange ?? place.range)
    return `${pathOf(place.targetUri ?? place.uri, shown)}:${line}:${column}`
  })
}

/** `path:line:column-line:column -> text` for each edit. */
function editsIn(answer: unknown, shown: (path: string) => string): string[] {
  const { changes, documentChanges } = recordOf(answer)
  const files = [
    ...Object.entries(recordOf(changes)),
    ...list(documentChanges).map((change) => [recordOf(change.textDocument).uri, change.edits] as const),
  ]
  return files.flatMap(([uri, edits]) =>
    list(edits).map((edit) => {
      const start = startOf(edit.range)
      const end = placeOf(recordOf(edit.range).end)
      return `${pathOf(uri, shown)}:${start.line}:${start.column}-${end.line}:${end.column} -> ${JSON.stringify(edit.newText)}`
    }),
  )
}

function list(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : []
}

function startOf(range: unknown): { readonly line: number; readonly column: number } {
  return placeOf(recordOf(range).start)
}

function placeOf(place: unknown): { readonly line: number; readonly column: number } {
  const { line, character } = recordOf(place)
  return { line: Number(line ?? 0) + 1, column: Number(character ?? 0) + 1 }
}

function pathOf(uri: unknown, shown: (path: string) => string): string {
  try {
    return shown(fileURLToPath(String(uri)))
  } catch {
    return String(uri)
  }
}

const MAX_MESSAGE = 32 * 1024 * 1024

export type LanguageMessage = Readonly<Record<string, unknown>>

/** Splits bytes into messages. */
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
      if (!(length <= MAX_MESSAGE)) throw new Error('the language server sent a message without a valid length')
      if (this.#rest.length < end + 4 + length) break
      const text = this.#rest.subarray(end + 4, end + 4 + length).toString('utf8')
      this.#rest = this.#rest.subarray(end + 4 + length)
      const value: unknown = JSON.parse(text)
      if (isRecord(value)) messages.push(value)
    }
    if (this.#rest.length > MAX_MESSAGE + 4096) throw new Error('the language server sent an endless message')
    return messages
  }
}

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

  /** Rejects waiting requests: the server is gone. */
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
      // Requests from servers are not supported; null answers most of them.
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
