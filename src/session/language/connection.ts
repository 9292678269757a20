/** The Language Server Protocol: framed messages, requests and answers, without a process. */

import { fileURLToPath } from 'node:url'
import { isRecord, recordOf } from '../../system/json.ts'
import { type Handlers, type Json, RpcError, RpcPeer } from '../../system/json-rpc.ts'
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

/** Splits bytes into messages. */
export class MessageReader {
  #rest: Buffer = Buffer.alloc(0)

  take(bytes: Uint8Array): Json[] {
    this.#rest = Buffer.concat([this.#rest, bytes])
    const messages: Json[] = []
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

/** A peer that frames its messages, and answers no requests of servers. */
export class LanguageConnection {
  readonly #peer: RpcPeer
  readonly #reader = new MessageReader()

  constructor(send: (bytes: Buffer) => void, onNotification: Handlers['notification']) {
    const write = (message: Json) => {
      const body = Buffer.from(JSON.stringify(message))
      send(Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]))
    }
    // Null answers most requests.
    const request: Handlers['request'] = async ({ method, params }) =>
      method === 'workspace/configuration' && Array.isArray(params.items) ? params.items.map(() => null) : null
    this.#peer = new RpcPeer(write, { request, notification: onNotification }, (id) => ['$/cancelRequest', { id }])
  }

  take(bytes: Uint8Array): void {
    try {
      for (const message of this.#reader.take(bytes)) void this.#peer.accept(message)
    } catch (error) {
      this.end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  async request(method: string, params: Json, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#peer.request(method, params, signal)
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RpcError)) throw error
      throw new Error(`the language server says: ${error.message.slice(0, 500)}`)
    }
  }

  notify(method: string, params: Json): void {
    this.#peer.notify(method, params)
  }

  /** Rejects waiting requests: the server is gone. */
  end(reason: Error): void {
    this.#peer.close(reason)
  }
}
