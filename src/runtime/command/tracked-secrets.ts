/** Secrets of a project that commands see, because git has them in HEAD as they are: a person should hear of them. */

import { deniedShapes } from '../../files/secret-shapes.ts'
import { MaskIndex } from '../../sandbox/secrets/masks.ts'
import type { LoadedPolicy } from '../policy/load.ts'

/** Their paths, in order. */
export function trackedSecrets(
  { root, sandbox }: Pick<LoadedPolicy, 'root' | 'sandbox'>,
  home: string,
): readonly string[] {
  if (!sandbox.maskSecrets.value || sandbox.maskTracked.value) return []
  const shapes = deniedShapes(sandbox.maskedNames.map((name) => name.value))
  const index = new MaskIndex({ home, roots: [root], deniedShapes: shapes })
  try {
    index.refresh()
    return [...index.masks([]).committed].sort()
  } finally {
    index.close()
  }
}

/** What a person is told of them; null where there are none. */
export function trackedSecretsLine(paths: readonly string[], root: string): string | null {
  if (paths.length === 0) return null
  const named = paths.slice(0, 5).map((path) => path.slice(root.length + 1))
  const more = paths.length > 5 ? ` and ${paths.length - 5} more` : ''
  return `commands can read ${named.join(', ')}${more}: git has that in HEAD as it is (mask_tracked = true under [sandbox.os] hides it)`
}
