/** A yes-or-no question to the person at the terminal; anything but a clear yes is a no. */

import { createInterface } from 'node:readline/promises'
import type { Terminal } from '../terminal/terminal.ts'

/** Asks; without a terminal the answer is no. */
export async function confirm(terminal: Terminal, question: string): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  terminal.err('')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await lines.question(question)).trim())
  } finally {
    lines.close()
  }
}
