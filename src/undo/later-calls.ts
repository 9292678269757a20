/** What calls that began while another one was still at it have changed as well: to put that one back would take theirs away. */

import { type CallStore, isStanding, type KeptCall } from './call-store.ts'

/** The paths that later calls changed and no one restored. Those that began after its end are told by the time of the file. */
export function changedByLater(store: CallStore, call: KeptCall): ReadonlySet<string> {
  const { ended } = store.journalOf(call.id)
  const end = ended === null ? Number.POSITIVE_INFINITY : Number(ended.seconds) * 1000 + ended.nanoseconds / 1e6
  const paths = new Set<string>()
  for (const later of store.list()) {
    if (later.id <= call.id || !isStanding(later) || Date.parse(later.about.at) > end) continue
    for (const { op, path, other } of store.journalOf(later.id).records)
      if (op !== 'refused' && op !== 'noted') paths.add(path).add(other)
  }
  return paths
}
