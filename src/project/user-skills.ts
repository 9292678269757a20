/** The person's own skills, where commands can read and run them: shown as they are, and never changed (T3). */

import { join } from 'node:path'
import { isInside } from '../files/baseline.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { extendPolicy } from './load/extend.ts'
import type { LoadedPolicy } from './load/load.ts'

/** The policy with the folders of the user's skills among the places that may be read; nothing where there are none. */
export function withUserSkills(loaded: LoadedPolicy, { configDir, home }: Machine, files: Files): LoadedPolicy {
  const { policy } = loaded
  const folders = [join(configDir, 'skills'), join(home, '.agents', 'skills')]
    .filter(files.isDirectory)
    .map(files.canonical)
    // A link may lead anywhere; what stands in the project is the project's.
    .filter((path) => !isInside(path, policy.root) && !isInside(policy.root, path))
  if (folders.length === 0) return loaded
  return extendPolicy(loaded, { shown: folders.map((value) => ({ value, rule: 'your skills', source: 'built-in' })) })
}
