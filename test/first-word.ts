/** Waiting for a child process to say something: one that dies instead ends the wait. */

import type { ChildProcess } from 'node:child_process'

/** The first that a child says, on its output or as a message. Rejects when it ends without a word. */
export function firstWord(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) =>
      reject(new Error(`the child ended with ${signal ?? code} before it said a word`)),
    )
    child.once('message', resolve)
    child.stdout?.once('data', resolve)
  })
}
