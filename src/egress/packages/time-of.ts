/** Parses publication times of registries. */

/** A time in milliseconds; null if it is not a valid one. */
export function timeOf(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : time
}
