/**
 * Sandboxes that are prepared ahead. Preparing one takes most of a short command's time, and the
 * next command mostly wants the same layout. A spare contains only its mounts and an init that
 * waits; masks, pins and everything about one command come with the setup message.
 */

import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { isInside } from '../../files/baseline.ts'
import { monotonicMs, onNextTurn, trace } from '../../system/timing.ts'
import type { SandboxLayout } from '../layout.ts'
import type { SandboxPlan } from '../plan.ts'
import { readIdentities } from '../session.ts'
import { keepAlive, type StartedSandbox } from './launch-sandbox.ts'

/** Commands take turns between few kinds of sandboxes; the launch addon has as many places. */
const MOST_SPARES = 2
/** A spare keeps its file systems busy, so it must not last until a person wonders why. */
const KEPT_MS = 60_000

interface Spare<Sandbox> {
  readonly sandbox: Sandbox
  /** How the places looked when it was prepared. */
  readonly look: string
  readonly since: number
}

/** Prepared sandboxes by the name of their layout, of a session or of a worker of the resident. */
export class SparePool<Sandbox> {
  readonly #end: (sandbox: Sandbox) => void
  /** The oldest first. */
  readonly #spares = new Map<string, Spare<Sandbox>>()

  /** `end` ends a sandbox that no command will get. */
  constructor(end: (sandbox: Sandbox) => void) {
    this.#end = end
  }

  get sandboxes(): readonly Sandbox[] {
    return [...this.#spares.values()].map(({ sandbox }) => sandbox)
  }

  has(name: string): boolean {
    return this.#spares.has(name)
  }

  /** The sandbox of this name if its places still look the same. One that differs is ended. */
  take(name: string, look: () => string): Sandbox | null {
    this.endOld()
    const spare = this.#spares.get(name)
    if (!spare) return null
    this.#spares.delete(name)
    if (spare.look === look()) return spare.sandbox
    this.#end(spare.sandbox)
    return null
  }

  /** Ends the sandbox of this name, and the oldest where the pool is full. */
  makeRoom(name: string): void {
    this.#endAll((other) => other === name)
    const [oldest] = this.#spares.keys()
    if (this.#spares.size >= MOST_SPARES) this.#endAll((other) => other === oldest)
  }

  add(name: string, look: string, sandbox: Sandbox): void {
    this.#spares.set(name, { sandbox, look, since: monotonicMs() })
  }

  /** For one that ended by itself. */
  forget(sandbox: Sandbox): void {
    for (const [name, spare] of this.#spares) if (spare.sandbox === sandbox) this.#spares.delete(name)
  }

  /** Ends sandboxes that were prepared long ago. Returns how long the oldest is still kept; null without one. */
  endOld(): number | null {
    const first = monotonicMs() - KEPT_MS
    this.#endAll((_, { since }) => since <= first)
    const [oldest] = this.#spares.values()
    return oldest ? oldest.since - first : null
  }

  close(): void {
    this.#endAll(() => true)
  }

  #endAll(which: (name: string, spare: Spare<Sandbox>) => boolean): void {
    for (const [name, spare] of this.#spares) {
      if (!which(name, spare)) continue
      this.#spares.delete(name)
      this.#end(spare.sandbox)
    }
  }
}

/** Commands this close together come from a program that already has the next one. */
const HURRY_MS = 20

/** The spare sandboxes of one backend. */
export class SpareSandboxes {
  readonly #pool = new SparePool<StartedSandbox>(end)
  readonly #running = new Set<SandboxPlan>()
  #last: { readonly name: string; readonly ended: number } | null = null
  #closed = false

  /** A layout of this name whose paths are unchanged for the plan, or null. */
  take(name: string, plan: SandboxPlan): StartedSandbox | null {
    const spare = this.#pool.take(name, () => lookOf(plan))
    if (spare) keepAlive(spare, true)
    return spare
  }

  /** Follows a command that begins, to prepare a layout like its own for the next one: once it is done, or at once in a hurry. */
  follow(name: string, plan: SandboxPlan, start: () => StartedSandbox, command: Promise<unknown>): void {
    const layOut = () => onNextTurn(() => this.#layOut(name, plan, start))
    const inAHurry = this.#last?.name === name && monotonicMs() - this.#last.ended < HURRY_MS
    this.#closed = false
    this.#running.add(plan)
    if (inAHurry) layOut()
    const done = () => {
      this.#running.delete(plan)
      this.#last = { name, ended: monotonicMs() }
    }
    command.then(
      () => {
        done()
        layOut()
      },
      () => done(),
    )
  }

  /** Ends them all. */
  close(): void {
    this.#closed = true
    this.#pool.close()
  }

  #layOut(name: string, plan: SandboxPlan, start: () => StartedSandbox): void {
    const pool = this.#pool
    if (this.#closed || pool.has(name) || this.#isMovable(plan)) return
    pool.makeRoom(name)
    try {
      const look = lookOf(plan)
      const layout = start()
      trace('started the next spare sandbox')
      keepAlive(layout, false)
      for (const stream of layout.child.stdio) (stream as Socket | null)?.on('error', () => {})
      const forget = () => pool.forget(layout)
      layout.child.once('exit', forget).once('error', forget)
      pool.add(name, look, layout)
      setTimeout(() => pool.endOld(), KEPT_MS + 1000).unref()
    } catch {
      // The next command starts its own sandbox, and reports the problem.
    }
  }

  /** Whether a running command could replace a path of the plan at the moment it is mounted. */
  #isMovable(plan: SandboxPlan): boolean {
    const writable = [...this.#running].flatMap(({ binds }) => binds.filter(({ mode }) => mode === 'read-write'))
    return plan.binds.some(({ path }) => writable.some((place) => place.path !== path && isInside(path, place.path)))
  }
}

/**
 * The init has no setup message, so nothing runs inside: it ends with the connection (bwrap/args.ts
 * explains why not by a signal).
 */
function end({ child }: StartedSandbox): void {
  for (const stream of child.stdio) stream?.destroy()
}

/**
 * The mounts of a layout are fixed when it is prepared: a replaced path, or a new file system,
 * would be missing. The init itself verifies that the paths are the same.
 */
export function lookOf({ binds, standIns }: Pick<SandboxLayout, 'binds' | 'standIns'>): string {
  const places = readIdentities([...binds.map(({ path }) => path), ...standIns.map(({ source }) => source)])
  const numbers = [...places].map(([path, { device, inode }]) => `${path} ${device} ${inode}`)
  return `${numbers.join('\n')}\n${readFileSync('/proc/self/mountinfo', 'latin1')}`
}
