/** A lock between processes that a killed process releases. */

import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  unlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { tryLock } from './addon.ts'
import { attempt, errorCode, Fault, unwritable } from './fault.ts'
import { uniqueName, writeMade } from './made-file.ts'
import { isSameProcess, startOf } from './processes.ts'
import { makeDirectories } from './state.ts'
import { monotonicMs } from './timing.ts'

export interface LockOptions {
  readonly timeoutMs?: number
  /** As where the kernel cannot lock it. */
  readonly byFiles?: boolean
}

/**
 * A lock is a directory. The kernel locks it; where it cannot, its files do, in generations: `N.lock` names the holder of
 * generation N, `N.free` releases it. The next holder creates N + 1, which only one process can.
 * INVARIANT: names are only removed below the highest generation, so a process that created a name and sees none above it is
 * the only holder. A stale holder is passed over, never removed: removal is where such locks fail.
 * INVARIANT: who has one of the two then looks for the other, so that both ways exclude each other.
 */
export function withLock<T>(directory: string, work: () => T, options: LockOptions = {}): T {
  const release = holdLock(directory, options)
  try {
    return work()
  } finally {
    release()
  }
}

/** Keeps the lock until the returned function is called or the process ends. */
export function holdLock(directory: string, options: LockOptions = {}): () => void {
  makeDirectories(directory)
  const wait = waiter(directory, options.timeoutMs ?? 10_000)
  const locked = options.byFiles ? null : lockInKernel(directory, wait)
  if (locked) return locked
  const release = lockByFiles(directory, wait)
  try {
    while (kernelHolder(directory) !== null) wait()
  } catch (error) {
    release()
    throw error
  }
  return release
}

/** Whether a live process has the lock. */
export function isLockHeld(directory: string): boolean {
  try {
    return kernelHolder(directory) !== null || isHeldByFiles(directory)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false
    throw error
  }
}

function isHeldByFiles(directory: string): boolean {
  const current = generations(directory).at(-1)
  return current !== undefined && !current.free && !isStale(join(directory, `${current.number}.lock`))
}

/** Waits ever longer; throws when the time is up. */
function waiter(directory: string, timeoutMs: number): () => void {
  const deadline = monotonicMs() + timeoutMs
  let pause = FIRST_PAUSE_MS
  return () => {
    if (monotonicMs() > deadline) throw busy(directory)
    sleep(pause)
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }
}

/** Null where the kernel cannot lock it. */
function lockInKernel(directory: string, wait: () => void): (() => void) | null {
  for (;;) {
    const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
    let locks: boolean | null = false
    let isOurs = false
    try {
      locks = tryLock(fd)
      // A directory that was replaced meanwhile locks nothing.
      isOurs = locks === true && fstatSync(fd).ino === statSync(directory).ino && !isHeldByFiles(directory)
    } finally {
      if (!isOurs) closeSync(fd)
    }
    if (isOurs) return once(fd)
    if (locks === null) return null
    wait()
  }
}

function once(fd: number): () => void {
  let open = true
  return () => {
    if (open) closeSync(fd)
    open = false
  }
}

/** The process whose kernel lock it is, or null. */
function kernelHolder(directory: string): string | null {
  const { ino } = statSync(directory)
  return new RegExp(`FLOCK +\\S+ +\\S+ +(-?\\d+) \\S+:${ino} `).exec(kernelLocks())?.[1] ?? null
}

/** Only Linux has the file, and the addon. */
function kernelLocks(): string {
  return process.platform === 'linux' ? readFileSync('/proc/locks', 'latin1') : ''
}

const FIRST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 25
/** Generations between clean-ups. */
const REAP_EVERY = 16
/** How long to wait for a holder that cannot be checked, such as one in another container. */
const UNKNOWN_HOLDER_MS = 30_000

function lockByFiles(directory: string, wait: () => void): () => void {
  const own = join(directory, `.${process.pid}.${uniqueName()}`)
  try {
    writeMade(own, JSON.stringify(describeOwner()), { flag: 'wx' })
  } catch (error) {
    unlinkQuietly(own)
    throw unwritable(own, error)
  }
  try {
    for (;;) {
      const current = generations(directory).at(-1)
      if (current === undefined || current.free || isStale(join(directory, `${current.number}.lock`))) {
        const taken = take(directory, own, (current?.number ?? 0) + 1)
        if (taken !== null) return taken
      }
      wait()
    }
  } finally {
    unlinkQuietly(own)
  }
}

/** Takes a generation, or returns null if it or a higher one is taken. */
function take(directory: string, own: string, number: number): (() => void) | null {
  const lock = join(directory, `${number}.lock`)
  try {
    linkSync(own, lock)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return null
    throw error
  }
  const after = generations(directory)
  const highest = after.at(-1)
  if (highest?.number !== number || highest.free) {
    unlinkQuietly(lock)
    return null
  }
  for (const { number: old } of after) {
    if (old >= number) continue
    unlinkQuietly(join(directory, `${old}.lock`))
    unlinkQuietly(join(directory, `${old}.free`))
  }
  if (number % REAP_EVERY === 1) reapLeftovers(directory)
  return () => letGo(directory, number)
}

/** A hard link: on a journalled disk a new file takes ten times as long. */
function letGo(directory: string, number: number): void {
  try {
    linkSync(join(directory, `${number}.lock`), join(directory, `${number}.free`))
  } catch (error) {
    // Already released, or passed over.
    if (errorCode(error) !== 'EEXIST' && errorCode(error) !== 'ENOENT') throw error
  }
}

interface Generation {
  readonly number: number
  readonly free: boolean
}

function generations(directory: string): Generation[] {
  const found = new Map<number, boolean>()
  for (const name of readdirSync(directory)) {
    const match = /^([0-9]{1,15})\.(lock|free)$/.exec(name)
    if (match === null) continue
    const number = Number(match[1])
    found.set(number, (found.get(number) ?? false) || match[2] === 'free')
  }
  return [...found].map(([number, free]) => ({ number, free })).sort((a, b) => a.number - b.number)
}

interface Owner {
  readonly pid: number
  readonly started: string | null
  readonly boot: string | null
  readonly pids: string | null
}

const ownerOf = (lock: string): Owner => JSON.parse(readFileSync(lock, 'utf8')) as Owner

let self: Owner | null = null

/** Cached: asking the kernel takes as long as writing a line. */
function describeOwner(): Owner {
  self ??= { pid: process.pid, started: startOf(process.pid), boot: bootId(), pids: pidNamespace() }
  return self
}

function isStale(lock: string): boolean {
  let owner: Owner
  try {
    owner = ownerOf(lock)
  } catch (error) {
    // Gone: passed over. Unreadable: not ours, and passed over once old.
    return errorCode(error) === 'ENOENT' || isOld(lock)
  }
  const { boot, pids } = describeOwner()
  if (owner.boot !== boot) return owner.boot !== null
  if (owner.pids !== pids) return isOld(lock)
  return !isSameProcess(owner.pid, owner.started)
}

function isOld(path: string): boolean {
  return attempt(() => Date.now() - statSync(path).mtimeMs > UNKNOWN_HOLDER_MS, true)
}

function bootId(): string | null {
  return attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(), null)
}

function pidNamespace(): string | null {
  return attempt(() => readlinkSync('/proc/self/ns/pid'), null)
}

function reapLeftovers(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (/^\.[0-9]+\.[0-9a-z-]+$/.test(name) && isOld(join(directory, name))) unlinkQuietly(join(directory, name))
  }
}

function unlinkQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Already gone.
  }
}

function busy(directory: string): Fault {
  let holder = 'another process'
  try {
    const last = generations(directory).findLast(({ free }) => !free)?.number
    const pid = last === undefined ? kernelHolder(directory) : ownerOf(join(directory, `${last}.lock`)).pid
    if (pid !== null) holder = `process ${pid}`
  } catch {
    // Just released.
  }
  return new Fault('locked', `${directory} is locked by ${holder}`, { remedy: 'Wait for it to end, and try again.' })
}

const SLEEPER = new Int32Array(new SharedArrayBuffer(4))

function sleep(milliseconds: number): void {
  Atomics.wait(SLEEPER, 0, 0, milliseconds)
}
