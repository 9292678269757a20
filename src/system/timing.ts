/** Clocks and waits. */

/** Milliseconds since this process began; the global `performance` would take a start more than one of them to load. */
export function monotonicMs(): number {
  return process.uptime() * 1000
}

/**
 * Runs soon, unless the process ends first, which it does not hold up. By a timer, which wakes a loop that sleeps: an immediate that
 * holds nothing up would wait for whatever wakes the loop next, also with a timer beside it that may fire before the loop sleeps.
 */
export function onNextTurn(work: () => void): NodeJS.Timeout {
  return setTimeout(work, 0).unref()
}

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
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
