/** The history of a host's agent, each of whose calls is a process of its own: read before the call, written after it. */

import type { Admitted, CallHistory } from '../decide/admission.ts'
import { ringFor } from '../decide/admission.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import type { HookMemory, HookSessionKey } from './session.ts'

/** The history by what is remembered; null: nothing is. What only writes is loaded when there is something to write. */
export function hostHistory(
  key: HookSessionKey,
  known: HookMemory | null,
  loaded: LoadedPolicy,
  agent: string,
  now: () => number,
): CallHistory & { readonly tainted: boolean } {
  const { breaker, taintAsks } = loaded.session
  const openUntil = known?.breaker.openUntil ?? null
  return {
    tainted: (known?.tainted ?? false) && taintAsks.value,
    ring: () => ringFor(loaded, agent),
    take: async (perMinute) => {
      const { takeCall } = await import('./session.ts')
      return takeCall(key, perMinute, now())
    },
    // Judging has no effects, so the first call after the pause is the probe, whoever makes it.
    admit: (): Admitted => {
      const left = openUntil === null ? 0 : (openUntil - now()) / 1000
      return left > 0 ? { openFor: left } : { probe: openUntil !== null }
    },
    note: async (_, outcome) => {
      if (outcome === 'neither' || (outcome === 'good' && known === null)) return
      const { noteCall } = await import('./session.ts')
      noteCall(key, breaker, outcome, now())
    },
    taint: async () => {
      const { noteTaint } = await import('./session.ts')
      noteTaint(key, now())
    },
  }
}
