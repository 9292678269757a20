/** What a command writes, on its way to a terminal that may be stopped (Ctrl-S): this process must not wait in a write, where no signal reaches it. */

import type { Readable, Writable } from 'node:stream'

interface MaybeTerminal {
  readonly isTTY?: boolean
  readonly _handle?: { setBlocking?(blocking: boolean): void }
}

export interface TerminalOutput {
  /** Goes on after `mayFlow` said no. */
  resume(): void
  /** A signal ended the command: what a terminal does not take now is dropped, as a terminal itself does at Ctrl-C. */
  drop(): void
  /** Resolves once a terminal has all of it, or it was dropped. Others are not waited for. */
  flushed(): Promise<void>
  end(): void
}

/** Takes what `from` says to `to`, which is never ended. */
export function passOutput(
  from: Readable,
  to: Writable,
  change: (chunk: Buffer) => Uint8Array = (chunk) => chunk,
  mayFlow: () => boolean = () => true,
): TerminalOutput {
  const { isTTY, _handle: handle } = to as MaybeTerminal
  const setBlocking = (blocking: boolean) => {
    if (isTTY) handle?.setBlocking?.(blocking)
  }
  let waiting = 0
  let dropping = false
  let gone = false
  let flush = () => {}
  const resume = () => {
    if (mayFlow()) from.resume()
  }
  setBlocking(false)
  from.on('data', (chunk: Buffer) => {
    if (gone || (dropping && waiting > 0)) return
    waiting++
    const goesOn = to.write(change(chunk), () => {
      if (--waiting === 0) flush()
    })
    if (goesOn || dropping) return
    from.pause()
    to.once('drain', resume)
  })
  // Nobody reads any more, and no `drain` comes: what is left is read away, so that the command ends.
  to.once('close', () => {
    gone = true
    flush()
    from.resume()
  })
  return {
    resume,
    drop: () => {
      dropping = true
      flush()
      resume()
    },
    flushed: () =>
      !isTTY || gone || waiting === 0 || dropping ? Promise.resolve() : new Promise((resolve) => (flush = resolve)),
    end: () => setBlocking(true),
  }
}
