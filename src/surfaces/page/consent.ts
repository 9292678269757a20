/** The terminal's consent: a lasting answer needs a code that the terminal shows. */

import { randomInt, timingSafeEqual } from 'node:crypto'

export interface Consent {
  /** Null if agreed; otherwise why not, after showing a code if there is a terminal. */
  take(action: string, code: string | null): string | null
}

interface Pending {
  readonly action: string
  readonly code: string
  readonly until: number
  tries: number
}

const VALID_MS = 2 * 60_000
const MAX_TRIES = 3
/** Limit of wrong codes until restart, against guessing. */
const MAX_WRONG = 9

/** `show` returns whether anybody could see the code. One action is pending at a time. */
export function terminalConsent(show: (text: string) => boolean, now: () => number = Date.now): Consent {
  let pending: Pending | null = null
  let wrong = 0
  return {
    take(action, code) {
      if (wrong >= MAX_WRONG) return `${MAX_WRONG} codes were wrong, so no more are accepted; restart cordon ui`
      const known = pending?.action === action && pending.until > now() ? pending : null
      if (known && code !== null) {
        known.tries++
        if (isSame(code.replaceAll(' ', ''), known.code)) {
          pending = null
          wrong = 0
          return null
        }
        wrong++
        if (known.tries < MAX_TRIES) return 'that is not the code that the terminal shows'
        pending = null
        return 'the code was wrong three times; start again'
      }
      // A repeated question keeps its code, so that nobody can flood the terminal.
      if (known) return 'the terminal shows a code: type it here'
      const fresh = String(randomInt(1_000_000)).padStart(6, '0')
      pending = { action, code: fresh, until: now() + VALID_MS, tries: 0 }
      if (
        show(
          `the page wants to ${action}\n  If that is you, type this code there: ${fresh.slice(0, 3)} ${fresh.slice(3)}`,
        )
      )
        return 'the terminal shows a code: type it here'
      pending = null
      return 'this needs a code from a terminal, and the page was not started in one; run cordon ui in a terminal'
    },
  }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)]
  return one.length === other.length && timingSafeEqual(one, other)
}
