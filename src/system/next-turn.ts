/** Work for the next turn of the event loop that nothing waits for. */

/**
 * Runs at the next turn, unless the process ends first, which it does not hold up. An immediate that does not would wait in
 * a loop that sleeps, for whatever wakes it next; a timer wakes it.
 */
export function onNextTurn(work: () => void): NodeJS.Immediate {
  setTimeout(() => {}, 0).unref()
  return setImmediate(work).unref()
}
