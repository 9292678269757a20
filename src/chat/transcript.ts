/**
 * A conversation on disk: append-only, private, and intact after a kill up to its last whole line.
 */

import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { SESSION_ID } from '../audit/event.ts'
import { isMessage, type Message, NO_USAGE, type Usage } from '../providers/conversation.ts'
import { errorCode, Fault, unwritable } from '../system/fault.ts'
import { isRecord } from '../system/json.ts'
import { holdLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { openMade } from '../system/made-file.ts'
import { mustBeOurs, openOwnDirectory, readOwnFile } from '../system/state.ts'
import { summaryMessage } from './compaction.ts'

/** Usage and cost so far; null if a price was unknown. */
export interface Spent {
  readonly usage: Usage
  readonly cost: number | null
  readonly turns: number
}

export const NOTHING_SPENT: Spent = { usage: NO_USAGE, cost: 0, turns: 0 }

/** A session's settings, for resuming it. */
export interface ChatSettings {
  readonly mode?: string
  readonly agent?: string
  readonly profile?: string
  readonly model?: string
}

type Line =
  | {
      readonly type: 'session'
      readonly version: 1
      readonly id: string
      readonly project: string
      readonly at: string
    }
  | { readonly type: 'message'; readonly at: string; readonly message: Message; readonly spent?: Spent }
  /** Replaces everything before the last `kept` messages. */
  | {
      readonly type: 'compacted'
      readonly at: string
      readonly summary: string
      readonly kept: number
      readonly spent: Spent
    }
  | { readonly type: 'settings'; readonly at: string; readonly settings: ChatSettings }
  /** A new start; earlier lines stay in the file. */
  | { readonly type: 'cleared'; readonly at: string; readonly spent: Spent }

export interface Restored {
  readonly messages: readonly Message[]
  readonly spent: Spent
  readonly settings: ChatSettings
}

const MAX_BYTES = 512 * 1024 * 1024

export interface Transcript {
  readonly id: string
  readonly restored: Restored
  add(message: Message, spent?: Spent): void
  compacted(summary: string, kept: number, spent: Spent): void
  cleared(spent: Spent): void
  set(settings: ChatSettings): void
  close(): void
}

export function transcriptDirectory({ stateDir }: Machine): string {
  return openOwnDirectory(join(openOwnDirectory(stateDir), 'chat'))
}

/** Starts or resumes a conversation for one process at a time. */
export function openTranscript(machine: Machine, id: string, project: string): Transcript {
  const directory = transcriptDirectory(machine)
  if (!SESSION_ID.test(id)) throw new Fault('session-id', `${JSON.stringify(id)} is not a session id`)
  const release = holdLock(join(directory, `${id}.lock`), { timeoutMs: 0 })
  try {
    const path = join(directory, `${id}.jsonl`)
    const restored = restore(path, project)
    const fd = openAppending(path)
    const append = (line: Line, last = true): void => {
      try {
        writeSync(fd, `${JSON.stringify(line)}\n`)
        if (last) fdatasyncSync(fd)
      } catch (error) {
        throw unwritable(path, error)
      }
    }
    const at = () => new Date().toISOString()
    if (fstatSync(fd).size === 0) append({ type: 'session', version: 1, id, project, at: at() })
    return {
      id,
      restored,
      add: (message, spent) => append({ type: 'message', at: at(), message, ...(spent && { spent }) }),
      compacted: (summary, kept, spent) => append({ type: 'compacted', at: at(), summary, kept, spent }),
      cleared: (spent) => append({ type: 'cleared', at: at(), spent }),
      set: (settings) => append({ type: 'settings', at: at(), settings }, false),
      close: () => {
        closeSync(fd)
        release()
      },
    }
  } catch (error) {
    release()
    throw error
  }
}

/** Opens for appending after cutting a half line. */
function openAppending(path: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants
  let fd: number
  try {
    fd = openMade(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW)
  } catch (error) {
    throw unwritable(path, error)
  }
  const { size } = fstatSync(fd)
  mustBeOurs(path, fstatSync(fd))
  const end = lastLineEnd(fd, size)
  if (end < size) ftruncateSync(fd, end)
  return fd
}

function lastLineEnd(fd: number, size: number): number {
  const piece = Buffer.alloc(64 * 1024)
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - piece.length)
    const read = readSync(fd, piece, 0, end - start, start)
    const at = piece.subarray(0, read).lastIndexOf(10)
    if (at >= 0) return start + at + 1
    end = start
  }
  return 0
}

function restore(path: string, project: string): Restored {
  const bytes = readOwnFile(path, undefined, MAX_BYTES)
  if (bytes === null || bytes.length === 0) return { messages: [], spent: NOTHING_SPENT, settings: {} }
  const { lines, unread } = linesOf(bytes)
  // An unreadable line may be a setting: without it the conversation would be freer.
  if (unread !== null) throw damaged(path, `line ${unread} cannot be read`)
  const head = lines[0]
  if (head?.type !== 'session') throw damaged(path, 'it does not begin as one')
  if (head.project !== project) {
    throw new Fault('no-chat', `this conversation belongs to ${head.project}`, { remedy: 'Resume it there.' })
  }
  let messages: Message[] = []
  let spent = NOTHING_SPENT
  let settings: ChatSettings = {}
  for (const line of lines) {
    if (line.type === 'message') {
      messages.push(line.message)
      if (line.spent) spent = line.spent
    } else if (line.type === 'compacted') {
      messages = [summaryMessage(line.summary), ...(line.kept > 0 ? messages.slice(-line.kept) : [])]
      spent = line.spent
    } else if (line.type === 'cleared') {
      messages = []
      spent = line.spent
    } else if (line.type === 'settings') settings = { ...settings, ...line.settings }
  }
  return { messages: mended(messages), spent, settings }
}

/** Adds a result to calls that were running when the process died. */
export function mended(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message, index): Message[] => {
    if (message.role !== 'assistant') return [message]
    const next = messages[index + 1]
    const answered = new Set(next?.role === 'results' ? next.results.map(({ id }) => id) : [])
    const open = message.parts.filter((part) => part.type === 'call' && !answered.has(part.id))
    if (open.length === 0) return [message]
    const results = open.flatMap((part) =>
      part.type === 'call' ? [{ id: part.id, name: part.name, text: LOST, isError: true }] : [],
    )
    if (next?.role === 'results') return [{ ...message, parts: message.parts.filter((part) => !open.includes(part)) }]
    return [message, { role: 'results', results }]
  })
}

const LOST = 'Interrupted: this call may have been partly done. Check before you repeat it.'

/**
 * The lines of a file, and the number of the first invalid one; an unfinished last line is ignored.
 */
function linesOf(bytes: Uint8Array): { readonly lines: Line[]; readonly unread: number | null } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const lines: Line[] = []
  let unread: number | null = null
  for (const [index, line] of text.split('\n').slice(0, -1).entries()) {
    const read = lineOf(line)
    if (read) lines.push(read)
    else unread ??= index + 1
  }
  return { lines, unread }
}

function lineOf(text: string): Line | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  return isRecord(value) && isLine(value) ? (value as unknown as Line) : null
}

function isLine(line: Readonly<Record<string, unknown>>): boolean {
  const { type, message, spent, summary, kept, settings, id, project } = line
  switch (type) {
    case 'session':
      return typeof id === 'string' && typeof project === 'string'
    case 'message':
      return isMessage(message) && (spent === undefined || isSpent(spent))
    case 'compacted':
      return typeof summary === 'string' && Number.isInteger(kept) && (kept as number) >= 0 && isSpent(spent)
    case 'settings':
      return isRecord(settings)
    default:
      return type === 'cleared' && isSpent(spent)
  }
}

function isSpent(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.usage)) return false
  const { cost, turns, usage } = value
  const { input, output, cacheRead, cacheWrite } = usage as Readonly<Record<string, unknown>>
  const counts = [turns, input, output, cacheRead, cacheWrite, ...(cost === null ? [] : [cost])]
  return counts.every((count) => typeof count === 'number' && count >= 0)
}

export interface TranscriptRow {
  readonly id: string
  /** The person's first words. */
  readonly title: string
  /** Last change in milliseconds. */
  readonly changed: number
}

const HEAD_BYTES = 64 * 1024

/** A project's conversations, newest first. */
export function listTranscripts(machine: Machine, project: string): readonly TranscriptRow[] {
  const directory = transcriptDirectory(machine)
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => ({ name, path: join(directory, name) }))
    .flatMap(({ name, path }): TranscriptRow[] => {
      const head = firstLines(path)
      if (head[0]?.type !== 'session' || head[0].project !== project) return []
      const title = head.map(wordsOf).find((words) => words !== '') ?? ''
      return title === '' ? [] : [{ id: name.slice(0, -6), title, changed: statSync(path).mtimeMs }]
    })
    .sort((one, other) => other.changed - one.changed)
}

function firstLines(path: string): Line[] {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (errorCode(error) !== null) return []
    throw error
  }
  try {
    const piece = Buffer.alloc(HEAD_BYTES)
    return linesOf(piece.subarray(0, readSync(fd, piece, 0, piece.length, 0))).lines
  } finally {
    closeSync(fd)
  }
}

function wordsOf(line: Line): string {
  if (line.type !== 'message' || line.message.role !== 'user') return ''
  const part = line.message.parts.find(({ type }) => type === 'text')
  return part?.type === 'text' ? part.text.replace(/\s+/g, ' ').trim().slice(0, 100) : ''
}

function damaged(path: string, why: string): Fault {
  return new Fault('state-corrupt', `${path} is not a valid transcript: ${why}`)
}
