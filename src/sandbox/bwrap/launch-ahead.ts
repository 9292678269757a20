/**
 * Sandboxes that a process which serves one command after another (a worker of the resident) prepares ahead: after a command, one
 * like its own. Nothing of a command is in it but the places that it shows; its streams, masks, pins and all else come with the
 * orders. It is taken by a command that would have the very same layout prepared at that moment, and thrown away otherwise.
 */

import { closeSync, constants, openSync, statSync } from 'node:fs'
import { monotonicMs } from '../../system/timing.ts'
import type { SandboxLayout } from '../layout.ts'
import type { LaunchAddon } from './launch-blocking.ts'
import { type BwrapSetup, O_PATH } from './launch-compile.ts'
import { KEPT_MS, lookOf } from './launch-spare.ts'

/** A layout, as one is started for a command. */
export interface SpareRequest {
  readonly addon: LaunchAddon
  /** The program and its arguments, each with its NUL. */
  readonly words: string
  readonly layout: SandboxLayout
  readonly machine: BwrapSetup
}

interface Wish extends SpareRequest {
  readonly umask: number
  /** The very file that was verified, still open. */
  readonly init: number
}

interface LaidOut {
  /** Under which the addon has it. */
  readonly number: number
  readonly addon: LaunchAddon
  readonly words: string
  readonly umask: number
  readonly look: string
  readonly since: number
}

/** Commands take turns between few kinds of sandboxes; the addon has as many places. */
const MOST_SPARES = 2

let kept: { wish: Wish | null; readonly laid: Set<LaidOut> } | null = null

/** From here on sandboxes are prepared ahead in this process. */
export function keepSpares(): void {
  kept ??= { wish: null, laid: new Set() }
}

/** Whether the addon now holds a layout that is as this one would be. One that only looked like it is gone. */
export function takeSpare({ addon, ...wanted }: SpareRequest): boolean {
  const umask = process.umask()
  const laid = [...(kept?.laid ?? [])].find((layout) => layout.words === wanted.words && layout.umask === umask)
  if (!laid) return false
  kept!.laid.delete(laid)
  addon.swap(laid.number)
  const fits = !isOld(laid) && laid.look === lookAt(wanted) && addon.waits() === 1
  if (!fits) addon.abandon()
  return fits
}

/** The next command may want a layout like this one's. The command is done: whatever fails here is not about it. */
export function requestSpare(wanted: SpareRequest): void {
  if (!kept) return
  forgetWish()
  try {
    kept.wish = { ...wanted, umask: process.umask(), init: openSync(`/proc/self/fd/${wanted.machine.init.fd}`, 'r') }
  } catch {
    // Then none is prepared.
  }
}

/** Lays out what was wanted; for the time between two requests, when this process is no one's. */
export function prepareSpare(): void {
  const wish = kept?.wish
  if (!wish) return
  const { addon, words, umask, init } = wish
  const opened: number[] = []
  const own = process.umask(umask)
  const number = freeNumber(wish)
  try {
    const look = lookAt(wish)
    opened.push(openSync('/dev/null', 'r+'), openSync('/', O_PATH | constants.O_DIRECTORY))
    const [nothing, root] = opened as [number, number]
    const fds = Int32Array.of(init, nothing, nothing, nothing, nothing, root)
    if (addon.start(Buffer.from(words), Buffer.from(fds.buffer)) === 0) {
      addon.swap(number)
      kept!.laid.add({ number, addon, words, umask, look, since: monotonicMs() })
    }
  } catch {
    // The next command starts its own space, and says what is wrong.
  } finally {
    process.umask(own)
    for (const fd of opened) closeSync(fd)
    forgetWish()
  }
}

/** For how many seconds the oldest layout is kept; null without one. */
export function secondsAhead(): number | null {
  endOldSpares()
  const [oldest] = kept?.laid ?? []
  return oldest ? (oldest.since + KEPT_MS - monotonicMs()) / 1000 : null
}

/** Ends sandboxes that were prepared long ago. */
function endOldSpares(): void {
  for (const layout of kept?.laid ?? []) if (isOld(layout)) end(layout)
}

/** Its init has no orders, and goes with the connection. */
function end(layout: LaidOut): void {
  layout.addon.swap(layout.number)
  layout.addon.abandon()
  kept!.laid.delete(layout)
}

/** Where the addon has place: that of a layout of the same kind, or of the oldest. */
function freeNumber({ words }: Wish): number {
  const laid = kept!.laid
  for (const layout of laid) if (layout.words === words) end(layout)
  const [oldest] = laid
  if (oldest && laid.size >= MOST_SPARES) end(oldest)
  const taken = new Set([...laid].map(({ number }) => number))
  return taken.has(0) ? 1 : 0
}

function forgetWish(): void {
  if (kept?.wish) closeSync(kept.wish.init)
  if (kept) kept.wish = null
}

function isOld({ since }: LaidOut): boolean {
  return monotonicMs() - since >= KEPT_MS
}

/** Its places, and the programs that make it: one that was installed since makes the next. */
function lookAt({ layout, machine }: Pick<SpareRequest, 'layout' | 'machine'>): string {
  const programs = [machine.init.path, machine.layer.program].map((path) => {
    const { dev, ino, ctimeNs } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${ctimeNs}`
  })
  return [...programs, lookOf(layout)].join('\n')
}
