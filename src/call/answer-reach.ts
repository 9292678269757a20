/** The paths and hosts that a yes opens for one call. */

import { posix } from 'node:path'
import type { Question } from '../approval/approve.ts'
import { hostOfPart, pathOfPart } from '../approval/suggestion.ts'
import type { CallReach } from '../confine/confinement.ts'
import type { HostQuestion } from '../egress/route/gate.ts'
import { isInside } from '../files/baseline.ts'
import { isGlob, matchSegment } from '../files/glob.ts'
import { coversPath } from '../files/path-pattern.ts'
import { parseHostPattern } from '../hosts/pattern.ts'
import type { SessionFacts } from '../policy/call.ts'
import { type Decision, type PartDecision, soleDecision } from '../policy/decision.ts'
import { isReadable } from '../policy/evaluate/carried-paths.ts'
import { isInsideRoots } from '../policy/path-part.ts'
import type { HostRule, Policy } from '../policy/policy.ts'
import type { ReasonCode } from '../policy/reason.ts'
import { repositoryAt } from '../project/load/nearby.ts'
import type { ShellFacts } from '../shell/facts.ts'
import type { Files } from '../system/files.ts'

/** A command's decision with the places its words resolve against. */
export interface ReachScene {
  readonly decision: Decision
  readonly facts: ShellFacts | null
  readonly resolve: (given: string) => string
  readonly files: Files
  readonly policy: Policy
  readonly session: SessionFacts
}

/** Resolves words against the project, as hosts and people write them. */
export function resolverIn(root: string, home: string, files: Files): (given: string) => string {
  const atHome = (given: string): string => (/^~(?:\/|$)/.test(given) ? home + given.slice(1) : given)
  return (given) => files.canonical(posix.resolve(root, atHome(given)))
}

/** Canonical paths that a yes opens, as they are when the question is asked. */
export function askedPlaces(scene: ReachScene): readonly string[] {
  const { roots, readOnly, named, reads, writes } = reachIn(scene, () => true)
  return [...new Set([...roots, ...readOnly, ...named, ...reads, ...writes])]
}

/**
 * The reach of a call: what a person approved, and what the manifest opens to calls that name it. A
 * link may have changed since. Its target opens only if the person was asked about that target, or
 * if it is also nearby. `asked` is null without a yes.
 */
export function reachOf(scene: ReachScene, asked: readonly string[] | null): CallReach {
  return reachIn(scene, asked && ((path) => asked.includes(path)))
}

function reachIn(scene: ReachScene, wasAsked: ((path: string) => boolean) | null): CallReach {
  const { decision, facts, resolve, files, policy, session } = scene
  const { root } = policy
  const { nearby } = session
  const byGrant = (part: PartDecision): boolean => part.reason.code === 'named-by-grant'
  const isNear = (path: string): boolean => nearby?.(path) != null
  const near = decision.segments.filter((part) => part.reason.code === 'nearby')
  const parts = decision.segments.filter((part) => byGrant(part) || (wasAsked && part.decision === 'ask'))
  const places = (kinds: readonly PartDecision['kind'][], codes: readonly ReasonCode[]) =>
    parts
      .filter((part) => codes.includes(part.reason.code) && kinds.includes(part.kind))
      .flatMap((part) =>
        filesOf(pathOfPart(part, facts, resolve), files).filter((path) => byGrant(part) || wasAsked?.(path)),
      )
      .filter((path) => files.exists(path))
  const workplace = (part: PartDecision) =>
    part.kind === 'command' ? workingPlace(facts?.commands[part.command!]?.cwd ?? null, resolve, files, root) : []
  const elsewhere = parts.filter((part) => part.reason.code === 'outside-cwd')
  const roots = [
    ...places(['write'], ['outside-roots']),
    ...elsewhere.flatMap(workplace).filter((path) => wasAsked?.(path)),
  ]
  const shown = near.flatMap((part) =>
    part.kind === 'command'
      ? workplace(part)
      : shownPlace(literalPlace(pathOfPart(part, facts, resolve)), part, facts, files),
  )
  const readOnly = [
    ...places(['read', 'list'], ['outside-roots', 'named-by-grant']),
    ...places(['read'], ['secret']).filter((path) => !isInside(path, root)),
    ...shown.filter((path) => isNear(path) && files.exists(path)),
  ]
  const read = places(['read'], ['outside-roots', 'secret', 'named-by-grant'])
  // A secret opens only under the name that was read, not through a link with that name.
  const written = new Set(
    parts.flatMap((part) =>
      filesOf(
        pathOfPart(part, facts, (given) => posix.resolve(root, given)),
        files,
        false,
      ),
    ),
  )
  return {
    roots: [...new Set(roots)],
    readOnly: [...new Set(readOnly)].filter((path) => !roots.includes(path)),
    named: [...new Set(read)].filter((path) => written.has(path) && !files.isDirectory(path)),
    hosts: parts.filter((part) => part.kind === 'host').flatMap((part) => hostRule(part, facts)),
    reads: policy.reads.declared ? insidePlaces('read', scene, wasAsked).filter((path) => files.exists(path)) : [],
    writes: policy.writes.declared || policy.envelope !== null ? insidePlaces('write', scene, wasAsked) : [],
  }
}

/** Reasons that allow a file inside the roots without a grant that shows it. */
const ALLOWED: ReadonlySet<ReasonCode> = new Set(['level-allow', 'contained', 'auto-accepted'])

/**
 * Files inside the roots that this call may touch. If the manifest declares grants, the sandbox
 * shows only those, and other approved files must be opened. A path must still be covered at run
 * time: it may have changed since the decision.
 */
function insidePlaces(
  kind: 'read' | 'write',
  { decision, facts, resolve, files, policy, session }: ReachScene,
  wasAsked: ((path: string) => boolean) | null,
): readonly string[] {
  const granted = [...policy.writes.allow, ...session.grants.writes]
  const isOpen = ({ decision: verdict, reason: { code } }: PartDecision, path: string): boolean => {
    if (verdict === 'ask') return wasAsked?.(path) ?? false
    if (verdict === 'deny') return false
    return ALLOWED.has(code) || (code === 'granted' && granted.some(({ pattern }) => coversPath(pattern, path)))
  }
  const found = decision.segments
    .filter((part) => part.kind === kind)
    .flatMap((part) => {
      const paths = filesOf(pathOfPart(part, facts, resolve), files).filter((path) => isOpen(part, path))
      // sed -i writes a temporary file beside the target and renames it.
      const edits = kind === 'write' && programOf(part, facts) === 'sed'
      return edits ? paths.flatMap((path) => [path, `${posix.dirname(path)}/sed*`]) : paths
    })
  return [...new Set(found)].filter((path) => isInsideRoots(policy, session, path))
}

function programOf({ command }: PartDecision, facts: ShellFacts | null): string {
  const [word] = (command === undefined ? undefined : facts?.commands[command]?.argv) ?? []
  return posix.basename(word?.values?.[0] ?? '')
}

/** The working place of a command outside the project: its repository, or else its directory. */
function workingPlace(
  cwd: string | null,
  resolve: (given: string) => string,
  files: Files,
  root: string,
): readonly string[] {
  if (cwd === null) return []
  const path = resolve(cwd)
  const repository = repositoryAt(path, files)
  const place = repository === null || isInside(root, repository) ? path : repository
  return files.isDirectory(place) ? [place] : []
}

/** A pattern was judged by the folder it searches. */
function literalPlace(path: string | null): string | null {
  const at = path?.search(/[*?[]/) ?? -1
  return path === null || at < 0 ? path : posix.dirname(path.slice(0, at + 1))
}

/** What a command sees of a nearby place: what it names, or else the whole repository. */
function shownPlace(
  path: string | null,
  part: PartDecision,
  facts: ShellFacts | null,
  files: Files,
): readonly string[] {
  if (path === null) return []
  const fact = part.command === undefined ? undefined : facts?.commands[part.command]
  return [fact === undefined || isReadable(fact) ? path : (repositoryAt(path, files) ?? path)]
}

/** Expands a pattern such as `.env*` to the files that exist now. */
function filesOf(path: string | null, files: Files, follows = true): readonly string[] {
  if (path === null) return []
  const [directory, name] = [posix.dirname(path), posix.basename(path)]
  if (!isGlob(name)) return [path]
  if (isGlob(directory)) return []
  const matching = files.list(directory).filter((entry) => matchSegment(name, entry))
  const named = matching.map((entry) => posix.join(directory, entry))
  return follows ? named.map(files.canonical) : named
}

function hostRule(part: PartDecision, facts: ShellFacts | null): HostRule[] {
  const host = hostOfPart(part, facts)
  const parsed = host === null ? null : parseHostPattern(host, null)
  return parsed && 'pattern' in parsed ? [{ pattern: parsed.pattern, rule: 'answered', source: 'session' }] : []
}

/** Describes a running command's request for a host. */
export function hostQuestion({
  command,
  program,
  target,
  about,
}: HostQuestion): Pick<Question, 'tool' | 'subject' | 'input' | 'decision'> {
  const host = target.port === 443 || target.port === 80 ? target.host : `${target.host}:${target.port}`
  if (about) {
    const text = `${about.code} ${about.subject}`
    const decision = soleDecision('ask', { kind: 'tool', text }, { code: about.code, message: about.message })
    return { tool: 'bash', subject: command, input: { command, host }, decision }
  }
  const message = `${program ?? 'A running command'} wants to connect to ${host} (not allowed yet).`
  const decision = soleDecision('ask', { kind: 'host', text: host }, { code: 'host-not-granted', message })
  return { tool: 'bash', subject: command, input: { command, host }, decision }
}
