/** Finds and ends this user's resident processes. */

import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { attempt } from './fault.ts'
import { isSameProcess, startOf } from './processes.ts'
import { ownUid } from './state.ts'

/** One keeper with its workers (native/resident/). */
export interface Resident {
  readonly pid: number
  readonly started: string | null
  /** The program that it serves: Node and Cordon. */
  readonly program: readonly string[]
  /** The folder of its socket. */
  readonly place: string
  readonly workers: number
  /** Proportional memory of all its processes; null if unknown. */
  readonly bytes: number | null
}

/** The running residents. Its own are those that this Cordon's `script` started. */
export function residents(
  env: Readonly<Record<string, string | undefined>>,
  script: string,
): readonly (Resident & { readonly isOwn: boolean })[] {
  return residentPlaces(env).flatMap((place, at) =>
    readdirSync(place)
      .filter((name) => name.endsWith('.lock'))
      .flatMap((name) => residentOf(join(place, name)) ?? [])
      .map((resident) => ({
        ...resident,
        isOwn: at === 0 && isSame(resident.program[1], script),
      })),
  )
}

function isSame(program: string | undefined, script: string): boolean {
  // Its checkout is gone.
  return attempt(() => program !== undefined && realpathSync(program) === script, false)
}

/** Ends one. A command that it runs continues. */
export function stopResident({ pid, started }: Resident): void {
  if (isSameProcess(pid, started)) process.kill(pid, 'SIGTERM')
}

/** Where the client looks (native/resident/place.c), if nobody else can write there. */
export function residentPlaces({
  XDG_RUNTIME_DIR: runtime,
}: Readonly<Record<string, string | undefined>>): readonly string[] {
  const usual = `/tmp/cordon-${ownUid()}`
  return [...(runtime?.startsWith('/') ? [join(runtime, 'cordon')] : []), usual].filter((place) => {
    const facts = lstatSync(place, { throwIfNoEntry: false })
    return facts?.isDirectory() && facts.uid === ownUid() && (facts.mode & 0o077) === 0
  })
}

function residentOf(lock: string): Resident | null {
  try {
    const pid = Number(readFileSync(lock, 'latin1'))
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    // A killed resident's lock stays, and its number may be reused.
    if (words[0] !== 'cordon-resident' || words[1] !== '--keep') return null
    const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean)
    const sizes = [String(pid), ...workers].map(bytesOf)
    return {
      pid,
      started: startOf(pid),
      program: words.slice(2, 4),
      place: dirname(lock),
      workers: workers.length,
      bytes: sizes.includes(null) ? null : sizes.reduce<number>((sum, size) => sum + size!, 0),
    }
  } catch {
    return null
  }
}

function bytesOf(pid: string): number | null {
  try {
    const kilobytes = /^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
    return kilobytes ? Number(kilobytes[1]) * 1024 : null
  } catch {
    return null
  }
}
