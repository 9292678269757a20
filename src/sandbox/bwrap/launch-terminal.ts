/** Relays a person's terminal to the sandbox's own: bytes both ways, but for the clipboard, raw mode, size. */

import type { Socket } from 'node:net'
import type { TerminalIo } from '../backend.ts'
import { ClipboardFilter } from './clipboard-filter.ts'
import type { Streams } from './launch-room.ts'
import { resizeMessage } from './orders.ts'

/** Starts the relay and returns what ends it and restores the terminal. */
export function relayTerminal(streams: Streams, control: Socket, terminal: TerminalIo): () => void {
  const { input, output } = terminal
  const inside = { input: streams.stdin!, output: streams.stdout! }
  inside.input.on('error', () => {}).resume()
  inside.output.on('error', () => {})

  const raw = input.isTTY === true && input.setRawMode !== undefined
  // Raw: Ctrl-C, Ctrl-Z and Ctrl-D are bytes for the terminal inside, whose line discipline gives them their meaning.
  if (raw) input.setRawMode!(true)
  const resize = () => {
    if (output.rows && output.columns) control.write(resizeMessage(output.rows, output.columns))
  }
  output.on('resize', resize)
  input.pipe(inside.input)
  const clipboard = new ClipboardFilter()
  inside.output.on('data', (chunk: Buffer) => {
    if (output.write(clipboard.take(chunk))) return
    inside.output.pause()
    output.once('drain', () => inside.output.resume())
  })

  return () => {
    input.unpipe(inside.input)
    input.pause()
    if ('unref' in input && typeof input.unref === 'function') input.unref()
    output.off('resize', resize)
    if (raw) input.setRawMode!(false)
  }
}
