/** Series of changes to a small tree, for tests that compare an index with a new one. */

import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'

const NAMES = ['a', 'b', '.env', 'x.key', 'd']

export interface Change {
  readonly kind: 'file' | 'folder' | 'remove' | 'rename' | 'link' | 'hard' | 'refresh'
  readonly from: readonly string[]
  readonly to: readonly string[]
}

const place = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })

export const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Change['kind']>('file', 'folder', 'remove', 'rename', 'link', 'hard', 'refresh'),
    from: place,
    to: place,
  }),
  { maxLength: 25 },
)

/** Makes them one after the other; `refresh` is the index's to do. */
export function applyChanges(root: string, steps: readonly Change[], refresh: () => void): void {
  for (const { kind, from, to } of steps) {
    const source = join(root, ...from)
    const target = join(root, ...to)
    if (kind === 'refresh') {
      refresh()
      continue
    }
    try {
      if (kind === 'file') writeFileSync(source, 'x')
      else if (kind === 'folder') mkdirSync(source, { recursive: true })
      else if (kind === 'remove') rmSync(source, { recursive: true })
      else if (kind === 'rename') renameSync(source, target)
      else if (kind === 'link') symlinkSync(source, target)
      else linkSync(source, target)
    } catch {
      // A step that cannot be done changes nothing.
    }
  }
}
