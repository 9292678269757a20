/** When a registry says that something was published. */

/** A time as a registry writes it, in milliseconds; null where it is not. */
export function timeOf(value: unknown): number | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : time
}
