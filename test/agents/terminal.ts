/** An agent at a terminal, as people use it: its own screen instead of a headless run. */

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'

const HOST = join(import.meta.dirname, '../e2e/terminal/pty-host.py')

/** A question of an agent's screen, and the keys that answer it. */
export type ScreenAnswer = readonly [sees: string, keys: string]

/** Runs a program until `isOver`, for two minutes at most; returns what its screen showed. */
export function runAtTerminal(
  words: readonly string[],
  at: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
  answers: readonly ScreenAnswer[],
  isOver: () => boolean,
): Promise<string> {
  return new Promise((resolve) => {
    const child = spawn('python3', [HOST, '40', '120', ...words], {
      ...at,
      env: { ...at.env, TERM: 'xterm-256color', CI: '' },
      stdio: ['pipe', 'pipe', 'ignore', 'pipe'],
    })
    let seen = ''
    const left = [...answers]
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      seen += text
      // Where the cursor is, and what kind of terminal this is.
      if (text.includes('\u001b[6n')) child.stdin!.write('\u001b[1;1R')
      if (text.includes('\u001b[c') || text.includes('\u001b[0c')) child.stdin!.write('\u001b[?62;c')
      const [next] = left
      if (next && stripVTControlCharacters(seen).replace(/\s/g, '').includes(next[0].replace(/\s/g, ''))) {
        left.shift()
        setTimeout(() => child.stdin!.write(next[1]), 500)
      }
    })
    const end = Date.now() + 120_000
    const timer = setInterval(() => {
      if (isOver() || Date.now() > end) child.kill('SIGKILL')
    }, 200)
    // The agent may outlive its terminal, with the pipes.
    child.on('exit', () => {
      clearInterval(timer)
      resolve(stripVTControlCharacters(seen))
    })
  })
}
