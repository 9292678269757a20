/** Where a project begins, and what its manifest is called. */

import { dirname, join } from 'node:path'
import type { Files } from '../../system/files.ts'

export const MANIFEST_NAME = 'cordon.toml'

/** The nearest directory upwards with a manifest, else with a repository, else the directory itself. */
export function findRoot(cwd: string, files: Files): string {
  for (const marker of [MANIFEST_NAME, '.git']) {
    for (let directory = cwd; ; directory = dirname(directory)) {
      const path = join(directory, marker)
      if (files.exists(path) || files.isLink(path)) return directory
      if (directory === dirname(directory)) break
    }
  }
  return cwd
}
