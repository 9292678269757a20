/** Where a project stands, as a value: its manifest, what was refused last, what waits for an answer, what can be restored. */

import { protectedPath } from '../files/protected-paths.ts'
import type { Policy } from '../policy/policy.ts'
import { loadPolicy } from '../project/load/load.ts'
import { ownPlaces } from '../project/place/own-places.ts'
import { findRoot, MANIFEST_NAME } from '../project/place/root.ts'
import { judgeTrust } from '../project/sign/trust.ts'
import { type OpenAsk, openAsks } from '../questions/asks.ts'
import { ProjectUndo } from '../run/undo.ts'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { openAuditTrail } from './audit-trail.ts'
import { type Refused, refusalsOf } from './refused.ts'

export interface Standing {
  readonly root: string
  readonly manifest: ManifestStanding
  /** Of the last day, the newest first: one of each. */
  readonly refusals: readonly Refused[]
  readonly asks: readonly OpenAsk[]
  readonly undo: { readonly calls: number; readonly last: string | null }
}

export type ManifestStanding =
  | { readonly status: 'none' | 'unsigned' | 'changed' | 'bad' }
  | { readonly status: 'broken'; readonly problems: number }
  | { readonly status: 'signed'; readonly by: 'user' | 'team'; readonly signedAt: string | null }

const DAY_MS = 24 * 3600 * 1000
const MAX_LINES = 2000

/** Checks the project in which the person stands. Only looks: nothing is made, signed or answered. */
export async function standingOf(machine: Machine, now: number): Promise<Standing> {
  const root = machineFiles.canonical(findRoot(machine.cwd, machineFiles))
  const since = new Date(now - DAY_MS).toISOString()
  const hasState = machineFiles.isDirectory(machine.stateDir)
  const lines = hasState ? openAuditTrail(machine).query({ since, limit: MAX_LINES }) : []
  const open = hasState ? new ProjectUndo(machine).standing() : []
  const { manifest, policy } = await manifestStanding(machine, root)
  const facts = {
    root,
    home: machine.home,
    ...ownPlaces({ root, manifestPath: `${root}/${MANIFEST_NAME}` }, machine, machineFiles),
  }
  return {
    root,
    manifest,
    refusals: refusalsOf(lines, { root, policy, isProtected: (path) => protectedPath(path, facts) !== null }),
    asks: hasState ? openAsks(machine, now).filter(({ project }) => project === root) : [],
    undo: { calls: open.length, last: open[0]?.about.what ?? null },
  }
}

async function manifestStanding(
  machine: Machine,
  root: string,
): Promise<{ readonly manifest: ManifestStanding; readonly policy: Policy | null }> {
  const without = (manifest: ManifestStanding) => ({ manifest, policy: null })
  if (!machineFiles.exists(`${root}/${MANIFEST_NAME}`)) return without({ status: 'none' })
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
  if ('problems' in outcome) return without({ status: 'broken', problems: outcome.problems.length })
  const { loaded } = outcome
  const trust = judgeTrust(loaded, machine, machineFiles)?.trust
  if (!trust) return without({ status: 'none' })
  if (trust.status !== 'signed') return without({ status: trust.status })
  return {
    manifest: { status: 'signed', by: trust.by, signedAt: trust.signedAt ?? null },
    policy: loaded.policy,
  }
}
