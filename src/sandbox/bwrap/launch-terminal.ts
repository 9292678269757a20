/** Relays a person's terminal to the sandbox's own: bytes both ways, but for the clipboard, raw mode, size. */

import type { Socket } from 'node:net'
import { isInForeground } from '../../system/processes.ts'
import type { TerminalIo } from '../backend.ts'
import { ClipboardFilter } from './clipboard-filter.ts'
import { wordMessage } from './init-messages.ts'
import type { Streams } from './launch-sandbox.ts'
import { passOutput, type TerminalOutput } from './terminal-output.ts'

/** A relay that runs. */
export interface TerminalRelay {
  /** The terminal as it was, because this process is about to be stopped. */
  suspend(): void
  /** After that, or after somebody else used the terminal: as it was during the relay. */
  goOn(): void
  readonly output: TerminalOutput
  end(): void
}

/** Between two looks whether a command that was sent behind has the terminal again. */
const FOREGROUND_LOOK_MS = 200

/** Starts the relay. */
export function relayTerminal(streams: Streams, control: Socket, terminal: TerminalIo): TerminalRelay {
  const { input, output } = terminal
  const inside = { input: streams.stdin!, output: streams.stdout! }
  inside.input.on('error', () => {}).resume()
  inside.output.on('error', () => {})

  const isRaw = input.isTTY === true && input.setRawMode !== undefined
  // Raw: Ctrl-C, Ctrl-Z and Ctrl-D are bytes for the terminal inside, which interprets them.
  const setRaw = (raw: boolean) => {
    if (isRaw && isInForeground()) input.setRawMode!(raw)
  }
  let pauses = 0
  let ended = false
  /** Waits to be in the foreground again, after `bg`: a shell says nothing of that to a program that runs. */
  let waiting: NodeJS.Timeout | null = null
  setRaw(true)
  const resize = () => {
    if (output.rows && output.columns) control.write(wordMessage('size', 0, output.rows, output.columns))
  }
  /** A program that draws the whole screen does so at a new size only. */
  const redraw = () => {
    if (output.rows && output.columns) control.write(wordMessage('size', 0, output.rows - 1, output.columns))
    resize()
  }
  output.on('resize', resize)
  input.pipe(inside.input)
  const clipboard = new ClipboardFilter()
  const passed = passOutput(
    inside.output,
    output,
    (chunk) => clipboard.take(chunk),
    () => pauses === 0,
  )

  /** Pauses the relay; the returned function resumes it with the keys typed meanwhile. */
  const hold = (): ((keys?: string) => void) => {
    pauses++
    input.unpipe(inside.input)
    input.pause()
    inside.output.pause()
    let over = false
    return (keys = '') => {
      if (over) return
      over = true
      pauses--
      if (ended) return
      if (keys !== '') inside.input.write(keys)
      if (pauses > 0) return
      setRaw(true)
      input.pipe(inside.input)
      passed.resume()
      redraw()
    }
  }
  terminal.onRelay?.(hold)

  const goOn = (): void => {
    if (ended || pauses > 0) return
    if (isRaw && !isInForeground()) {
      input.unpipe(inside.input)
      input.pause()
      waiting ??= setInterval(goOn, FOREGROUND_LOOK_MS)
      return
    }
    setRaw(true)
    if (waiting !== null) {
      clearInterval(waiting)
      waiting = null
      input.pipe(inside.input)
    }
    redraw()
  }

  return {
    suspend: () => setRaw(false),
    goOn,
    output: passed,
    end: () => {
      ended = true
      if (waiting !== null) clearInterval(waiting)
      input.unpipe(inside.input)
      input.pause()
      if ('unref' in input && typeof input.unref === 'function') input.unref()
      output.off('resize', resize)
      passed.end()
      setRaw(false)
    },
  }
}
