/** The history of a host's agent: each call is its own process, so it is read before and written after. */

import type { Admitted, CallHistory } from '../../call/admission.ts'
import { ringFor } from '../../call/admission.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import type { LabelPlace } from '../../project/session-labels.ts'
import { sha256 } from '../../system/addon.ts'
import type { HookMemory, HookSessionKey } from './session.ts'

/** The session's earlier calls, for its next one. */
export type HostHistory = CallHistory & {
  readonly loose: string | null
  isNews(notes: string): Promise<boolean>
}

/** The history from memory; null: none. Code that writes is only loaded when needed. */
export function hostHistory(
  key: HookSessionKey,
  known: HookMemory | null,
  loaded: LoadedPolicy,
  agent: string,
  now: () => number,
  labels: LabelPlace,
): HostHistory {
  const { breaker } = loaded.session
  const openUntil = known?.breaker.openUntil ?? null
  return {
    loose: known?.loose ?? null,
    isNews: async (notes) => {
      const reported = sha256(notes)
      if (known?.told === reported) return false
      const { noteTold } = await import('./session.ts')
      noteTold(key, reported, now())
      return true
    },
    ring: () => ringFor(loaded, agent),
    take: async (perMinute) => {
      const { takeCall } = await import('./session.ts')
      return takeCall(key, perMinute, now())
    },
    // Judging has no effects, so the first call after the pause is the probe, from any process.
    admit: (): Admitted => {
      const left = openUntil === null ? 0 : (openUntil - now()) / 1000
      return left > 0 ? { openFor: left } : { probe: openUntil !== null }
    },
    note: async (_, outcome) => {
      // A good call only resets a row of failures, so without one nothing is written.
      const inARow = known !== null && (known.breaker.inARow > 0 || known.breaker.openUntil !== null)
      if (outcome === 'neither' || (outcome === 'good' && !inARow)) return
      const { noteCall } = await import('./session.ts')
      noteCall(key, breaker, outcome, now())
    },
    label: async (read) => {
      const { noteLabels } = await import('../../project/label-notes.ts')
      noteLabels(labels, read)
    },
  }
}
