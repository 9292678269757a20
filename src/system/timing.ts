/** Clocks, waits, and the trace of steps. */

import { writeSync } from 'node:fs'

/**
 * Milliseconds since this process began; loading the global `performance` takes over a millisecond.
 */
export function monotonicMs(): number {
  return process.uptime() * 1000
}

/** With CORDON_TRACE=1: prints how long after its start this process reached a step, and its processor time until then. */
export function trace(step: string): void {
  if (process.env.CORDON_TRACE !== '1') return
  const { user, system } = process.cpuUsage()
  writeSync(2, `cordon: ${monotonicMs().toFixed(2)} ms, ${((user + system) / 1000).toFixed(2)} ms busy: ${step}\n`)
}

/**
 * Runs soon without keeping the process alive. A timer wakes a sleeping event loop; an unreferenced
 * immediate would wait for the next event.
 */
export function onNextTurn(work: () => void): NodeJS.Timeout {
  return setTimeout(work, 0).unref()
}

/** Resolves after the time, or when the signal aborts. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const timer = setTimeout(done, milliseconds)
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    signal.addEventListener('abort', done)
  })
}
