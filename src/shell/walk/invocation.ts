/** A simple command with its words resolved, and the fact that is made of it. */

import type { AssignmentFact, Hazard, RedirectFact, Span, Word } from '../facts.ts'
import { inspect } from '../inspect/inspect.ts'
import { guessMentioned } from './guess.ts'
import type { Draft } from './output.ts'
import type { Walk } from './walk.ts'

/** A simple command with its words resolved. */
export interface Invocation {
  readonly argv: readonly Word[]
  readonly assignments: AssignmentFact[]
  readonly redirects: readonly RedirectFact[]
  readonly hazards: Hazard[]
  readonly span: Span
  /** Functions and builtins of this shell can be meant (`x`), or only programs (`env x`). */
  readonly direct: boolean | 'no-functions'
  /** Directory it runs in, when a wrapper changes it. */
  readonly cwd?: string | null
  /** `other`: the environment was replaced by a wrapper. */
  readonly environment: 'same' | 'other'
  readonly depth?: number
}

/** Adds the fact of a command as far as its words tell it. */
export function add(walk: Walk, call: Invocation, resolves: Draft['resolves']): Draft {
  const frame = walk.frame
  const draft: Draft = {
    argv: call.argv,
    resolves,
    assignments: call.assignments,
    redirects: call.redirects,
    cwd: call.cwd === undefined ? walk.scope.cwd : call.cwd,
    via: frame.via,
    parent: frame.parent,
    unwrapped: 'none',
    hazards: call.hazards,
    paths: [],
    hosts: [],
    effect: 'unknown',
    effectNote: '',
    background: frame.background,
    span: call.span,
  }
  if (call.argv.length > 0) draft.hazards.push(...walk.scope.ambient.values())
  walk.output.add(draft)
  walk.output.input = frame.stdin.kind === 'known' ? frame.stdin.text : null
  return draft
}

/** Asks the tables about the command. */
export function look(walk: Walk, draft: Draft, call: Invocation): void {
  const found = inspect({
    argv: draft.argv,
    cwd: draft.cwd,
    fallback: call.cwd === undefined ? walk.scope.fallback : null,
    home: walk.home,
    roots: walk.start.roots,
    assignments: draft.assignments,
    span: call.span,
    stdin: walk.frame.stdin.kind,
    input: walk.frame.stdin.kind === 'known' ? walk.frame.stdin.text : null,
  })
  draft.hazards.push(...found.hazards)
  draft.paths = found.paths
  draft.hosts = found.hosts
  draft.effect = found.effect
  draft.effectNote = found.effectNote
  draft.kind = found.kind
  guessMentioned(walk, draft)
  if (found.delegates.length > 0) draft.delegates = found.delegates
}
