/** What changes while a session lives: mode, agent, levels, roots, envelope, taint, saved grants. */

import type { SavedGrant } from '../approval/saved-grants.ts'
import { parsePathPattern } from '../files/path-pattern.ts'
import { parseHostPattern } from '../hosts/pattern.ts'
import type { SessionFacts } from '../policy/call.ts'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import type { CommandRule, HostRule, Mode, PathRule, Sourced } from '../policy/policy.ts'
import type { Verdict } from '../policy/verdict.ts'

/** The live part of a session; the manifest's part never changes under it. */
export class SessionState {
  mode: Mode | null = null
  agent: string | null
  tainted = false
  readonly #levels = new Map<string, Sourced<Verdict>>()
  readonly #roots: string[] = []
  readonly #envelope: PathRule[] = []
  readonly #place: { readonly root: string; readonly home: string }
  readonly #own: SessionFacts['own']

  constructor(agent: string | null, place: { readonly root: string; readonly home: string }, own: SessionFacts['own']) {
    this.agent = agent
    this.#place = place
    this.#own = own
  }

  /** `/perm TOOL LEVEL`. */
  setLevel(tool: string, level: Verdict): void {
    this.#levels.set(tool, { value: level, rule: `/perm ${tool}`, source: 'session' })
  }

  addRoot(directory: string): void {
    if (!this.#roots.includes(directory)) this.#roots.push(directory)
  }

  /** F3: the envelope grows and never shrinks. */
  widenEnvelope(globs: readonly string[], source: string): void {
    for (const text of globs) {
      const parsed = parsePathPattern(text, { ...this.#place, files: null })
      if ('pattern' in parsed)
        this.#envelope.push({ pattern: parsed.pattern, prompt: false, rule: 'files.change_envelope', source })
    }
  }

  /** The facts a decision is made on, with the saved grants that hold at this moment. */
  facts(saved: readonly SavedGrant[], breakerOpenFor: number | null): SessionFacts {
    return {
      agent: this.agent,
      mode: this.mode,
      levels: this.#levels,
      grants: savedRules(
        saved.filter((grant) => grant.verdict === 'allow'),
        this.#place,
      ),
      roots: [...this.#roots, ...saved.filter((grant) => grant.kind === 'directory').map((grant) => grant.value)],
      envelope: this.#envelope,
      breakerOpenFor,
      tainted: this.tainted,
      own: this.#own,
    }
  }
}

function savedRules(
  saved: readonly SavedGrant[],
  place: { readonly root: string; readonly home: string },
): SessionFacts['grants'] {
  const reads: PathRule[] = []
  const writes: PathRule[] = []
  const commands: CommandRule[] = []
  const hosts: HostRule[] = []
  for (const { id, kind, value } of saved) {
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
    } else if (kind !== 'directory') {
      const parsed = parsePathPattern(value, { ...place, files: null })
      if ('pattern' in parsed)
        (kind === 'read' ? reads : writes).push({ ...origin, pattern: parsed.pattern, prompt: false })
    }
  }
  return { reads, writes, commands, hosts }
}
