/** Puts a decision that asks to a person, and turns the answer into a yes, a no, and what to remember. */

import type { Decision } from '../policy/decision.ts'
import type { ShellFacts } from '../shell/facts.ts'
import { messageOf } from '../system/fault.ts'
import type { Answer, ApprovalRequest } from './prompter.ts'
import { type GrantPlaces, type Suggestion, suggestGrants } from './suggestion.ts'

/** A person declined, corrected, or was not there to ask: not a denial of the policy, and not an error. */
export interface Refusal {
  readonly kind: 'declined' | 'corrected' | 'absent'
  readonly message: string
}

/** `by`: where the answer was given, when that was not where it was asked. */
export type Approval = { readonly by?: string } & (
  | { readonly approved: true; readonly remember: Remembered | null }
  | { readonly approved: false; readonly refusal: Refusal; readonly remember: Remembered | null }
)

export interface Remembered {
  /** The tool that asked: a host for commands stands elsewhere than one for the web tools. */
  readonly tool: string
  readonly grant: Suggestion
  readonly verdict: 'allow' | 'deny'
  readonly scope: 'session' | 'time' | 'always'
  readonly seconds: number | null
}

export interface Question {
  readonly tool: string
  readonly subject: string
  readonly decision: Decision
  readonly facts: ShellFacts | null
  readonly places: GrantPlaces
  readonly where?: string
  /** What can be saved, where the decision does not say it. */
  readonly suggestions?: readonly Suggestion[]
}

/** Asks. A prompter that fails, or gives an answer that is none, is a no. */
export async function approve(
  question: Question,
  ask: (request: ApprovalRequest) => Promise<Answer>,
): Promise<Approval> {
  const { tool, subject, decision, facts, places, where } = question
  const request: ApprovalRequest = {
    tool,
    subject,
    ...(where !== undefined && { where }),
    decision,
    asks: decision.segments.filter((part) => part.decision === 'ask'),
    suggestions: question.suggestions ?? suggestGrants(decision, facts, places),
  }
  let answer: Answer
  try {
    answer = await ask(request)
  } catch (error) {
    return no({ kind: 'absent', message: `nobody could be asked (${messageOf(error)})` }, null)
  }
  const approval = approvalOf(tool, answer)
  return answer?.by === undefined ? approval : { ...approval, by: answer.by }
}

function approvalOf(tool: string, answer: Answer): Approval {
  const remembered = (
    grant: Suggestion,
    verdict: Remembered['verdict'],
    scope: Remembered['scope'],
    seconds: number | null,
  ): Remembered => ({
    tool,
    grant,
    verdict,
    scope,
    seconds,
  })
  switch (answer?.kind) {
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
    default:
      return no({ kind: 'absent', message: 'the answer could not be understood' }, null)
  }
}

function no(refusal: Refusal, remember: Remembered | null): Approval {
  return { approved: false, refusal, remember }
}
