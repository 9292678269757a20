/** Where an archive's entries would land: every name below the destination, no name twice, no link that leads out. */

import { posix } from 'node:path'
import { InputError } from '../tool.ts'
import type { ArchiveEntry } from './entry.ts'

export interface PlacedEntry {
  readonly entry: ArchiveEntry
  /** Canonical, below the destination. */
  readonly path: string
}

/** Places entries below the destination, or refuses the archive as a whole. */
export function placeEntries(entries: readonly ArchiveEntry[], destination: string): PlacedEntry[] {
  const kinds = new Map<string, ArchiveEntry['type']>()
  const placed: PlacedEntry[] = []
  for (const entry of entries) {
    const segments = segmentsOf(entry.name)
    if (segments.length === 0) continue
    const key = segments.join('/')
    const known = kinds.get(key)
    if (known !== undefined && !(known === 'directory' && entry.type === 'directory')) {
      throw new InputError(`the archive holds ${quote(entry.name)} twice`)
    }
    kinds.set(key, entry.type)
    if (entry.type === 'link') checkLink(entry.name, entry.target, segments)
    placed.push({ entry, path: posix.join(destination, key) })
  }
  for (const key of kinds.keys()) {
    for (let above = posix.dirname(key); above !== '.'; above = posix.dirname(above)) {
      const kind = kinds.get(above)
      if (kind !== undefined && kind !== 'directory') {
        throw new InputError(`the archive holds ${quote(key)} below ${quote(above)}, which is a ${kind}`)
      }
    }
  }
  return placed
}

function segmentsOf(name: string): string[] {
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw trick(name, 'an absolute path')
  if (name.includes('\\')) throw trick(name, 'a backslash')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  if (/[\u0000-\u001f\u007f]/.test(name) || !name.isWellFormed()) throw trick(name, 'control characters')
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw trick(name, '".."')
  return segments
}

// Only leading `..` may be in a target: then every step is below the destination, also where a later segment is
// itself a link, because that link was held to the same rule.
function checkLink(name: string, target: string, segments: readonly string[]): void {
  const steps = target.split('/').filter((segment) => segment !== '' && segment !== '.')
  const climbs = steps.findIndex((step) => step !== '..')
  const up = climbs < 0 ? steps.length : climbs
  const inside = up < segments.length && !steps.slice(up).includes('..')
  if (target === '' || target.startsWith('/') || target.includes('\0') || !inside) {
    throw new InputError(
      `${quote(name)} in the archive is a link to ${quote(target)}, which points outside the destination`,
    )
  }
}

function trick(name: string, what: string): InputError {
  return new InputError(`the archive holds the name ${quote(name)} with ${what}; nothing was unpacked`)
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
