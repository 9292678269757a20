/** Whether a process is there: what killed ones left is cleared away by the next. */

import { readFileSync } from 'node:fs'
import { errorCode } from './fault.ts'

/** True for a process of this number, the process that it belongs to. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** When a process started, in ticks since boot; null when it is gone, or where there is no /proc to ask. */
export function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie is dead: it never lets go of anything.
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

/** True while the very process lives that had this number and start: a number is used again some day, both together are not. */
export function isSameProcess(pid: number, started: string | null): boolean {
  return started === null ? isAlive(pid) : startOf(pid) === started
}
