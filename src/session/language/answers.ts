/** What language servers answer, as a model reads it. */

import { fileURLToPath } from 'node:url'
import { isRecord, recordOf } from '../../system/record.ts'
import type { LanguageAction } from '../../tools/agent/lsp.ts'
import type { ToolOutput } from '../../tools/tool.ts'

export interface Diagnostic {
  readonly line: number
  readonly column: number
  readonly severity: string
  readonly message: string
}

const MAX_ROWS = 200
const SEVERITIES = ['', 'error', 'warning', 'information', 'hint']

/** The text and data of an answer; `shown` makes paths short. */
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

export function diagnosticsIn(answer: unknown): readonly Diagnostic[] {
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
