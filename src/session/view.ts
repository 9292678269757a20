/** The policies of a session, cached while their inputs are unchanged. */

import { posix } from 'node:path'
import type { SavedGrants } from '../approval/saved-grants.ts'
import { type Ring, ringFor } from '../call/admission.ts'
import { skillGate } from '../custom/skill-gate.ts'
import { isInside } from '../files/baseline.ts'
import { wholeTree } from '../files/path-pattern.ts'
import type { SessionFacts } from '../policy/call.ts'
import type { Decision } from '../policy/decision.ts'
import type { Mode, PathRule } from '../policy/policy.ts'
import { takeStance } from '../policy/stance.ts'
import { extendPolicy } from '../project/load/extend.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { nearbyFact, openRepositoryAt } from '../project/load/nearby.ts'
import { type LabelPlace, labelPlace, readLabels } from '../project/session-labels.ts'
import { type SessionState, savedDenials } from '../project/session-state.ts'
import type { Scope } from '../run/port.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { makeDirectories } from '../system/state.ts'

/** The project's policy for all its sessions; an "always" replaces it. */
export interface ProjectPolicy {
  loaded: LoadedPolicy
}

export interface ViewParts {
  readonly id: string
  readonly project: ProjectPolicy
  readonly state: SessionState
  readonly saved: SavedGrants
  readonly machine: Machine
  readonly files: Files
  readonly spillDirectory: string
  /** The session's own directory (F7), or null. */
  readonly directory: string | null
}

const MAX_POLICIES = 16

/** `moved`: the session's own directory replaces the project. */
export class SessionView {
  readonly #parts: ViewParts
  readonly #policies = new Map<string, { readonly base: LoadedPolicy; readonly policy: LoadedPolicy }>()
  /** The agent may read its spilled output. */
  readonly #spilled: PathRule
  #entered = false
  #leader: SessionView | null = null

  constructor(parts: ViewParts) {
    this.#parts = parts
    this.#spilled = {
      pattern: wholeTree(parts.spillDirectory),
      prompt: false,
      rule: 'spilled output',
      source: 'session',
    }
  }

  /** The session's own directory is in force, by its own write or by one of a session that shares it. */
  get entered(): boolean {
    const { directory, files } = this.#parts
    this.#entered ||= directory !== null && files.exists(directory)
    return this.#entered
  }

  get directory(): string | null {
    return this.#parts.directory
  }

  get agent(): string {
    return this.#parts.state.agent ?? this.#parts.project.loaded.policy.agent.value
  }

  get mode(): Mode {
    return takeStance(this.deciding(this.entered).policy, this.facts(), 'bash').mode.value
  }

  /** F7: from now on the session works only in its own directory. */
  enter(): void {
    makeDirectories(this.#parts.directory!)
    this.#entered = true
  }

  /** The agent's ring (P8) and its limits. */
  ring(agent: string = this.agent): Ring {
    return ringFor(this.#parts.project.loaded, agent)
  }

  /** Where its labels are: with its leader's, because an answer of one is read by the other. */
  labelPlace(): LabelPlace {
    const { machine, id, state } = this.#parts
    const { scope } = this.#leader?.labelPlace() ?? { scope: id }
    return labelPlace(this.base(this.entered), machine, scope, state.worktrees)
  }

  /** Notes what it has read. */
  async label(read: NonNullable<Decision['labels']>): Promise<void> {
    const { noteLabels } = await import('../project/label-notes.ts')
    noteLabels(this.labelPlace(), read)
  }

  /** Facts for decisions; the breaker is asked once per call. */
  facts(): SessionFacts {
    const { saved, project, machine, files, state, id } = this.#parts
    const place = { root: this.base(this.entered).root, home: machine.home }
    return {
      ...state.facts(saved.forSession(project.loaded, id), null, place, this.#spilled),
      ...nearbyFact(project.loaded, machine.home, (path) => openRepositoryAt(path, files)),
      labels: readLabels(this.labelPlace()),
    }
  }

  /** A second leader would replace the first and its limits; a circle has no end. */
  canFollow(leader: SessionView): boolean {
    for (let above: SessionView | null = leader; above !== null; above = above.#leader) if (above === this) return false
    return this.#leader === null
  }

  /** From now on decisions here are at least as strict as the leader's. */
  follow(leader: SessionView): void {
    this.#leader = leader
  }

  /** This session's facts, and those under each leader. */
  everyFacts(): readonly SessionFacts[] {
    const own = this.facts()
    return [own, ...(this.#leader?.everyFacts() ?? []).map((facts) => led(own, facts))]
  }

  base(moved: boolean): LoadedPolicy {
    const { directory, project } = this.#parts
    const { loaded } = project
    if (!moved || directory === null) return loaded
    return this.#kept('moved', loaded, () => extendPolicy(loaded, { directory }))
  }

  /** The policy for decisions. */
  deciding(moved: boolean): LoadedPolicy {
    const { saved, project, machine, state, id } = this.#parts
    const base = this.base(moved)
    const denials = saved.forSession(project.loaded, id).filter((grant) => grant.verdict === 'deny')
    const envelope = state.envelope()
    const key = JSON.stringify(['deciding', moved, envelope.rules.length, denials.map((grant) => grant.id)])
    const place = { root: base.root, home: machine.home }
    return this.#kept(key, base, () => extendPolicy(base, { denials: savedDenials(denials, place), envelope }))
  }

  /** What confines commands now. */
  scope(): Scope {
    const { directory, project, machine, files } = this.#parts
    const facts = this.facts()
    // F7: the project is read-only until the session works in its own directory.
    const isPlaceholder = directory !== null && !this.entered
    return {
      loaded: this.deciding(this.entered),
      facts,
      narrowing: [
        { kind: 'answers', facts },
        { kind: 'ring', limits: this.ring().limits },
        ...(isPlaceholder ? [{ kind: 'read-only' as const, places: [project.loaded.root] }] : []),
      ],
      scripts: skillGate(project.loaded.root, machine).unapproved(files.canonical),
    }
  }

  /** The canonical path; a project path becomes one in the session's own directory. */
  canonical(path: string, moved: boolean): string {
    const { files, project } = this.#parts
    const { root } = project.loaded
    const plain = posix.normalize(path)
    return files.canonical(moved && isInside(plain, root) ? this.base(moved).root + plain.slice(root.length) : plain)
  }

  /** The canonical path of a written one. */
  resolve(given: string, moved: boolean): string {
    const { home } = this.#parts.machine
    const path = given === '~' || given.startsWith('~/') ? home + given.slice(1) : given
    return this.canonical(posix.resolve(this.base(moved).root, path), moved)
  }

  #kept(key: string, base: LoadedPolicy, make: () => LoadedPolicy): LoadedPolicy {
    const known = this.#policies.get(key)
    if (known?.base === base) return known.policy
    const policy = make()
    this.#policies.set(key, { base, policy })
    const oldest = this.#policies.keys().next().value
    if (this.#policies.size > MAX_POLICIES && oldest !== undefined) this.#policies.delete(oldest)
    return policy
  }
}

function led(own: SessionFacts, { agent, mode, levels }: SessionFacts): SessionFacts {
  return { ...own, agent, mode, levels }
}
