/** What a typed command names of the source near the project: the manifest shows it to calls that do. */

import { secretOf } from '../../../files/secret-shapes.ts'
import type { Files } from '../../../system/files.ts'
import type { Machine } from '../../../system/machine.ts'
import type { LoadedPolicy } from '../../policy/load.ts'
import { nearbyFact, openRepositoryAt } from '../../policy/project/nearby.ts'
import { outsideWords } from '../hints/outside-words.ts'
import { NO_GRANTS, withOneOff } from './one-off.ts'

/** The policy with it shown for this run. */
export function withNearbyWords(
  loaded: LoadedPolicy,
  command: readonly string[],
  machine: Machine,
  files: Files,
): LoadedPolicy {
  const { home, cwd } = machine
  const { nearby } = nearbyFact(loaded, home, (path) => openRepositoryAt(path, files))
  if (nearby === undefined) return loaded
  const isShown = (path: string): boolean => nearby(path) === null || secretOf(path, { home }) !== null
  const words = outsideWords(command, { cwd: files.canonical(cwd), home, files, isShown })
  return withOneOff(loaded, { ...NO_GRANTS, reads: words.map(({ path }) => path) }, machine)
}
