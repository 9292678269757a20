/** Secrets of a project that commands see because git has them in HEAD: a person should know. */

import { deniedShapes } from '../files/secret-shapes.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { MaskIndex, type Masks, type SkippedCount } from '../sandbox/secrets/masks.ts'

/** Their paths, in order. */
export function trackedSecrets(
  { root, sandbox }: Pick<LoadedPolicy, 'root' | 'sandbox'>,
  home: string,
): readonly string[] {
  if (!sandbox.maskSecrets.value || sandbox.maskTracked.value) return []
  return [...look({ root, sandbox }, home).committed].sort()
}

/**
 * Files that look like secrets in the project and need no mask, counted (O4); null if nothing is
 * hidden at all.
 */
export function skippedSecrets(loaded: Pick<LoadedPolicy, 'root' | 'sandbox'>, home: string): SkippedCount | null {
  return loaded.sandbox.maskSecrets.value ? look(loaded, home).skipped : null
}

const SKIPPED: readonly (readonly [of: keyof SkippedCount, one: string, more: string])[] = [
  ['broken', 'broken link', 'broken links'],
  ['cycles', 'link that points to itself', 'links that point to themselves'],
  ['directories', 'link to a folder', 'links to folders'],
  ['system', 'link to a file of the system', 'links to files of the system'],
  ['certificates', 'certificate', 'certificates'],
  ['installed', 'file of an installed package', 'files of installed packages'],
]

/** The counts in words; null without any. */
export function skippedSecretsLine(skipped: SkippedCount | null): string | null {
  const parts = SKIPPED.flatMap(([of, one, more]) => {
    const count = skipped?.[of] ?? 0
    return count === 0 ? [] : [`${count} ${count === 1 ? one : more}`]
  })
  return parts.length === 0 ? null : `named like secrets and not hidden: ${parts.join(', ')}`
}

function look({ root, sandbox }: Pick<LoadedPolicy, 'root' | 'sandbox'>, home: string): Masks {
  const shapes = deniedShapes(sandbox.maskedNames.map((name) => name.value))
  const index = new MaskIndex({ home, roots: [root], deniedShapes: shapes })
  try {
    index.refresh()
    return index.masks([])
  } finally {
    index.close()
  }
}

/** The notice about them; null without any. */
export function trackedSecretsLine(paths: readonly string[], root: string): string | null {
  if (paths.length === 0) return null
  const named = paths.slice(0, 5).map((path) => path.slice(root.length + 1))
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : ''
  return `commands can read ${named.join(', ')}${more}: committed as it is, so not hidden (mask_tracked = true under [sandbox.os] hides it)`
}
