/** Whether a process is there: what killed ones left is cleared away by the next. */

import { errorCode } from './fault.ts'

/** True for a process of this number, whoever it belongs to. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}
