/** The state of a project: its manifest, recent refusals, open questions, undo. */

import { isSelfTest } from '../agents/hook/self-test.ts'
import { typedText } from '../confine/entitlement.ts'
import { type EgressCode, remedyFor } from '../egress/wire/refusal.ts'
import { coversPath, namesPath } from '../files/path-pattern.ts'
import { protectedPath } from '../files/protected-paths.ts'
import { openedByGrant, secretOf } from '../files/secret-shapes.ts'
import { matchesDenied, matchesHost, parseHostPattern } from '../hosts/pattern.ts'
import type { HostRule, Policy } from '../policy/policy.ts'
import { loadPolicy } from '../project/load/load.ts'
import { ownPlaces } from '../project/place/own-places.ts'
import { findRoot, MANIFEST_NAME } from '../project/place/root.ts'
import { judgeTrust } from '../project/sign/trust.ts'
import { type OpenAsk, openAsks } from '../questions/asks.ts'
import { ProjectUndo } from '../run/undo.ts'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { type AuditLine, openAuditTrail } from './audit-trail.ts'

export interface ProjectStatus {
  readonly root: string
  readonly manifest: ManifestStatus
  /** Of the last day, newest first, without duplicates. */
  readonly refusals: readonly Refused[]
  readonly asks: readonly OpenAsk[]
  readonly undo: { readonly calls: number; readonly last: string | null }
}

export type ManifestStatus =
  | { readonly status: 'none' | 'unsigned' | 'changed' | 'bad' }
  | { readonly status: 'broken'; readonly problems: number }
  | { readonly status: 'signed'; readonly by: 'user' | 'team'; readonly signedAt: string | null }

const DAY_MS = 24 * 3600 * 1000
const MAX_LINES = 2000

/** Reports the project's state without changing anything. */
export async function projectStatusOf(machine: Machine, now: number): Promise<ProjectStatus> {
  const root = machineFiles.canonical(findRoot(machine.cwd, machineFiles))
  const since = new Date(now - DAY_MS).toISOString()
  const hasState = machineFiles.isDirectory(machine.stateDir)
  const lines = hasState ? openAuditTrail(machine).query({ since, limit: MAX_LINES }) : []
  const open = hasState ? new ProjectUndo(machine).restorable() : []
  const { manifest, policy } = await manifestStatusOf(machine, root)
  const facts = {
    root,
    home: machine.home,
    ...ownPlaces({ root, manifestPath: `${root}/${MANIFEST_NAME}` }, machine, machineFiles),
  }
  return {
    root,
    manifest,
    refusals: refusalsOf(lines, {
      root,
      home: machine.home,
      policy,
      isProtected: (path) => protectedPath(path, facts) !== null,
    }),
    asks: hasState ? openAsks(machine, now).filter(({ project }) => project === root) : [],
    undo: { calls: open.length, last: open[0]?.about.what ?? null },
  }
}

async function manifestStatusOf(
  machine: Machine,
  root: string,
): Promise<{ readonly manifest: ManifestStatus; readonly policy: Policy | null }> {
  const without = (manifest: ManifestStatus) => ({ manifest, policy: null })
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

/** A refusal, its count, and the command that would allow it. */
export interface Refused {
  readonly what: string
  readonly count: number
  readonly time: string
  readonly fix: string
}

interface RefusedIn {
  readonly root: string
  readonly home: string
  /** The policy in force, or null. */
  readonly policy: Policy | null
  /** Whether a path is protected. */
  readonly isProtected: (path: string) => boolean
}

/** Recent refusals of the kernel, the proxy or the rules, newest first. */
export function refusalsOf(lines: readonly AuditLine[], place: RefusedIn): Refused[] {
  const { root } = place
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
    if (line.type === 'denied' && !isSelfTest(line)) {
      const subject = typeof line.subject === 'string' ? ` ${line.subject}` : ''
      const { reason, rules } = (line.decision ?? {}) as { reason?: unknown; rules?: unknown }
      const [rule] = Array.isArray(rules) ? rules : []
      const named = typeof rule === 'string' ? ` by ${rule}` : ''
      add(line.time, `${String(line.tool)}${subject}: denied (${String(reason)})${named}`, 'cordon explain says why')
    }
    for (const { kind, subject, code } of violationsOf(line)) {
      const fix = kind === 'host' ? hostFix(subject, code, place.policy) : fixOf(kind, subject, place)
      if (fix !== null) add(line.time, `${kind} ${subject}`, fix)
    }
  }
  return [...found.values()].reverse()
}

interface Stopped {
  readonly kind: string
  readonly subject: string
  readonly code: string | null
}

function violationsOf({ violations }: AuditLine): readonly Stopped[] {
  if (!Array.isArray(violations)) return []
  return violations.flatMap((item: unknown) => {
    const { kind, subject, code } = (item ?? {}) as { kind?: unknown; subject?: unknown; code?: unknown }
    const why = typeof code === 'string' ? code : null
    return typeof kind === 'string' && typeof subject === 'string' ? [{ kind, subject, code: why }] : []
  })
}

/** What would let a host through; null if it is already allowed. */
function hostFix(subject: string, code: string | null, policy: Policy | null): string | null {
  const parsed = parseHostPattern(subject, null)
  if (!('pattern' in parsed)) return 'the sandbox does not allow it'
  const { host, port } = parsed.pattern
  const ports = port === null ? [443, 80] : [port]
  const isDenied = ({ pattern }: HostRule): boolean => ports.every((one) => matchesDenied(pattern, host, one))
  if (policy?.http.denied.some(isDenied) || policy?.commands.deniedDomains.some(isDenied)) return 'a rule denies it'
  const isGranted = ({ pattern }: HostRule): boolean => ports.some((one) => matchesHost(pattern, host, one))
  if (policy?.commands.defaultDomains.some(isGranted)) return null
  const remedy = remedyFor((code ?? 'host-unlisted') as EgressCode, { host, port: port ?? 443, kind: 'name' })
  if (remedy === null) return 'the sandbox does not allow it'
  const isAddable = remedy.includes('cordon add host')
  return `if it should: ${isAddable ? `cordon add host ${typedText([subject])}` : remedy}`
}

/** The command that would allow it; null if it is already allowed. */
function fixOf(kind: string, subject: string, { root, home, policy, isProtected }: RefusedIn): string | null {
  if (kind === 'limit') return 'if it should: a higher limit under [limits] in cordon.toml'
  if (kind !== 'file') return 'the sandbox does not allow it'
  const how = isProtected(subject) ? 'write' : 'read'
  if (policy && isOpened(subject, how, policy)) return null
  // A grant would show its content to the agent, so it is not offered.
  if (secretOf(subject, { home })) return 'secrets stay hidden; to use one unseen: cordon secrets --help'
  const path = subject.startsWith(`${root}/`) ? subject.slice(root.length + 1) : subject
  return how === 'write'
    ? 'programs run it outside the sandbox: change it yourself'
    : `if it should: cordon add read ${typedText([path])}`
}

function isOpened(path: string, how: 'read' | 'write', policy: Policy): boolean {
  if (how === 'write') return policy.writes.allow.some(({ pattern }) => namesPath(pattern, path))
  const grants = policy.reads.allow.map(({ pattern }) => pattern)
  return secretOf(path, policy) ? openedByGrant(path, grants, policy) : grants.some((grant) => coversPath(grant, path))
}
