/**
 * The room that a process which serves one command after another (a worker of the resident) lays out ahead: after a command, one
 * like its own. Nothing of a command is in it but the places that it shows; its streams, masks, pins and all else come with the
 * orders. It is taken by a command that would have the very same room laid out at that moment, and thrown away by any other.
 */

import { closeSync, constants, openSync, statSync } from 'node:fs'
import { monotonicMs } from '../../system/monotonic.ts'
import type { SandboxRoom } from '../room.ts'
import type { LaunchAddon } from './launch-blocking.ts'
import { type BwrapSetup, O_PATH } from './launch-compile.ts'
import { KEPT_MS, lookOf } from './launch-spare.ts'

/** A room, as one is started for a command. */
export interface WantedRoom {
  readonly addon: LaunchAddon
  /** The program and its arguments, each with its NUL. */
  readonly words: string
  readonly room: SandboxRoom
  readonly machine: BwrapSetup
}

interface Wish extends WantedRoom {
  readonly umask: number
  /** The very file that was verified, still open. */
  readonly init: number
}

interface LaidOut {
  readonly addon: LaunchAddon
  readonly words: string
  readonly umask: number
  readonly look: string
  readonly since: number
}

let kept: { wish: Wish | null; laid: LaidOut | null } | null = null

/** From here on rooms are laid out ahead in this process. */
export function keepRoomsAhead(): void {
  kept ??= { wish: null, laid: null }
}

/** Whether the addon now holds a room that is as this one would be. Any other is gone; null: none would do. */
export function takeRoomAhead(wanted: WantedRoom | null): boolean {
  const laid = kept?.laid
  if (!laid) return false
  kept!.laid = null
  const fits =
    wanted !== null &&
    laid.words === wanted.words &&
    laid.umask === process.umask() &&
    !isOld(laid) &&
    laid.look === lookAt(wanted) &&
    laid.addon.waits() === 1
  if (!fits) laid.addon.abandon()
  return fits
}

/** The next command may want a room like this one's. The command is done: whatever fails here is not about it. */
export function wantRoomAhead(wanted: WantedRoom): void {
  if (!kept) return
  forgetWish()
  try {
    kept.wish = { ...wanted, umask: process.umask(), init: openSync(`/proc/self/fd/${wanted.machine.init.fd}`, 'r') }
  } catch {
    // Then none is laid out.
  }
}

/** Lays out what was wanted; for the time between two requests, when this process is nobody's. */
export function layOutRoomAhead(): void {
  const wish = kept?.wish
  if (!wish) return
  const { addon, words, umask, init } = wish
  const opened: number[] = []
  const own = process.umask(umask)
  endRoomAhead()
  try {
    const look = lookAt(wish)
    opened.push(openSync('/dev/null', 'r+'), openSync('/', O_PATH | constants.O_DIRECTORY))
    const [nothing, root] = opened as [number, number]
    const fds = Int32Array.of(init, nothing, nothing, nothing, nothing, root)
    if (addon.start(Buffer.from(words), Buffer.from(fds.buffer)) === 0)
      kept!.laid = { addon, words, umask, look, since: monotonicMs() }
  } catch {
    // The next command starts a room of its own, and says what is wrong.
  } finally {
    process.umask(own)
    for (const fd of opened) closeSync(fd)
    forgetWish()
  }
}

/** For how many seconds the room that is there is kept; null without one. */
export function secondsAhead(): number | null {
  const laid = kept?.laid
  if (!laid) return null
  if (isOld(laid)) endRoomAhead()
  return kept?.laid ? (laid.since + KEPT_MS - monotonicMs()) / 1000 : null
}

/** Ends the room that is there: its init has no orders, and goes with the connection. */
export function endRoomAhead(): void {
  kept?.laid?.addon.abandon()
  if (kept) kept.laid = null
}

function forgetWish(): void {
  if (kept?.wish) closeSync(kept.wish.init)
  if (kept) kept.wish = null
}

function isOld({ since }: LaidOut): boolean {
  return monotonicMs() - since >= KEPT_MS
}

/** Its places, and the programs that make it: one that was installed since makes the next. */
function lookAt({ room, machine }: WantedRoom): string {
  const programs = [machine.init.path, machine.layer.program].map((path) => {
    const { dev, ino, ctimeNs } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${ctimeNs}`
  })
  return [...programs, lookOf(room)].join('\n')
}
