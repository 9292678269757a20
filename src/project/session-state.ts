/**
 * State that changes during a session: mode, agent, levels, roots, envelope, saved grants.
 */

import type { SavedGrant } from '../approval/saved-grants.ts'
import { parsePathPattern } from '../files/path-pattern.ts'
import { parseHostPattern } from '../hosts/pattern.ts'
import type { SessionFacts } from '../policy/call.ts'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import { type FlowRule, readFlow } from '../policy/labels.ts'
import { readToolGrant, type ToolGrant } from '../policy/mcp-rules.ts'
import type { Verdict } from '../policy/order.ts'
import type { CommandRule, HostRule, Mode, PathRule, Sourced } from '../policy/policy.ts'
import { Fault, messageOf } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Denials, Envelope } from './load/extend.ts'

interface Place {
  readonly root: string
  readonly home: string
}

/** What a session finds out about files and repositories. */
type Looks = Pick<SessionFacts, 'isShown' | 'hiddenName' | 'repositoryProblem' | 'repository'>

/** The live part of a session; the manifest's part never changes. */
export class SessionState {
  mode: Mode | null = null
  agent: string | null
  readonly #levels = new Map<string, Sourced<Verdict>>()
  readonly #envelope: PathRule[] = []
  #limits = false
  readonly #own: SessionFacts['own']
  readonly worktrees: readonly string[]

  readonly #looks: Looks

  constructor(
    agent: string | null,
    { own, roots, isShown, hiddenName, repositoryProblem, repository }: Pick<SessionFacts, 'own' | 'roots'> & Looks,
  ) {
    this.agent = agent
    this.#own = own
    this.worktrees = roots
    this.#looks = {
      ...(isShown && { isShown }),
      ...(hiddenName && { hiddenName }),
      ...(repositoryProblem && { repositoryProblem }),
      ...(repository && { repository }),
    }
  }

  setLevel(tool: string, level: Verdict): void {
    this.#levels.set(tool, { value: level, rule: `/perm ${tool}`, source: 'session' })
  }

  /** Copies the state of another session. */
  follow(leader: SessionState, mode: Mode): void {
    this.mode = mode
    for (const [tool, level] of leader.#levels) this.#levels.set(tool, level)
    this.#envelope.push(...leader.#envelope)
    this.#limits ||= leader.#limits
  }

  /** F3: the envelope only grows. `limits`: it applies to writes even if the manifest sets none. */
  widenEnvelope(globs: readonly string[], source: string, place: Place, limits = false): void {
    for (const text of globs) {
      const parsed = parsePathPattern(text, { ...place, files: null })
      if ('problem' in parsed) continue
      const { absolute } = parsed.pattern
      if (!this.#envelope.some((rule) => rule.pattern.absolute === absolute))
        this.#envelope.push({ pattern: parsed.pattern, prompt: false, rule: 'files.change_envelope', source })
    }
    if (limits) this.#limits = true
  }

  envelope(): Envelope {
    return { limits: this.#limits, rules: this.#envelope }
  }

  /** The facts for a decision, with the saved grants valid now. */
  facts(saved: readonly SavedGrant[], breakerOpenFor: number | null, place: Place, spilled: PathRule): SessionFacts {
    const allowed = saved.filter((grant) => grant.verdict === 'allow')
    const grants = savedRules(allowed, place)
    return {
      agent: this.agent,
      mode: this.mode,
      levels: this.#levels,
      grants: {
        ...grants,
        reads: [...grants.reads, spilled],
        tools: savedTools(saved, place),
        flows:
          savedRules(
            saved.filter(({ kind }) => kind === 'flow'),
            place,
          ).flows ?? [],
      },
      roots: [...this.worktrees, ...allowed.filter((grant) => grant.kind === 'directory').map((grant) => grant.value)],
      envelope: this.#envelope,
      breakerOpenFor,
      ...this.#looks,
      own: this.#own,
    }
  }
}

/**
 * Denials from saved answers. They bind like deny rules; a directory is closed to reads and writes.
 */
export function savedDenials(saved: readonly SavedGrant[], place: Place): Denials {
  const denied = saved.filter((grant) => grant.verdict === 'deny')
  const rules = savedRules(denied, place)
  const directories = savedRules(
    denied.filter((grant) => grant.kind === 'directory').map((grant) => ({ ...grant, kind: 'read' as const })),
    place,
  ).reads
  return {
    reads: [...rules.reads, ...directories],
    // What may not be read may not be overwritten either.
    writes: [...rules.writes, ...rules.reads, ...directories],
    commands: rules.commands,
    hosts: rules.hosts,
  }
}

/** Rules from saved answers. */
export function savedRules(saved: readonly SavedGrant[], place: Place): SessionFacts['grants'] {
  const reads: PathRule[] = []
  const writes: PathRule[] = []
  const commands: CommandRule[] = []
  const hosts: HostRule[] = []
  const flows: FlowRule[] = []
  for (const { id, kind, value, verdict } of saved) {
    const origin = { rule: `saved grant ${id}`, source: 'cordon grants' }
    if (kind === 'command') {
      const parsed = parseCommandPattern(value)
      if ('pattern' in parsed) {
        commands.push({
          ...origin,
          pattern: parsed.pattern,
          prompt: false,
          paths: [],
          envVars: [],
          domains: [],
          inheritDefaultDomains: true,
        })
      }
    } else if (kind === 'host') {
      const parsed = parseHostPattern(value, null)
      if ('pattern' in parsed) hosts.push({ ...origin, pattern: parsed.pattern })
    } else if (kind === 'flow') {
      const flow = readFlow(value)
      if (flow) flows.push({ ...origin, ...flow, level: verdict })
    } else if (kind === 'read' || kind === 'write') {
      const parsed = parsePathPattern(value, { ...place, files: null })
      if ('pattern' in parsed)
        (kind === 'read' ? reads : writes).push({ ...origin, pattern: parsed.pattern, prompt: false })
    }
  }
  return { reads, writes, commands, hosts, flows }
}

/** Answers about tools of MCP servers. */
export function savedTools(saved: readonly SavedGrant[], place: Place): readonly ToolGrant[] {
  return saved.flatMap(({ id, kind, value, verdict }) => {
    const read = kind === 'tool' ? readToolGrant(value, place) : null
    return read === null ? [] : [{ ...read, level: verdict, rule: `saved grant ${id}`, source: 'cordon grants' }]
  })
}

const MAX_BYTES = 1024 * 1024

/** The brief's globs; a missing brief has none. Throws a Fault for an invalid one. */
export function readBrief(path: string, files: Files): readonly string[] {
  if (files.isMissing(path)) return []
  const wrong = (why: string, cause?: unknown) =>
    new Fault('discovery-brief', `the discovery brief ${path} ${why}`, {
      cause,
      remedy: 'Write {"in_scope_files": ["src/**"]} there, or remove files.discovery_brief from the manifest.',
    })
  let value: unknown
  try {
    value = JSON.parse(files.readText(path, MAX_BYTES))
  } catch (error) {
    throw wrong(`cannot be read: ${messageOf(error)}`, error)
  }
  const globs = typeof value === 'object' && value !== null && 'in_scope_files' in value ? value.in_scope_files : null
  if (!Array.isArray(globs) || !globs.every((glob) => typeof glob === 'string')) {
    throw wrong('has no list of texts "in_scope_files"')
  }
  for (const glob of globs) {
    const parsed = parsePathPattern(glob, { root: '/', home: '/', files: null })
    if ('problem' in parsed) throw wrong(`names ${JSON.stringify(glob)}: ${parsed.problem}`)
  }
  return globs
}
