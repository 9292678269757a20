/** The runners of a session, one for each policy that its commands are placed by. */

import type { LoadedPolicy } from '../policy/load.ts'
import type { CommandRunner } from './runner.ts'

const MAX_RUNNERS = 3

/** Runners by the policy they were made for; making one looks through the whole project. */
export class RunnerPool {
  readonly #open: (loaded: LoadedPolicy) => CommandRunner
  readonly #runners = new Map<LoadedPolicy, { readonly runner: CommandRunner; users: number }>()

  constructor(open: (loaded: LoadedPolicy) => CommandRunner) {
    this.#open = open
  }

  async use<T>(loaded: LoadedPolicy, work: (runner: CommandRunner) => Promise<T>): Promise<T> {
    const known = this.#runners.get(loaded)
    const entry = known ?? { runner: this.#open(loaded), users: 0 }
    if (!known) this.#runners.set(loaded, entry)
    entry.users++
    try {
      return await work(entry.runner)
    } finally {
      entry.users--
      await this.#trim()
    }
  }

  async close(): Promise<void> {
    const all = [...this.#runners.values()]
    this.#runners.clear()
    await Promise.all(all.map(({ runner }) => runner.close()))
  }

  async #trim(): Promise<void> {
    const idle = [...this.#runners].filter(([, entry]) => entry.users === 0)
    for (const [loaded, { runner }] of idle.slice(0, Math.max(0, this.#runners.size - MAX_RUNNERS))) {
      this.#runners.delete(loaded)
      await runner.close()
    }
  }
}
