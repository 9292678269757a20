/** Streams the record, questions and sessions as JSON lines, no faster than they are read. */

import type { ServerResponse } from 'node:http'
import { posix } from 'node:path'
import { openAsks } from '../../questions/asks.ts'
import { type AuditLine, openAuditTrail } from '../../report/audit-trail.ts'
import { visible } from '../../scan/visible-text.ts'
import type { Machine } from '../../system/machine.ts'
import { shownAsk } from './asks-view.ts'

/** One row; missing fields are omitted. */
export interface EventRow {
  readonly session: string
  readonly seq: number
  readonly time: string
  readonly type: string
  readonly call?: string
  readonly project?: string
  readonly agent?: string
  readonly tool?: string
  readonly subject?: string
  /** The programs of a call, if its subject is not kept. */
  readonly summary?: string
  readonly verdict?: string
  readonly reason?: string
  readonly outcome?: string
  readonly ms?: number
  /** Undo's name for the changes. */
  readonly undo?: string
  readonly changed?: number
  /** Hosts and files, for the filter. */
  readonly hosts?: string
  readonly refused?: string
  readonly files?: string
  /** Folders of changed files, and how many changed in each. */
  readonly folders?: readonly (readonly [folder: string, files: number])[]
  /** Who answered: in advance, or by an `approval`. */
  readonly by?: string
}

const MAX_SHOWN = 300

/** The row of a line, whose secrets are already masked. `what`: what undo knows of its call. */
export function eventRow(line: AuditLine, what?: string): EventRow {
  const decision = record(line.decision)
  const changes = record(line.changes)
  const names = [line.files, changes.names, record(line.violations).subject].flatMap(texts)
  const subject = text(line.subject) ?? text(line.value) ?? text(line.error) ?? text(what)
  const folders = foldersOf(texts(changes.names))
  const count = ['made', 'changed', 'removed'].reduce((sum, name) => sum + (Number(changes[name]) || 0), 0)
  const found = {
    call: text(line.call),
    project: text(line.project),
    agent: text(line.agent) ?? text(line.by),
    tool: text(line.tool),
    subject,
    ...(subject === undefined && { summary: text(line.summary) }),
    verdict: text(decision.verdict) ?? approvedWord(line.approved),
    reason: text(decision.reason) ?? text(line.approver) ?? text(line.error_code),
    outcome: text(line.outcome),
    undo: text(changes.undo),
    hosts: joined(texts(line.hosts)),
    refused: joined(texts(line.refused_hosts)),
    by: text(line.type === 'approval' ? line.approver : decision.approver),
    files: joined(names),
  }
  return {
    session: visible(line.session),
    seq: line.seq,
    time: visible(line.time),
    type: visible(line.type),
    ...Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined && value !== '')),
    ...(typeof line.duration_ms === 'number' && { ms: line.duration_ms }),
    ...(count > 0 && { changed: count }),
    ...(folders.length > 0 && { folders }),
  }
}

const MAX_FOLDERS = 20

/** Names have a sign before them: created, changed or removed. */
function foldersOf(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const name of names) {
    const folder = posix.dirname(name.slice(1))
    if (counts.size < MAX_FOLDERS || counts.has(folder)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].map(([folder, files]) => [visible(folder.slice(0, MAX_SHOWN)), files])
}

function approvedWord(approved: unknown): string | undefined {
  return typeof approved === 'boolean' ? (approved ? 'allow' : 'deny') : undefined
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? visible(value.slice(0, MAX_SHOWN)) : undefined
}

function joined(all: readonly string[]): string | undefined {
  return all.length === 0 ? undefined : visible(all.slice(0, 20).join(' ').slice(0, MAX_SHOWN))
}

/** Initial part of the record. */
const BUDGET = 48 * 1024 * 1024
const BATCH = 400
const LOOK_MS = 400
/** A heartbeat, so that either side notices a lost connection. */
const BEAT_MS = 10_000
const MAX_SESSIONS = 200

/** Resolves when the line was written. */
type Send = (line: object) => Promise<void>

/** Streams until the reader or the signal ends it. */
export async function streamLive(machine: Machine, response: ServerResponse, ended: AbortSignal): Promise<void> {
  const gone = new AbortController()
  const signal = AbortSignal.any([ended, gone.signal])
  response.on('close', () => gone.abort())
  response.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8' })
  const send = sender(response, signal)
  const sessions = new Map<string, number>()
  try {
    await Promise.all([sendRecord(machine, send, sessions, signal), sendState(machine, send, sessions, signal)])
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    gone.abort()
    response.end()
  }
}

/** Writes lines in order, waiting for the connection. */
function sender(response: ServerResponse, signal: AbortSignal): Send {
  let last: Promise<void> = Promise.resolve()
  return (line) => {
    last = last.then(() => {
      signal.throwIfAborted()
      if (response.write(`${JSON.stringify(line)}\n`)) return
      return new Promise<void>((resolve, reject) => {
        const stop = () => reject(signal.reason)
        signal.addEventListener('abort', stop, { once: true })
        response.once('drain', () => {
          signal.removeEventListener('abort', stop)
          resolve()
        })
      })
    })
    return last
  }
}

async function sendRecord(
  machine: Machine,
  send: Send,
  sessions: Map<string, number>,
  signal: AbortSignal,
): Promise<void> {
  let events: EventRow[] = []
  let caughtUp = false
  const flush = async () => {
    const batch = events
    events = []
    if (batch.length > 0) await send({ events: batch })
  }
  const trail = openAuditTrail(machine)
  for await (const line of trail.tail(BUDGET, signal)) {
    if (line === null) {
      await flush()
      await send({ caughtUp: true })
      caughtUp = true
      continue
    }
    if (line.type === 'checkpoint' || line.type === 'rotated') continue
    noteSession(sessions, line.session, line.type === 'closed')
    events.push(eventRow(line, line.changes === undefined ? undefined : trail.subjects([line]).get(line.call)))
    if (caughtUp || events.length >= BATCH) await flush()
  }
}

function noteSession(sessions: Map<string, number>, session: string, closed: boolean): void {
  sessions.delete(session)
  if (!closed) sessions.set(session, Date.now())
  const [oldest] = sessions.keys()
  if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest)
}

/** Sends questions and sessions when they change. */
async function sendState(
  machine: Machine,
  send: Send,
  sessions: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<void> {
  const trail = openAuditTrail(machine)
  let known = ''
  let beat = Date.now()
  while (!signal.aborted) {
    const state = {
      asks: openAsks(machine, Date.now()).map(shownAsk),
      running: [...sessions.keys()].filter((session) => trail.isRunning(session)),
    }
    const text = JSON.stringify(state)
    if (text !== known || Date.now() - beat > BEAT_MS) {
      await send(text === known ? { beat: true } : state)
      known = text
      beat = Date.now()
    }
    await pause(LOOK_MS, signal)
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done, { once: true })
  })
}
