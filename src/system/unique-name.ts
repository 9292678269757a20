/** Names for files that only have to differ: in directories of the owner alone, made exclusively. Loading node:crypto takes 6 ms. */

let count = 0

/** A name that no other call of this or another process makes. */
export function uniqueName(): string {
  const moment = process.hrtime.bigint().toString(36)
  return `${process.pid.toString(36)}-${moment}-${(count++).toString(36)}${Math.random().toString(36).slice(2, 8)}`
}
