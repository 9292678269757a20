/** What was stopped in a project, from its record: each once, with what would let it through, and nothing that is granted by now. */

import { isSelfTest } from '../agents/hook/self-test.ts'
import { typedText } from '../confine/typed-words.ts'
import { coversPath, namesPath } from '../files/path-pattern.ts'
import { openedByGrant, secretOf } from '../files/secret-shapes.ts'
import { matchesHost } from '../hosts/pattern.ts'
import type { Policy } from '../policy/policy.ts'
import type { AuditLine } from './audit-trail.ts'

/** Something that was stopped, how often, and what would let it through. */
export interface Refused {
  readonly what: string
  readonly count: number
  readonly time: string
  readonly fix: string
}

export interface RefusedIn {
  readonly root: string
  /** As it is now; null where none is in force. */
  readonly policy: Policy | null
  /** Whether a path is one that is never changed unless a grant names it. */
  readonly isProtected: (path: string) => boolean
}

/** What the kernel, the proxy or the rules stopped in this project, the newest first. */
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
    for (const { kind, subject } of violationsOf(line)) {
      const fix = fixOf(kind, subject, place)
      if (fix !== null) add(line.time, `${kind} ${subject}`, fix)
    }
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

/** What a person would do about it, if it was meant to work; null where they did. */
function fixOf(kind: string, subject: string, { root, policy, isProtected }: RefusedIn): string | null {
  if (kind === 'limit') return 'if it should: a higher limit under [limits] in cordon.toml'
  if (kind === 'host') {
    const granted = policy?.commands.defaultDomains.some(({ pattern }) =>
      [pattern.port ?? 443, 80].some((port) => matchesHost(pattern, subject, port)),
    )
    return granted ? null : `if it should: cordon add host ${typedText([subject])}`
  }
  if (kind !== 'file') return 'the sandbox does not allow it'
  const how = isProtected(subject) ? 'write' : 'read'
  if (policy && isOpened(subject, how, policy)) return null
  const isOwn = subject.startsWith(`${root}/`)
  if (!isOwn && policy && secretOf(subject, policy)) return 'secrets of this machine stay hidden'
  const path = isOwn ? subject.slice(root.length + 1) : subject
  return `if it should: cordon add ${how} ${typedText([path])}`
}

function isOpened(path: string, how: 'read' | 'write', policy: Policy): boolean {
  if (how === 'write') return policy.writes.allow.some(({ pattern }) => namesPath(pattern, path))
  const grants = policy.reads.allow.map(({ pattern }) => pattern)
  return secretOf(path, policy) ? openedByGrant(path, grants, policy) : grants.some((grant) => coversPath(grant, path))
}
