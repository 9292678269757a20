/** Where a project stands, as a value: its manifest, what was refused last, what waits for an answer, what can be put back. */

import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { type OpenAsk, openAsks } from '../hook/asks.ts'
import { loadPolicy } from '../policy/load.ts'
import { findRoot, MANIFEST_NAME } from '../policy/project-root.ts'
import { judgeTrust } from '../policy/trust.ts'
import { ProjectUndo } from '../undo.ts'
import { type AuditLine, openAuditTrail } from './audit-trail.ts'

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

/** Something that was stopped, how often, and what would let it through. */
export interface Refused {
  readonly what: string
  readonly count: number
  readonly time: string
  readonly fix: string
}

const DAY_MS = 24 * 3600 * 1000
const MAX_LINES = 2000

/** Looks at the project in which the person stands. Only looks: nothing is made, signed or answered. */
export async function standingOf(machine: Machine, now: number): Promise<Standing> {
  const root = machineFiles.canonical(findRoot(machine.cwd, machineFiles))
  const since = new Date(now - DAY_MS).toISOString()
  const hasState = machineFiles.isDirectory(machine.stateDir)
  const lines = hasState ? openAuditTrail(machine).query({ since, limit: MAX_LINES }) : []
  const calls = hasState ? new ProjectUndo(machine).calls() : []
  const open = calls.filter(({ about, undoneBy }) => about.undoes === undefined && undoneBy === null)
  return {
    root,
    manifest: await manifestStanding(machine, root),
    refusals: refusalsOf(lines, root),
    asks: hasState ? openAsks(machine, now).filter(({ project }) => project === root) : [],
    undo: { calls: open.length, last: open[0]?.about.what ?? null },
  }
}

async function manifestStanding(machine: Machine, root: string): Promise<ManifestStanding> {
  if (!machineFiles.exists(`${root}/${MANIFEST_NAME}`)) return { status: 'none' }
  const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
  if ('problems' in outcome) return { status: 'broken', problems: outcome.problems.length }
  const trust = judgeTrust(outcome.loaded, machine, machineFiles)?.trust
  if (!trust) return { status: 'none' }
  if (trust.status !== 'signed') return { status: trust.status }
  return { status: 'signed', by: trust.by, signedAt: trust.signedAt ?? null }
}

/** What the kernel, the proxy or the rules stopped in this project. */
export function refusalsOf(lines: readonly AuditLine[], root: string): Refused[] {
  const own = new Set<unknown>()
  const projects = new Map<string, unknown>()
  const found = new Map<string, Refused>()
  const add = (time: string, what: string, fix: string) => {
    const before = found.get(what)
    found.delete(what)
    found.set(what, { what, fix, time, count: (before?.count ?? 0) + 1 })
  }
  for (const line of lines) {
    if (line.type === 'session') projects.set(line.session, line.project)
    if ((line.project ?? projects.get(line.session)) === root) own.add(line.call ?? line.session)
    if (!own.has(line.call) && projects.get(line.session) !== root) continue
    if (line.type === 'denied') {
      const subject = typeof line.subject === 'string' ? ` ${line.subject}` : ''
      const { reason, rules } = (line.decision ?? {}) as { reason?: unknown; rules?: unknown }
      const [rule] = Array.isArray(rules) ? rules : []
      const named = typeof rule === 'string' ? ` by ${rule}` : ''
      add(line.time, `${String(line.tool)}${subject}: denied (${String(reason)})${named}`, 'cordon explain says why')
    }
    for (const { kind, subject } of violationsOf(line)) add(line.time, `${kind} ${subject}`, fixOf(kind, subject, root))
  }
  return [...found.values()].reverse()
}

function violationsOf({ violations }: AuditLine): readonly { readonly kind: string; readonly subject: string }[] {
  if (!Array.isArray(violations)) return []
  return violations.flatMap((item: unknown) => {
    const { kind, subject } = (item ?? {}) as { kind?: unknown; subject?: unknown }
    return typeof kind === 'string' && typeof subject === 'string' ? [{ kind, subject }] : []
  })
}

/** What a person would do about it, if it was meant to work. */
function fixOf(kind: string, subject: string, root: string): string {
  if (kind === 'host') return `if it should: domains = [${JSON.stringify(subject)}] for the command in ${MANIFEST_NAME}`
  if (kind === 'limit') return `if it should: a higher limit under [limits] in ${MANIFEST_NAME}`
  if (kind !== 'file') return 'the sandbox does not allow it'
  const path = subject.startsWith(`${root}/`) ? subject.slice(root.length + 1) : subject
  return `if it should: ${JSON.stringify(path)} under [capabilities.allow.read] in ${MANIFEST_NAME}`
}
