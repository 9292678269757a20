/** What happens, as lines of JSON: the record, the questions that wait, the sessions that run. Nothing is read faster than it is taken. */

import type { ServerResponse } from 'node:http'
import { openAsks } from '../../questions/asks.ts'
import { openAuditTrail } from '../../report/audit-trail.ts'
import type { Machine } from '../../system/machine.ts'
import { shownAsk } from './asks-view.ts'
import { type EventRow, eventRow } from './event-row.ts'

/** How much of the record a page is given at first. */
const BUDGET = 48 * 1024 * 1024
const BATCH = 400
const LOOK_MS = 400
/** A line now and then, so that either side notices when the other is gone. */
const BEAT_MS = 10_000
const MAX_SESSIONS = 200

/** Writes one line and waits until it was taken. */
type Send = (line: object) => Promise<void>

/** Streams until the reader goes or the signal ends it. */
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

/** One line at a time, in order; the next one only when the connection took the one before. */
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
  for await (const line of openAuditTrail(machine).tail(BUDGET, signal)) {
    if (line === null) {
      await flush()
      await send({ caughtUp: true })
      caughtUp = true
      continue
    }
    if (line.type === 'checkpoint' || line.type === 'rotated') continue
    noteSession(sessions, line.session, line.type === 'closed')
    events.push(eventRow(line))
    if (caughtUp || events.length >= BATCH) await flush()
  }
}

function noteSession(sessions: Map<string, number>, session: string, closed: boolean): void {
  sessions.delete(session)
  if (!closed) sessions.set(session, Date.now())
  const [oldest] = sessions.keys()
  if (sessions.size > MAX_SESSIONS && oldest !== undefined) sessions.delete(oldest)
}

/** Questions and running sessions, whenever they change. */
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
