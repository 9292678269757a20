/**
 * Rooms that a process which serves one command after another (a worker of the resident) lays out ahead: after a command, one
 * like its own. Nothing of a command is in it but the places that it shows; its streams, masks, pins and all else come with the
 * orders. It is taken by a command that would have the very same room laid out at that moment, and thrown away otherwise.
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
  /** Under which the addon has it. */
  readonly number: number
  readonly addon: LaunchAddon
  readonly words: string
  readonly umask: number
  readonly look: string
  readonly since: number
}

/** Commands take turns between few kinds of rooms; the addon has as many places. */
const MOST_ROOMS = 2

let kept: { wish: Wish | null; readonly laid: Set<LaidOut> } | null = null

/** From here on rooms are laid out ahead in this process. */
export function keepRoomsAhead(): void {
  kept ??= { wish: null, laid: new Set() }
}

/** Whether the addon now holds a room that is as this one would be. One that only looked like it is gone. */
export function takeRoomAhead({ addon, ...wanted }: WantedRoom): boolean {
  const umask = process.umask()
  const laid = [...(kept?.laid ?? [])].find((room) => room.words === wanted.words && room.umask === umask)
  if (!laid) return false
  kept!.laid.delete(laid)
  addon.swap(laid.number)
  const fits = !isOld(laid) && laid.look === lookAt(wanted) && addon.waits() === 1
  if (!fits) addon.abandon()
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
    // The next command starts a room of its own, and says what is wrong.
  } finally {
    process.umask(own)
    for (const fd of opened) closeSync(fd)
    forgetWish()
  }
}

/** For how many seconds the oldest room is kept; null without one. */
export function secondsAhead(): number | null {
  endOldRooms()
  const [oldest] = kept?.laid ?? []
  return oldest ? (oldest.since + KEPT_MS - monotonicMs()) / 1000 : null
}

/** Ends rooms that were laid out long ago. */
function endOldRooms(): void {
  for (const room of kept?.laid ?? []) if (isOld(room)) end(room)
}

/** Its init has no orders, and goes with the connection. */
function end(room: LaidOut): void {
  room.addon.swap(room.number)
  room.addon.abandon()
  kept!.laid.delete(room)
}

/** Where the addon has place: that of a room of the same kind, or of the oldest. */
function freeNumber({ words }: Wish): number {
  const laid = kept!.laid
  for (const room of laid) if (room.words === words) end(room)
  const [oldest] = laid
  if (oldest && laid.size >= MOST_ROOMS) end(oldest)
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
function lookAt({ room, machine }: Pick<WantedRoom, 'room' | 'machine'>): string {
  const programs = [machine.init.path, machine.layer.program].map((path) => {
    const { dev, ino, ctimeNs } = statSync(path, { bigint: true })
    return `${dev} ${ino} ${ctimeNs}`
  })
  return [...programs, lookOf(room)].join('\n')
}
