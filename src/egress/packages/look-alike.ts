/** Finds names that imitate popular packages. PURE. */

import { POPULAR } from './popular.ts'
import type { Ecosystem } from './release.ts'

/** Shorter names are nearly all close to another one. */
const SHORTEST = 4

/** The popular package that a name imitates by one edit, or by separators alone; otherwise null. */
export function lookAlike(ecosystem: Ecosystem, name: string): string | null {
  const popular = POPULAR[ecosystem]
  const plain = name.toLowerCase()
  if (popular.has(plain)) return null
  const folded = fold(plain)
  for (const known of popular) {
    if (known.length < SHORTEST) continue
    if (fold(known) === folded || isOneEdit(plain, known)) return known
  }
  return null
}

/** Without scope marks and separators, and with digits as the letters that they imitate. */
function fold(name: string): string {
  return name
    .replace(/^@/, '')
    .replace(/[-_./]/g, '')
    .replaceAll('0', 'o')
    .replaceAll('1', 'l')
    .replaceAll('rn', 'm')
}

/** One letter added, removed or changed, or two neighbours swapped. */
function isOneEdit(a: string, b: string): boolean {
  if (Math.abs(a.length - b.length) > 1 || a === b) return false
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  const [left, right] = [a.slice(at), b.slice(at)]
  if (left.length > right.length) return left.slice(1) === right
  if (left.length < right.length) return left === right.slice(1)
  if (left.slice(1) === right.slice(1)) return true
  return left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2)
}
