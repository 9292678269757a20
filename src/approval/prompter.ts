/** The port to a person: the question, and every possible answer (P6). */

import type { Decision, PartDecision } from '../policy/decision.ts'
import type { WorstCase } from '../policy/worst-case.ts'
import type { ShellFacts } from '../shell/facts.ts'
import type { Suggestion } from './suggestion.ts'

/** One question to a person. */
export interface ApprovalRequest {
  readonly tool: string
  /** The exact command, path or URL. */
  readonly subject: string
  /** Everything that the tool is called with: a yes is for exactly this. */
  readonly input: Readonly<Record<string, unknown>>
  /** The hash of the whole call: project, directory, tool and input. An answer counts for this call alone. */
  readonly call: string
  /** The hash of the call, why it asks, and what a yes opens: an answer given before the next try is for this alone. */
  readonly once: string
  /** The agent's own reason: words of a stranger. */
  readonly said?: string
  /** The parsed command, where the subject is one. */
  readonly facts: ShellFacts | null
  /** The directory it starts in, when that is not the project root. */
  readonly where?: string
  readonly decision: Decision
  /** The maximum cost of a wrong yes. */
  readonly worst: WorstCase
  readonly asks: readonly PartDecision[]
  /** What could be saved, from the narrowest on; empty when nothing should be. */
  readonly suggestions: readonly Suggestion[]
}

/**
 * `grant` is the grant that the person chose to save, narrowed or broadened from a suggestion; `by`
 * names where they gave it, if not at the prompter.
 */
export type Answer = { readonly by?: string } & (
  | { readonly kind: 'once' }
  | { readonly kind: 'session'; readonly grant: Suggestion }
  | { readonly kind: 'time'; readonly grant: Suggestion; readonly seconds: number }
  | { readonly kind: 'always'; readonly grant: Suggestion }
  | { readonly kind: 'deny' }
  | { readonly kind: 'deny-always'; readonly grant: Suggestion }
  | { readonly kind: 'deny-message'; readonly message: string }
)

export interface Prompter {
  readonly name: string
  /**
   * The person behind the asking call, if several share one prompter: their questions are never
   * merged, and none waits for another's answer.
   */
  asker?(): string
  /** A yes is for the one call: a saved answer could open something to another person. */
  readonly onceOnly?: boolean
  /** Says something about a question, such as that it was answered elsewhere. */
  tell?(text: string): void
  /** Asks; rejects when the signal ends it. Whatever fails is taken as no. */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<Answer>
  /** A question of the agent itself; null when the person gave no answer. */
  question?(text: string, options: readonly string[], signal: AbortSignal): Promise<string | null>
}

/** A prompter that answers by a function: for programs that embed Cordon, and for tests. */
export function programmaticPrompter(
  decide: (request: ApprovalRequest) => Answer | Promise<Answer>,
  name = 'program',
): Prompter {
  return { name, ask: async (request) => decide(request) }
}

/** The kinds of grants. */
export const GRANT_KINDS = ['command', 'read', 'write', 'host', 'directory', 'port', 'tool', 'flow'] as const
export type GrantKind = (typeof GRANT_KINDS)[number]

/** The longest time that an answer applies. */
export const LONGEST_SECONDS: number = 30 * 86_400
