/** Work for the next turn of the event loop that nothing waits for. */

/**
 * Runs soon, unless the process ends first, which it does not hold up. By a timer, which wakes a loop that sleeps: an immediate that
 * holds nothing up would wait for whatever wakes the loop next, also with a timer beside it that may fire before the loop sleeps.
 */
export function onNextTurn(work: () => void): NodeJS.Timeout {
  return setTimeout(work, 0).unref()
}
