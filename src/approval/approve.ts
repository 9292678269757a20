/** Puts a decision that asks to a person, and turns the answer into a yes, a no, and what to remember. */

import { isGlob } from '../files/glob.ts'
import type { Decision, PartDecision } from '../policy/decision.ts'
import { type Bound, worstCaseOf } from '../policy/worst-case.ts'
import type { ShellFacts } from '../shell/facts.ts'
import { sha256 } from '../system/addon.ts'
import { messageOf } from '../system/fault.ts'
import { canonicalJson } from '../system/json.ts'
import { parseAnswer } from './parse-answer.ts'
import type { Answer, ApprovalRequest } from './prompter.ts'
import { type GrantPlaces, pathOfPart, type Suggestion, suggestGrants } from './suggestion.ts'

/** A person declined, corrected, or was not there to ask: not a denial of the policy, and not an error. */
export interface Refusal {
  readonly kind: 'declined' | 'corrected' | 'absent'
  readonly message: string
}

/**
 * `by`: where the answer was given, when that was not where it was asked. `reviewed`: a reviewer answered, about a worst case of
 * this bound. `pending`: the agent host asks its person, and reports if the call runs.
 */
export type Approval = { readonly by?: string; readonly reviewed?: Bound; readonly pending?: true } & (
  | { readonly approved: true; readonly remember: SavedAnswer | null }
  | { readonly approved: false; readonly refusal: Refusal; readonly remember: SavedAnswer | null }
)

export interface SavedAnswer {
  /** The tool that asked: a host for commands is saved elsewhere than one for the web tools. */
  readonly tool: string
  readonly grant: Suggestion
  readonly verdict: 'allow' | 'deny'
  readonly scope: 'session' | 'time' | 'always'
  readonly seconds: number | null
}

export interface Question {
  readonly tool: string
  readonly subject: string
  /** The whole input of the call. */
  readonly input: Readonly<Record<string, unknown>>
  readonly decision: Decision
  readonly facts: ShellFacts | null
  readonly places: GrantPlaces
  readonly where?: string
  /** The places that a yes opens, with their current link targets. */
  readonly opens?: readonly string[]
  /** The agent's own reason. */
  readonly said?: string
  /** What can be saved, where the decision does not say it. */
  readonly suggestions?: readonly Suggestion[]
}

/** The request for every surface. A part about a missing file is left out if another asks. */
export function requestOf(question: Question): ApprovalRequest {
  const { tool, subject, input, decision, facts, places, where, opens = [], said } = question
  const asks = decision.segments.filter((part) => part.decision === 'ask')
  const real = asks.filter((part) => namesSomething(part, facts, places))
  const call = callHash(places.root, where ?? null, tool, input)
  // Links may lead elsewhere by the next try.
  const target = (part: PartDecision) => (PATHS.has(part.kind) ? pathOfPart(part, facts, places.resolve) : null)
  const why = asks.map((part) => [part.kind, part.text, part.reason.code, target(part)])
  return {
    tool,
    subject,
    input,
    call,
    once: sha256(JSON.stringify([call, opens, why])),
    ...(said !== undefined && { said }),
    facts,
    ...(where !== undefined && { where }),
    decision,
    worst: worstCaseOf(decision, facts),
    asks: real.length > 0 ? real : asks,
    suggestions: question.suggestions ?? suggestGrants(decision, facts, places, input),
  }
}

const PATHS: ReadonlySet<PartDecision['kind']> = new Set(['read', 'write', 'list'])

/** The hash of a call, whatever the order of its fields. */
export function callHash(root: string, where: string | null, tool: string, input: unknown): string {
  return sha256(canonicalJson([root, where, tool, input]))
}

/** Whether a part is about something that exists: a yes opens only what exists when it is asked. */
function namesSomething(part: PartDecision, facts: ShellFacts | null, { exists, resolve }: GrantPlaces): boolean {
  if (!exists || part.kind !== 'read') return true
  const uses = (facts?.commands ?? []).flatMap(({ paths }) =>
    paths.filter(({ span }) => span.start === part.span?.start && span.end === part.span.end),
  )
  const paths = uses.length > 0 ? uses.map(({ path }) => path && resolve(path)) : [pathOfPart(part, facts, resolve)]
  return paths.some((path) => path === null || isGlob(path) || exists(path))
}

/** Asks. A failing prompter, or an invalid answer, is a no. */
export async function approve(
  question: Question,
  ask: (request: ApprovalRequest) => Promise<Answer>,
): Promise<Approval> {
  let given: unknown
  try {
    given = await ask(requestOf(question))
  } catch (error) {
    return no({ kind: 'absent', message: `no one could be asked (${messageOf(error)})` }, null)
  }
  const answer = parseAnswer(given)
  if (answer === null) return no({ kind: 'absent', message: 'the answer could not be understood' }, null)
  const approval = approvalOf(question.tool, answer)
  return answer.by === undefined ? approval : { ...approval, by: answer.by }
}

/** What an answer to a question of this tool means. */
export function approvalOf(tool: string, answer: Answer): Approval {
  const remembered = (
    grant: Suggestion,
    verdict: SavedAnswer['verdict'],
    scope: SavedAnswer['scope'],
    seconds: number | null,
  ): SavedAnswer => ({
    tool,
    grant,
    verdict,
    scope,
    seconds,
  })
  switch (answer.kind) {
    case 'once':
      return { approved: true, remember: null }
    case 'session':
    case 'always':
      return { approved: true, remember: remembered(answer.grant, 'allow', answer.kind, null) }
    case 'time':
      return { approved: true, remember: remembered(answer.grant, 'allow', 'time', answer.seconds) }
    case 'deny':
      return no({ kind: 'declined', message: 'the user said no' }, null)
    case 'deny-always':
      return no(
        { kind: 'declined', message: 'the user said no, and no to this from now on' },
        remembered(answer.grant, 'deny', 'always', null),
      )
    case 'deny-message':
      return no({ kind: 'corrected', message: answer.message }, null)
  }
}

function no(refusal: Refusal, remember: SavedAnswer | null): Approval {
  return { approved: false, refusal, remember }
}
