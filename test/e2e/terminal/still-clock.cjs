/** For `node --require`: the clock of Cordon's questions goes on only where the test lets a pause pass (person.ts). */

const { appendFileSync, watch } = require('node:fs')

/** How long a question waits for a pause in the typing (QUIET_MS in src/approval/terminal-prompter.ts). */
const PAUSES = new Set([500, 1000])
const { PAUSE_FILE } = process.env
const waiting = new Set()
const realTimer = globalThis.setTimeout
let now = 0

performance.now = () => now
globalThis.setTimeout = (work, ms, ...rest) => {
  if (!PAUSES.has(ms)) return realTimer(work, ms, ...rest)
  const timer = { fire: () => work(...rest), unref: () => timer, ref: () => timer }
  waiting.add(timer)
  return timer
}
const realClear = globalThis.clearTimeout
globalThis.clearTimeout = (timer) => {
  if (!waiting.delete(timer)) realClear(timer)
}

// Keys that were typed before the pause are read in the turn of the event loop that notices it, or in the next one.
watch(PAUSE_FILE, () => setImmediate(() => setImmediate(pass))).unref()

function pass() {
  now += 2000
  const due = [...waiting]
  waiting.clear()
  for (const { fire } of due) fire()
  if (due.length > 0) appendFileSync(`${PAUSE_FILE}.seen`, '.')
}
