/** Whether this process may use its terminal: a shell gives it to one group of processes at a time. */

import { readFileSync } from 'node:fs'

/** True in the foreground, and where the system does not say. In the background, changing the terminal would stop this process. */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return foreground === '-1' || group === foreground
  } catch {
    return true
  }
}
