/** Adds labels of sessions: what reads them often is loaded without this. */

import { join } from 'node:path'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory, writeOwnJson } from '../system/state.ts'
import { entriesOf, KEPT_MS, LABELS_FILE, type LabelEntry, type LabelFile, type LabelPlace } from './session-labels.ts'

/** Data labels of a project are refreshed at most this often. */
const REFRESH_MS = 3600 * 1000

const MAX_SOURCE = 300

/** Adds labels to a session, and to its project. */
export function noteLabels(
  { machine, scope, roots }: LabelPlace,
  labels: readonly { readonly label: string; readonly source: string }[],
  now: number = Date.now(),
): void {
  const isKnown = (label: string): boolean =>
    entriesOf(machine).some(
      (entry) =>
        entry.label === label && entry.scope === scope && entry.time > now - REFRESH_MS && covers(entry, roots),
    )
  const news = labels.filter(({ label }) => !isKnown(label))
  if (news.length === 0) return
  change(machine, (entries) => {
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

function change(
  { stateDir }: Pick<Machine, 'stateDir'>,
  how: (entries: readonly LabelEntry[]) => readonly LabelEntry[],
): void {
  const directory = openOwnDirectory(stateDir)
  withLock(join(directory, 'labels.lock'), () => {
    writeOwnJson(join(directory, LABELS_FILE), { version: 1, labels: how(entriesOf({ stateDir })) } satisfies LabelFile)
  })
}
