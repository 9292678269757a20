/** `cordon learn --from`: a proposal from a recorded history. Nothing is run, so nothing of it is proven. */

import { queryAudit } from '../audit/read.ts'
import { openChecker } from '../call/decide/check-call.ts'
import { type LoadedPolicy, loadPolicy } from '../project/load/load.ts'
import { judgeTrust } from '../project/sign/trust.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { Learned } from './learn.ts'
import { withLines, withoutGrants } from './manifest-text.ts'
import { whyNotGranted } from './needs.ts'
import { propose } from './proposal.ts'
import { type RecordedNeeds, recordedNeeds, recordLines } from './record.ts'

export interface LearnedFromRecord extends Learned, Pick<RecordedNeeds, 'calls' | 'unknown' | 'unused'> {}

export interface RecordParts {
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly files: Files
  readonly manifestText: string | null
}

/** Proposes from lines of audit files, and from this machine's own record where that is asked for. */
export async function proposeFromRecord(
  texts: readonly string[],
  ownRecord: boolean,
  { loaded, machine, files, manifestText }: RecordParts,
): Promise<LearnedFromRecord> {
  const own = ownRecord ? queryAudit(machine.stateDir).map((line) => JSON.stringify(line)) : []
  const lines = recordLines([...texts, ...own], loaded.root)
  const places = { loaded, machine, files, grantee: null }
  const found = recordedNeeds(
    lines,
    await openChecker(loaded, machine, files, undefined, { alone: true }),
    places,
    await signedAt(places),
  )
  const proposal = propose(found, 0, {
    command: [],
    loaded,
    home: machine.home,
    isGrantable: (folder, how) => whyNotGranted(folder, how, loaded, machine) === null,
    registryHosts: () => [],
  })
  const narrowed = manifestText === null ? null : withoutGrants(manifestText, found.unused)
  const { text, left } = withLines(narrowed, proposal.lines, places)
  const kept = proposal.lines.filter((line) => !left.some((one) => one.line === line))
  return {
    lines: kept,
    dropped: [],
    withheld: [...found.withheld, ...left.map(({ line, reason }) => ({ subject: line.value, why: reason }))],
    ports: [],
    warnings: proposal.warnings,
    proof: kept.length === 0 ? 'nothing-needed' : 'recorded',
    exitCode: 0,
    runs: 0,
    text: kept.length === 0 && narrowed === manifestText ? null : text,
    calls: found.calls,
    unknown: found.unknown,
    unused: found.unused,
  }
}

/** When the project's manifest was signed as it is; null where it is not, or no one knows. */
async function signedAt({
  loaded,
  machine,
  files,
}: Pick<RecordParts, 'loaded' | 'machine' | 'files'>): Promise<string | null> {
  const outcome = await loadPolicy({ machine, files, root: loaded.root, choice: { kind: 'project' } })
  const trust = 'loaded' in outcome ? judgeTrust(outcome.loaded, machine, files)?.trust : undefined
  return trust?.status === 'signed' ? trust.signedAt : null
}
