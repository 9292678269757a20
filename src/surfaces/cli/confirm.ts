/** A yes-or-no question at the terminal; only a clear yes counts. */

import { createInterface } from 'node:readline'
import type { Terminal } from '../terminal/terminal.ts'

/** Ctrl-C, Ctrl-D, the end of input and a missing terminal are a no. `d` shows details and asks again. */
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
