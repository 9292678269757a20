/** The terminal of this process for the chat: raw keys in, text out, and everything as it was afterwards. */

import { writeSync } from 'node:fs'
import type { ReadStream } from 'node:tty'
import { type Key, KeyReader } from './keys.ts'
import type { ScreenSize } from './live-screen.ts'

/** Keys come in, text goes out; small enough that a test can be the person. */
export interface ChatTerminal {
  readonly size: ScreenSize
  readonly color: boolean
  write(text: string): void
  /** Who gets the keys from now on; null at the end of the input. */
  listen(onKey: (key: Key | null) => void, onResize: () => void): void
  /** Lets go of the terminal, so that another prompt can have it. */
  suspend(): void
  resume(): void
  close(): void
}

const PASTE_ON = '\u001b[?2004h'
const PASTE_OFF = '\u001b[?2004l'
const SHOW = '\u001b[?25h'
/** An escape that nothing follows for so long is the key. */
const ESCAPE_MS = 40
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGQUIT']

/** Takes the terminal of this process. */
export function openChatTerminal(): ChatTerminal {
  const input = process.stdin as ReadStream
  const output = process.stdout
  const reader = new KeyReader()
  let heard: (key: Key | null) => void = () => {}
  let resized: () => void = () => {}
  let timer: NodeJS.Timeout | null = null
  let open = true
  const write = (text: string) => writeAll(text)
  const tell = (keys: readonly Key[]) => {
    for (const key of keys) heard(key)
  }
  const onData = (bytes: Buffer) => {
    if (timer) clearTimeout(timer)
    tell(reader.take(bytes))
    if (reader.isWaiting) timer = setTimeout(() => tell(reader.settle()), ESCAPE_MS)
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
  // A process that had it before, such as the wizard, let go of it.
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
      // Another prompt has set the terminal back, and Node believes what it set last itself.
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

/** At once: what was shown stays in order with what other prompts write. */
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
