/** Clocks and waits. */

/**
 * Milliseconds since this process began; loading the global `performance` takes over a millisecond.
 */
export function monotonicMs(): number {
  return process.uptime() * 1000
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
