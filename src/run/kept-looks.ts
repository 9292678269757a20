/**
 * What a look for secrets has found, for the next one of a process that serves one command after another. Each look verifies all of
 * it by what only the kernel sets, as the looks of one session do: it is a matter of time alone.
 */

import type { MaskFacts, MaskIndex } from '../sandbox/secrets/masks.ts'
import type { PlaceListings } from '../sandbox/secrets/secrets.ts'

/** A look that is over. */
export interface KeptLook {
  readonly index: MaskIndex
  readonly places: PlaceListings
}

/** A person works in few projects at once. */
const MOST_LOOKS = 4
/** A bigger tree is kept on the disk alone. */
const MOST_FOLDERS = 50_000

let kept: Map<string, KeptLook> | null = null

/** From here on looks are kept in this process. */
export function keepLooks(): void {
  kept ??= new Map()
}

/** The last look for the same in the same place; it is the caller's now. */
export function takeLook(stateDir: string, facts: MaskFacts): KeptLook | null {
  const name = nameOf(stateDir, facts)
  const look = kept?.get(name) ?? null
  kept?.delete(name)
  return look
}

/** Keeps a look that is closed. */
export function keepLook(stateDir: string, facts: MaskFacts, look: KeptLook): void {
  if (!kept || look.index.tree.size > MOST_FOLDERS) return
  const [oldest] = kept.keys()
  if (oldest !== undefined && kept.size >= MOST_LOOKS) kept.delete(oldest)
  kept.set(nameOf(stateDir, facts), look)
}

/** All that a look depends on, beside the disk. */
function nameOf(stateDir: string, { home, roots, deniedShapes, hideTracked = false }: MaskFacts): string {
  return JSON.stringify([stateDir, home, roots, deniedShapes, hideTracked])
}
