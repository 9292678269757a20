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

/** Commands take turns between few kinds of sandboxes. */
const MAX_SPARES = 2
/** A spare keeps its file systems busy, so it must not last until a person wonders why. */
export const KEPT_MS = 60_000

/** Commands this close together come from a program that already has the next one. */
const HURRY_MS = 20

interface Spare {
  readonly name: string
  readonly layout: StartedSandbox
  /** How the places looked when it was prepared. */
  readonly look: string
  readonly expiry: NodeJS.Timeout
}

/** The spare sandboxes of one backend. */
export class SpareSandboxes {
  readonly #spares = new Map<string, Spare>()
  readonly #running = new Set<SandboxPlan>()
  #last: { readonly name: string; readonly ended: number } | null = null
  #closed = false

  /** A layout of this name whose paths are unchanged for the plan, or null. */
  take(name: string, plan: SandboxPlan): StartedSandbox | null {
    const spare = this.#spares.get(name)
    if (!spare) return null
    this.#forget(spare)
    if (spare.look !== lookOf(plan)) {
      end(spare.layout)
      return null
    }
    keepAlive(spare.layout, true)
    return spare.layout
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
    for (const spare of this.#spares.values()) this.#end(spare)
  }

  #layOut(name: string, plan: SandboxPlan, start: () => StartedSandbox): void {
    if (this.#closed || this.#spares.has(name) || this.#isMovable(plan)) return
    const [oldest] = this.#spares.values()
    if (oldest && this.#spares.size >= MAX_SPARES) this.#end(oldest)
    try {
      const look = lookOf(plan)
      const layout = start()
      trace('started the next spare sandbox')
      const expiry = setTimeout(() => this.#end(spare), KEPT_MS).unref()
      const spare: Spare = { name, layout, look, expiry }
      keepAlive(layout, false)
      for (const stream of layout.child.stdio) (stream as Socket | null)?.on('error', () => {})
      layout.child.once('exit', () => this.#forget(spare)).once('error', () => this.#forget(spare))
      this.#spares.set(name, spare)
    } catch {
      // The next command starts its own sandbox, and reports the problem.
    }
  }

  /** Whether a running command could replace a path of the plan at the moment it is mounted. */
  #isMovable(plan: SandboxPlan): boolean {
    const writable = [...this.#running].flatMap(({ binds }) => binds.filter(({ mode }) => mode === 'read-write'))
    return plan.binds.some(({ path }) => writable.some((place) => place.path !== path && isInside(path, place.path)))
  }

  #end(spare: Spare): void {
    this.#forget(spare)
    end(spare.layout)
  }

  #forget(spare: Spare): void {
    clearTimeout(spare.expiry)
    if (this.#spares.get(spare.name) === spare) this.#spares.delete(spare.name)
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
