/**
 * Sandboxes that are prepared ahead. Laying one out takes most of the time of a short command, and the next command mostly
 * wants a layout like the last one's. A spare holds nothing but its places and an init that waits for its orders; masks,
 * pins and everything else that is about one command come with those.
 */

import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { isInside } from '../../files/baseline.ts'
import { monotonicMs, onNextTurn } from '../../system/timing.ts'
import type { SandboxLayout } from '../layout.ts'
import type { SandboxPlan } from '../plan.ts'
import { readIdentities } from '../session.ts'
import { keepAlive, type StartedSandbox } from './launch-sandbox.ts'

/** Commands take turns between few kinds of sandboxes. */
const MAX_SPARES = 2
/** A spare holds on to the file systems that it shows: not for longer than a person would wonder why. */
export const KEPT_MS = 60_000

/** Commands this close to each other come from a program, which has the next one at hand. */
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

  /** A layout of this name in which the plan finds everything as it is now, or null. */
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
      const expiry = setTimeout(() => this.#end(spare), KEPT_MS).unref()
      const spare: Spare = { name, layout, look, expiry }
      keepAlive(layout, false)
      for (const stream of layout.child.stdio) (stream as Socket | null)?.on('error', () => {})
      layout.child.once('exit', () => this.#forget(spare)).once('error', () => this.#forget(spare))
      this.#spares.set(name, spare)
    } catch {
      // The next command starts its own space, and says what is wrong.
    }
  }

  /** Whether a running command could put something else in a place of the plan, for the moment in which it is shown. */
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

/** The init has no orders yet, so nothing runs that could mind: it ends with the connection (see bwrap/args.ts for why not by a signal). */
function end({ child }: StartedSandbox): void {
  for (const stream of child.stdio) stream?.destroy()
}

/**
 * What a layout shows is settled when it is prepared: a place that was replaced since, or a file system that came or went,
 * would be missing from it. That its places are these very ones the init sees for itself, as in any other layout.
 */
export function lookOf({ binds, standIns }: Pick<SandboxLayout, 'binds' | 'standIns'>): string {
  const places = readIdentities([...binds.map(({ path }) => path), ...standIns.map(({ source }) => source)])
  const numbers = [...places].map(([path, { device, inode }]) => `${path} ${device} ${inode}`)
  return `${numbers.join('\n')}\n${readFileSync('/proc/self/mountinfo', 'latin1')}`
}
