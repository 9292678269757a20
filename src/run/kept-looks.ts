/**
 * Keeps finished scans for the next command of a resident process. Each scan verifies all of it by
 * kernel-set attributes, so this only saves time.
 */

import type { MaskFacts, MaskIndex } from '../sandbox/secrets/masks.ts'
import type { PlaceListings } from '../sandbox/secrets/secrets.ts'

/** A finished scan. */
export interface KeptLook {
  readonly index: MaskIndex
  readonly places: PlaceListings
}

/** A person works in few projects at once. */
const MOST_LOOKS = 4
/** A bigger tree is kept on disk only. */
const MOST_FOLDERS = 50_000

let kept: Map<string, KeptLook> | null = null

/** Enables keeping in this process. */
export function keepLooks(): void {
  kept ??= new Map()
}

/** The last scan with the same facts; the caller owns it. */
export function takeLook(stateDir: string, facts: MaskFacts): KeptLook | null {
  const name = nameOf(stateDir, facts)
  const look = kept?.get(name) ?? null
  kept?.delete(name)
  return look
}

/** Keeps a closed scan. */
export function keepLook(stateDir: string, facts: MaskFacts, look: KeptLook): void {
  if (!kept || look.index.tree.size > MOST_FOLDERS) return
  const [oldest] = kept.keys()
  if (oldest !== undefined && kept.size >= MOST_LOOKS) kept.delete(oldest)
  kept.set(nameOf(stateDir, facts), look)
}

/** Everything that a scan depends on, except the disk. */
function nameOf(stateDir: string, { home, roots, deniedShapes, hideTracked = false }: MaskFacts): string {
  return JSON.stringify([stateDir, home, roots, deniedShapes, hideTracked])
}
