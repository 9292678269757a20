/** Adds labels of sessions: what reads them often is loaded without this. */

import { OwnList } from '../system/own-list.ts'
import { openOwnDirectory } from '../system/state.ts'
import { isEntry, KEPT_MS, LABELS, type LabelEntry, type LabelPlace } from './session-labels.ts'

/** Data labels of a project are refreshed at most this often. */
const REFRESH_MS = 3600 * 1000

const MAX_SOURCE = 300

const KEPT = new OwnList<LabelEntry>(LABELS, isEntry)

/** Adds labels to a session, and to its project. */
export function noteLabels(
  { machine, scope, roots }: LabelPlace,
  labels: readonly { readonly label: string; readonly source: string }[],
  now: number = Date.now(),
): void {
  const isKnown = (label: string): boolean =>
    KEPT.read(machine.stateDir).some(
      (entry) =>
        entry.label === label && entry.scope === scope && entry.time > now - REFRESH_MS && covers(entry, roots),
    )
  const news = labels.filter(({ label }) => !isKnown(label))
  if (news.length === 0) return
  KEPT.change(openOwnDirectory(machine.stateDir), (entries) => {
    const added = news.map(({ label, source }) => {
      const first = entries.find((entry) => entry.label === label && entry.scope === scope)
      const all = [...new Set([...(first?.roots ?? []), ...roots])]
      return {
        label,
        source: first?.source ?? source.slice(0, MAX_SOURCE).toWellFormed(),
        scope,
        roots: all,
        time: now,
      }
    })
    const others = entries.filter(
      ({ label, scope: of, time }) =>
        time > now - KEPT_MS && !(of === scope && added.some((one) => one.label === label)),
    )
    return [...others, ...added]
  })
}

function covers(entry: LabelEntry, roots: readonly string[]): boolean {
  return roots.every((root) => entry.roots.includes(root))
}
