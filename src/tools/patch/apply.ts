/** Applies hunks: every line must match exactly. */

import { lineEndOf } from '../files/text-encoding.ts'
import { InputError } from '../tool.ts'

interface Lines {
  /** Without newlines; carriage returns stay. */
  readonly lines: readonly string[]
  readonly finalNewline: boolean
  /** Remaining comparisons, so that a patch cannot search endlessly. */
  readonly effort: { left: number }
}

const MAX_COMPARISONS = 20_000_000

/** The new text, or an `InputError` that names the failed hunk. */
export function applyHunks(given: string, text: string, hunks: readonly Hunk[]): string {
  const file: Lines = { ...split(text), effort: { left: MAX_COMPARISONS } }
  const crlf = lineEndOf(text) === 'crlf'
  const result: string[] = []
  let finalNewline = file.finalNewline || text === ''
  let done = 0
  for (const [index, hunk] of hunks.entries()) {
    const where = `hunk ${index + 1} of ${hunks.length} for ${given} (line ${hunk.line} of the patch)`
    const old = hunk.lines.filter((line) => line.kind !== 'insert').map((line) => line.text)
    const start = findStart(file, old, hunk, done, where)
    for (let at = done; at < start; at++) result.push(file.lines[at]!)
    let at = start
    for (const line of hunk.lines) {
      // Kept lines stay as the file has them.
      if (line.kind === 'keep') result.push(file.lines[at]!)
      else if (line.kind === 'insert') result.push(crlf && !line.text.endsWith('\r') ? `${line.text}\r` : line.text)
      if (line.kind !== 'insert') at++
    }
    done = at
    if (hunk.finalNewline && done === file.lines.length) {
      if (hunk.finalNewline.old !== file.finalNewline) {
        const has = file.finalNewline ? 'ends with a newline' : 'does not end with a newline'
        throw new InputError(`${where} is wrong about the end of the file: it ${has}`)
      }
      finalNewline = hunk.finalNewline.new
    }
  }
  for (let at = done; at < file.lines.length; at++) result.push(file.lines[at]!)
  if (result.length === 0) return ''
  return result.join('\n') + (finalNewline ? '\n' : '')
}

function findStart(file: Lines, old: readonly string[], hunk: Hunk, done: number, where: string): number {
  const from = hunk.after === null ? done : afterLine(file, hunk.after, done, where)
  if (hunk.oldStart !== null) {
    const counted = old.length === 0 ? hunk.oldStart : hunk.oldStart - 1
    if (counted >= done && counted <= file.lines.length && matchesAt(file, old, counted, hunk)) return counted
  }
  if (old.length === 0) {
    if (hunk.oldStart === null) return hunk.after === null || hunk.atEnd ? file.lines.length : from
    throw new InputError(`${where} belongs after line ${hunk.oldStart}, but the file has ${file.lines.length} lines`)
  }
  const found: number[] = []
  for (let at = from; at + old.length <= file.lines.length && found.length < 2; at++) {
    if (matchesAt(file, old, at, hunk)) found.push(at)
    // After a context line the first match is the right one.
    if (found.length === 1 && hunk.after !== null) break
  }
  if (found.length === 1) return found[0]!
  if (found.length === 0) throw new InputError(`${where} does not match: ${mismatch(file, old, from, hunk)}`)
  throw new InputError(
    `${where} matches at line ${found[0]! + 1} and again at line ${found[1]! + 1}; give more lines around the change, or name a line before it after "@@"`,
  )
}

function afterLine(file: Lines, wanted: string, done: number, where: string): number {
  for (let at = done; at < file.lines.length; at++) if (same(file, at, wanted)) return at + 1
  const bare = wanted.trim()
  for (let at = done; at < file.lines.length; at++) if (file.lines[at]!.trim() === bare) return at + 1
  throw new InputError(`${where} says it belongs after ${quote(wanted)}, and no such line follows line ${done}`)
}

function matchesAt(file: Lines, old: readonly string[], at: number, hunk: Hunk): boolean {
  if (hunk.atEnd && at + old.length !== file.lines.length) return false
  return old.every((line, index) => same(file, at + index, line))
}

/** Ignores line ends only. */
function same(file: Lines, at: number, wanted: string): boolean {
  if (--file.effort.left < 0) {
    throw new InputError(
      'the place of a hunk takes too long to find; give lines around the change that are not everywhere in the file',
    )
  }
  const line = file.lines[at]
  if (line === undefined) return false
  return line === wanted || withoutReturn(line) === withoutReturn(wanted)
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line
}

/** The longest partial match, and the line that differs. */
function mismatch(file: Lines, old: readonly string[], from: number, hunk: Hunk): string {
  let best = { at: -1, length: 0 }
  for (let at = from; at < file.lines.length; at++) {
    let length = 0
    while (length < old.length && same(file, at + length, old[length]!)) length++
    if (length > best.length) best = { at, length }
  }
  if (best.length === old.length && hunk.atEnd) return 'its lines are not at the end of the file'
  if (best.length === 0) return `no line is ${quote(old[0]!)}${from > 0 ? ` after line ${from}` : ''}`
  const found = file.lines[best.at + best.length]
  const line = best.at + best.length + 1
  return `expected ${quote(old[best.length]!)} on line ${line}, found ${found === undefined ? 'the end of the file' : quote(found)}`
}

function split(text: string): Pick<Lines, 'lines' | 'finalNewline'> {
  if (text === '') return { lines: [], finalNewline: false }
  const finalNewline = text.endsWith('\n')
  return { lines: (finalNewline ? text.slice(0, -1) : text).split('\n'), finalNewline }
}

function quote(line: string): string {
  return JSON.stringify(line.length > 100 ? `${line.slice(0, 100)}…` : line)
}

export type FileChange =
  | { readonly kind: 'add'; readonly path: string; readonly content: string; readonly executable: boolean | null }
  | { readonly kind: 'delete'; readonly path: string; readonly hunks: readonly Hunk[] }
  | {
      readonly kind: 'update'
      readonly path: string
      /** The new path, or null. */
      readonly moveTo: string | null
      /** Whether the original stays. */
      readonly copies: boolean
      readonly hunks: readonly Hunk[]
      /** A change of the executable bits, or null. */
      readonly executable: boolean | null
    }

export interface Hunk {
  /** Line of the patch, for messages. */
  readonly line: number
  /** Line of the file, or null if the patch has no numbers. */
  readonly oldStart: number | null
  /** A context line to search after, or null. */
  readonly after: string | null
  readonly lines: readonly HunkLine[]
  /** It must end at the end of the file. */
  readonly atEnd: boolean
  /** The newline at the end of the file, or null if unspecified. */
  readonly finalNewline: { readonly old: boolean; readonly new: boolean } | null
}

export interface HunkLine {
  readonly kind: 'keep' | 'remove' | 'insert'
  readonly text: string
}
