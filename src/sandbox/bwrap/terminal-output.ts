/** What a command writes, on its way to a terminal that may be stopped (Ctrl-S): this process must not wait in a write, where no signal reaches it. */

import type { Readable, Writable } from 'node:stream'

interface MaybeTerminal {
  readonly isTTY?: boolean
  readonly _handle?: { setBlocking?(blocking: boolean): void }
}

export interface TerminalOutput {
  /** Goes on after `mayFlow` said no. */
  resume(): void
  /** A signal that ends programs came: what a stopped terminal does not take is dropped, as a terminal itself does at Ctrl-C. */
  drop(): void
  /** Resolves once a terminal has all of it, or it was dropped. Others are not waited for. */
  flushed(): Promise<void>
  end(): void
}

/** How long a terminal may take nothing before it counts as stopped. */
const STOPPED_MS = 500

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
  let isSignalled = false
  let taken = 0
  let timer: NodeJS.Timeout | null = null
  let flush = () => {}
  const resume = () => {
    if (mayFlow()) from.resume()
  }
  const giveUp = () => {
    if (waiting === 0) return
    dropping = true
    flush()
    resume()
  }
  /** After a signal, a terminal that takes nothing for a while is stopped: output may arrive after the signal. */
  const expectProgress = () => {
    if (!isSignalled || timer !== null || waiting === 0) return
    const before = taken
    timer = setTimeout(() => {
      timer = null
      if (taken === before) giveUp()
      else expectProgress()
    }, STOPPED_MS)
  }
  setBlocking(false)
  from.on('data', (chunk: Buffer) => {
    if (waiting === 0) dropping = false
    if (dropping || gone) return
    waiting++
    const goesOn = to.write(change(chunk), () => {
      taken++
      if (--waiting === 0) flush()
    })
    expectProgress()
    if (goesOn) return
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
      isSignalled = true
      giveUp()
    },
    flushed: () =>
      !isTTY || gone || waiting === 0 || dropping ? Promise.resolve() : new Promise((resolve) => (flush = resolve)),
    end: () => {
      if (timer !== null) clearTimeout(timer)
      setBlocking(true)
    },
  }
}
