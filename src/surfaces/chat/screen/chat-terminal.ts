/** Raw keys and text of this process's terminal. */

import { writeSync } from 'node:fs'
import type { ReadStream } from 'node:tty'
import { type Key, KeyReader } from './keys.ts'
import type { ScreenSize } from './live-screen.ts'

/** A terminal, replaceable in tests. */
export interface ChatTerminal {
  readonly size: ScreenSize
  readonly color: boolean
  write(text: string): void
  /** Sets the key listener; null means end of input. */
  listen(onKey: (key: Key | null) => void, onResize: () => void): void
  /** Releases the terminal for another prompt. */
  suspend(): void
  resume(): void
  close(): void
}

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
const SHOW = '\u001b[?25h'
/** An escape with nothing after it for this long is the key. */
const ESCAPE_MS = 40
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGQUIT']

export function openChatTerminal(): ChatTerminal {
  const input = process.stdin as ReadStream
  const output = process.stdout
  const reader = new KeyReader()
  let heard: (key: Key | null) => void = () => {}
  let resized: () => void = () => {}
  let timer: NodeJS.Timeout | null = null
  let open = true
  const write = (text: string) => writeAll(text)
  const send = (keys: readonly Key[]) => {
    for (const key of keys) heard(key)
  }
  const onData = (bytes: Buffer) => {
    if (timer) clearTimeout(timer)
    send(reader.take(bytes))
    if (reader.isWaiting) timer = setTimeout(() => send(reader.settle()), ESCAPE_MS)
  }
  const onEnd = () => heard(null)
  const restore = () => {
    if (!open) return
    open = false
    write(`${PASTE_OFF}${SHOW}`)
    input.setRawMode(false)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    restore()
    process.exit(128 + (signal === 'SIGHUP' ? 1 : signal === 'SIGQUIT' ? 3 : 15))
  }
  const onWindow = () => resized()
  input.setRawMode(true)
  input.on('data', onData).once('end', onEnd).once('error', onEnd)
  // A previous prompt paused it.
  input.resume()
  output.on('resize', onWindow)
  process.on('exit', restore)
  for (const signal of ENDING) process.on(signal, onSignal)
  write(PASTE_ON)
  return {
    get size() {
      return { columns: output.columns || 80, rows: output.rows || 24 }
    },
    color: !process.env.NO_COLOR && process.env.TERM !== 'dumb',
    write,
    listen(onKey, onResize) {
      heard = onKey
      resized = onResize
    },
    suspend() {
      write(PASTE_OFF)
      input.pause()
      input.setRawMode(false)
    },
    resume() {
      // Node does not notice that another prompt changed the terminal.
      input.setRawMode(false)
      input.setRawMode(true)
      input.resume()
      write(PASTE_ON)
    },
    close() {
      if (timer) clearTimeout(timer)
      restore()
      process.removeListener('exit', restore)
      for (const signal of ENDING) process.removeListener(signal, onSignal)
      output.off('resize', onWindow)
      input.off('data', onData).off('end', onEnd).off('error', onEnd)
      input.pause()
    },
  }
}

/** Synchronous, to stay in order with other prompts. */
function writeAll(text: string): void {
  let bytes = Buffer.from(text)
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(1, bytes))
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : null
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2)
    }
  }
}
