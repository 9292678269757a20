/** A terminal that was closed: that ends a program, and is not an error of it. */

import { fstatSync, statSync } from 'node:fs'
import { isTerminalDevice } from './terminal.ts'

/** Whether this came of a terminal of this process that is gone. */
export function isHangUp(error: unknown): boolean {
  const { code, syscall } = error as { readonly code?: string; readonly syscall?: string }
  return code === 'EIO' && (syscall === 'write' || syscall === 'read') && [0, 1, 2].some(isClosedTerminal)
}

/** A device that was a terminal and answers nothing any more. */
function isClosedTerminal(fd: number): boolean {
  try {
    const facts = fstatSync(fd)
    return facts.isCharacterDevice() && facts.rdev !== statSync('/dev/null').rdev && !isTerminalDevice(fd)
  } catch {
    return false
  }
}
