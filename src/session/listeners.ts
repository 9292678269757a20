/** Who listens to a session. A listener is a guest: its failure changes nothing. */

import { messageOf } from '../system/fault.ts'
import type { SessionEvent } from './event.ts'

export class SessionListeners {
  readonly #listeners = new Set<(event: SessionEvent) => void>()
  readonly #failed: (message: string) => void

  constructor(failed: (message: string) => void) {
    this.#failed = failed
  }

  /** Adds a listener; the answer takes it away again. */
  add(listener: (event: SessionEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells everybody who listens. */
  tell(event: SessionEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event)
      } catch (error) {
        this.#failed(`a listener failed: ${messageOf(error)}`)
      }
    }
  }
}
