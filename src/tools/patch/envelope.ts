/** Parses the "*** Begin Patch" envelope. */

import { InputError } from '../tool.ts'
import type { FileChange, Hunk, HunkLine } from './apply.ts'

const HEADER = /^\*\*\* (Add File|Update File|Delete File|Move to): ?(.*)$/

interface Cursor {
  readonly lines: readonly string[]
  at: number
}

/** Parses the envelope that begins at this line. */
export function parseEnvelope(lines: readonly string[], begin: number): FileChange[] {
  const cursor: Cursor = { lines, at: begin + 1 }
  const changes: FileChange[] = []
  for (;;) {
    const line = lines[cursor.at]
    if (line === undefined) throw new InputError('the patch has no "*** End Patch" line; it may have been cut off')
    if (line.trim() === '*** End Patch') break
    if (line.trim() === '') cursor.at++
    else changes.push(parseFile(cursor))
  }
  const rest = lines.slice(cursor.at + 1).findIndex((line) => line.trim() !== '')
  if (rest >= 0) throw new InputError(`line ${cursor.at + 2 + rest} of the patch comes after "*** End Patch"`)
  return changes
}

function parseFile(cursor: Cursor): FileChange {
  const line = cursor.lines[cursor.at]!
  const header = HEADER.exec(line)
  if (!header || header[1] === 'Move to') {
    throw new InputError(
      `line ${cursor.at + 1} of the patch is ${quote(line)}; expected "*** Add File: path", "*** Update File: path", "*** Delete File: path" or "*** End Patch"`,
    )
  }
  const path = pathOf(header)
  cursor.at++
  if (header[1] === 'Delete File') return { kind: 'delete', path, hunks: [] }
  return header[1] === 'Add File' ? parseAdd(cursor, path) : parseUpdate(cursor, path)
}

function parseAdd(cursor: Cursor, path: string): FileChange {
  const added: string[] = []
  for (let line = cursor.lines[cursor.at]; line?.startsWith('+'); line = cursor.lines[++cursor.at]) {
    added.push(`${line.slice(1)}\n`)
  }
  return { kind: 'add', path, content: added.join(''), executable: null }
}

function parseUpdate(cursor: Cursor, path: string): FileChange {
  const move = HEADER.exec(cursor.lines[cursor.at] ?? '')
  const moveTo = move?.[1] === 'Move to' ? pathOf(move) : null
  if (moveTo !== null) cursor.at++
  const hunks: Hunk[] = []
  for (let line = cursor.lines[cursor.at]; line !== undefined && isHunkLine(line); line = cursor.lines[cursor.at]) {
    hunks.push(parseHunk(cursor, path, hunks.length === 0))
  }
  if (hunks.length === 0 && moveTo === null) throw new InputError(`"*** Update File: ${path}" has no hunk`)
  return { kind: 'update', path, moveTo, copies: false, hunks, executable: null }
}

function parseHunk(cursor: Cursor, path: string, first: boolean): Hunk {
  const begin = cursor.at
  const head = cursor.lines[begin]!
  let after: string | null = null
  if (head.startsWith('@@')) {
    after = head.slice(2).trim() === '' ? null : head.slice(head.startsWith('@@ ') ? 3 : 2)
    cursor.at++
  } else if (!first) {
    throw new InputError(`line ${begin + 1} of the patch: a further hunk of ${path} begins with "@@"`)
  }
  const lines: HunkLine[] = []
  for (let line = cursor.lines[cursor.at]; line !== undefined; line = cursor.lines[++cursor.at]) {
    if (line.startsWith('+')) lines.push({ kind: 'insert', text: line.slice(1) })
    else if (line.startsWith('-')) lines.push({ kind: 'remove', text: line.slice(1) })
    else if (line.startsWith(' ')) lines.push({ kind: 'keep', text: line.slice(1) })
    else if (line === '') lines.push({ kind: 'keep', text: '' })
    else break
  }
  // Empty lines before the next header are separators.
  for (let back = cursor.at - 1; back > begin && cursor.lines[back] === ''; back--) lines.pop()
  const atEnd = cursor.lines[cursor.at]?.trim() === '*** End of File'
  if (atEnd) cursor.at++
  if (lines.every((line) => line.kind === 'keep')) {
    throw new InputError(`the hunk of ${path} at line ${begin + 1} of the patch changes nothing`)
  }
  return { line: begin + 1, oldStart: null, after, lines, atEnd, finalNewline: null }
}

function isHunkLine(line: string): boolean {
  return /^(@@|[ +-])/.test(line)
}

function pathOf(header: RegExpExecArray): string {
  const path = header[2]!.trim()
  if (path === '') throw new InputError(`"*** ${header[1]}:" names no file`)
  return path
}

function quote(line: string): string {
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line)
}
