/** A clock that only goes forward. */

/** Milliseconds since this process began; the global `performance` would take a start more than one of them to load. */
export function monotonicMs(): number {
  return process.uptime() * 1000
}
