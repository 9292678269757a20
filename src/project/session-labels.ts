/**
 * The labels of what sessions have read (A3), kept on disk: data outlives its session in the
 * files of the project, so other sessions of the same folders have its labels too.
 */

import { isInside } from '../files/baseline.ts'
import type { Labels } from '../policy/labels.ts'
import { type ListPlace, readListFile } from '../system/list-file.ts'
import type { Machine } from '../system/machine.ts'
import type { LoadedPolicy } from './load/load.ts'

export interface LabelEntry {
  readonly label: string
  readonly source: string
  readonly scope: string
  readonly roots: readonly string[]
  readonly time: number
}

/** Data is followed for this long after it was last read. */
export const KEPT_MS: number = 7 * 24 * 3600 * 1000
export interface LabelPlace {
  readonly machine: Pick<Machine, 'stateDir'>
  /** The conversation: a session, with its sub-agents, or a host's session. */
  readonly scope: string
  readonly roots: readonly string[]
}

/** Where labels of a session in a project are kept. */
export function labelPlace(
  { policy, standsFor }: Pick<LoadedPolicy, 'policy' | 'standsFor'>,
  machine: LabelPlace['machine'],
  scope: string,
  roots: readonly string[],
): LabelPlace {
  const own = standsFor == null ? [] : [standsFor]
  return {
    machine,
    scope,
    roots: [policy.root, ...own, ...policy.additionalDirectories.map(({ value }) => value), ...roots],
  }
}

/** The labels that apply to a session now. Throws if they cannot be read: then nothing is decided. */
export function readLabels({ machine, scope, roots }: LabelPlace, now: number = Date.now()): Labels {
  const labels = new Map<string, string>()
  for (const entry of readListFile<LabelEntry>(machine.stateDir, LABELS, isEntry))
    if (entry.time > now - KEPT_MS && (entry.scope === scope || meets(entry, roots)) && !labels.has(entry.label))
      labels.set(entry.label, entry.source)
  return labels
}

/** Instructions act in the conversation that read them; data lies in the files of the project. */
function meets(entry: LabelEntry, roots: readonly string[]): boolean {
  return entry.label !== 'instructions' && overlaps(entry, roots)
}

function overlaps(entry: LabelEntry, roots: readonly string[]): boolean {
  return entry.roots.some((one) => roots.some((root) => isInside(one, root) || isInside(root, one)))
}

/** Labels of a call with where they are noted, as another process kept them. */
export function isLabelList(value: unknown): boolean {
  const { labels, scope, roots } = (value ?? {}) as { labels?: unknown; scope?: unknown; roots?: unknown }
  return Array.isArray(labels) && labels.every((one) => isEntry({ ...one, scope, roots, time: 0 }))
}

export function isEntry(value: unknown): boolean {
  const { label, source, scope, roots, time } = (value ?? {}) as Partial<LabelEntry>
  return (
    [label, source, scope].every((text) => typeof text === 'string') &&
    Array.isArray(roots) &&
    roots.every((root) => typeof root === 'string') &&
    typeof time === 'number'
  )
}

export const LABELS: ListPlace = { file: 'labels.json', lock: 'labels.lock', field: 'labels' }
