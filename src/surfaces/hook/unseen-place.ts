/** Where a host expands on its own, and its settings for commands in skills. */

import type { UnseenPlace } from '../../agents/hook/unseen.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { Host } from './host/host.ts'

export function unseenPlace(
  { inlineSetting }: Host,
  root: string,
  cwd: string,
  { machine, files }: { readonly machine: Machine; readonly files: Files },
): UnseenPlace {
  const at = files.canonical(cwd)
  return { machine, cwd: at, setting: inlineSetting ? () => inlineSetting({ machine, files }, root, at) : null }
}
