/** Shows what a grant would allow: recorded calls decided again with it. */

import type { SavedGrant } from '../../approval/saved-grants.ts'
import type { AuditLine } from '../../audit/event.ts'
import { typedText } from '../../confine/entitlement.ts'
import { parsePathPattern } from '../../files/path-pattern.ts'
import { parseHostPattern } from '../../hosts/pattern.ts'
import { parseCommandPattern } from '../../policy/command-pattern.ts'
import type { Verdict } from '../../policy/order.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { savedRules } from '../../project/session-state.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { openChecker } from './check-call.ts'

export { typedText }

export interface WhatIf {
  readonly calls: number
  /** Calls without recorded arguments; they cannot be decided. */
  readonly unknown: number
  /** Calls that the grant would allow, newest first, each form once. */
  readonly admits: readonly AdmittedCall[]
  /** The command that adds the grant; null for a directory, which `cordon add` does not write. */
  readonly terminal: string | null
}

export interface AdmittedCall {
  readonly time: string
  readonly tool: string
  readonly subject: string
  /** The verdict without the grant. */
  readonly before: Verdict
  readonly times: number
}

export type WhatIfGrant = Pick<SavedGrant, 'kind' | 'value'>

/** Why a text is not a valid grant of its kind; null if it is. */
export function grantProblem({ kind, value }: WhatIfGrant, place: { root: string; home: string }): string | null {
  if (value.trim() === '') return 'say what would be granted'
  const parsed =
    kind === 'command'
      ? parseCommandPattern(value)
      : kind === 'host'
        ? parseHostPattern(value, null)
        : parsePathPattern(value, { ...place, files: null })
  return 'pattern' in parsed ? null : parsed.problem
}

export async function whatIf(
  grant: WhatIfGrant,
  lines: Iterable<AuditLine>,
  loaded: LoadedPolicy,
  machine: Machine,
  files: Files,
): Promise<WhatIf> {
  const place = { root: loaded.root, home: machine.home }
  const saved: SavedGrant = {
    ...grant,
    id: 'gwhatif',
    project: loaded.root,
    verdict: 'allow',
    scope: 'project',
    session: 'page',
    created: 0,
    expires: null,
    uses: 0,
  }
  const now = await openChecker(loaded, machine, files)
  const granted = await openChecker(loaded, machine, files, undefined, {
    grants: savedRules([saved], place),
    roots: grant.kind === 'directory' ? [files.canonical(grant.value)] : [],
  })
  const found = new Map<string, AdmittedCall>()
  let calls = 0
  let unknown = 0
  for (const line of lines) {
    if ((line.type !== 'begin' && line.type !== 'denied') || line.project !== loaded.root) continue
    if (line.args === undefined || typeof line.tool !== 'string') {
      unknown++
      continue
    }
    calls++
    const call = { tool: line.tool, input: line.args, cwd: loaded.root }
    const before = now.check(call).decision.decision
    if (before === 'allow' || granted.check(call).decision.decision !== 'allow') continue
    const subject = typeof line.subject === 'string' ? line.subject : ''
    const key = JSON.stringify([line.tool, subject])
    const times = (found.get(key)?.times ?? 0) + 1
    found.delete(key)
    found.set(key, { time: line.time, tool: line.tool, subject, before, times })
  }
  const terminal = grant.kind === 'directory' ? null : `cordon add ${typedText([grant.kind, grant.value])}`
  return { calls, unknown, admits: [...found.values()].reverse(), terminal }
}
