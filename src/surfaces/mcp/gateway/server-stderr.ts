/** The stderr of a wrapped server: whose it is stands before each line, nothing in it steers a terminal, and a flood is dropped. */

import { Writable } from 'node:stream'
import { visible } from '../../terminal/terminal.ts'

const WINDOW_MS = 10_000
const MAX_LINES = 200
const MAX_LENGTH = 2000

/** A stream that passes lines on; `now` tells the time in milliseconds. */
export function serverStderr(label: string, write: (line: string) => void, now: () => number): Writable {
  let rest = ''
  let since = 0
  let count = 0
  const pass = (line: string): void => {
    if (now() - since > WINDOW_MS) {
      since = now()
      count = 0
    }
    count++
    if (count <= MAX_LINES) write(`[${label}] ${visible(line.slice(0, MAX_LENGTH))}\n`)
    else if (count === MAX_LINES + 1)
      write(`[${label}] … (more than ${MAX_LINES} lines in ${WINDOW_MS / 1000} s: dropped)\n`)
  }
  return new Writable({
    write(chunk: Buffer, _, done) {
      const lines = (rest + chunk.toString('utf8')).split('\n')
      rest = lines.pop()!.slice(0, MAX_LENGTH)
      for (const line of lines) pass(line)
      done()
    },
    final(done) {
      if (rest !== '') pass(rest)
      done()
    },
  })
}
