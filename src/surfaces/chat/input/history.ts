/** The prompt's history: one JSON text per line, private. */

import { join } from 'node:path'
import { createRedactor } from '../../../scan/redact/redact.ts'
import type { Machine } from '../../../system/machine.ts'
import { writeMade } from '../../../system/made-file.ts'
import { openOwnDirectory, readOwnFile, writeOwnFile } from '../../../system/state.ts'

const MAX_ENTRIES = 1000
const MAX_BYTES = 8 * 1024 * 1024
const TRIM_BYTES = 2 * 1024 * 1024

function historyFile({ stateDir }: Machine): string {
  return join(openOwnDirectory(stateDir), 'chat-history')
}

/** The newest entries, oldest first. */
export function readHistory(machine: Machine): readonly string[] {
  const path = historyFile(machine)
  const bytes = readOwnFile(path, undefined, MAX_BYTES)
  if (bytes === null) return []
  const entries = new TextDecoder().decode(bytes).split('\n').flatMap(entryOf).slice(-MAX_ENTRIES)
  if (bytes.length > TRIM_BYTES) writeOwnFile(path, entries.map(lineOf).join(''))
  return entries
}

/** Adds an entry with secrets masked. */
export function addHistory(machine: Machine, text: string): void {
  writeMade(historyFile(machine), lineOf(createRedactor().redact(text)), { flag: 'a' })
}

function lineOf(text: string): string {
  return `${JSON.stringify(text)}\n`
}

function entryOf(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}
