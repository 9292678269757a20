/** A yes-or-no question to the person at the terminal; anything but a clear yes is a no. */

import { createInterface } from 'node:readline'
import type { Terminal } from '../terminal/terminal.ts'

/** Asks. Ctrl-C, Ctrl-D and the end of the input are a no; without a terminal the answer is no. `d` shows the details, and asks again. */
export async function confirm(
  terminal: Terminal,
  question: string,
  showDetails: (() => void) | null = null,
): Promise<boolean> {
  if (!process.stdin.isTTY) return false
  terminal.err('')
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise<boolean>((resolve) => {
    lines.once('SIGINT', () => lines.close())
    lines.once('close', () => {
      terminal.err('\n')
      resolve(false)
    })
    lines.question(question, (line) => {
      lines.removeAllListeners('close')
      lines.close()
      if (showDetails === null || !/^d(iff)?$/i.test(line.trim())) return resolve(/^y(es)?$/i.test(line.trim()))
      showDetails()
      resolve(confirm(terminal, question, showDetails))
    })
  })
}
