/** A question as it may be shown: secrets masked character by character, so that what is underlined stays where it was (A2). */

import { createRedactor } from '../scan/redact/redact.ts'
import type { ApprovalRequest } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'

const redactor = createRedactor()

/** The request with every secret in it covered; answers still go by the real one. */
export function maskedRequest(request: ApprovalRequest): ApprovalRequest {
  return {
    ...request,
    subject: covered(request.subject),
    asks: request.asks.map((part) => ({
      ...part,
      text: covered(part.text),
      reason: { ...part.reason, message: covered(part.reason.message) },
    })),
    decision: {
      ...request.decision,
      reason: { ...request.decision.reason, message: covered(request.decision.reason.message) },
    },
    suggestions: request.suggestions.map(coveredGrant),
  }
}

function coveredGrant(grant: Suggestion): Suggestion {
  const { value, admits, also } = grant
  return {
    ...grant,
    value: covered(value),
    admits: covered(admits),
    ...(also !== undefined && { also: also.map(coveredGrant) }),
  }
}

function covered(text: string): string {
  let shown = text
  for (const { start, end } of redactor.find(text)) {
    shown = `${shown.slice(0, start)}${'•'.repeat(end - start)}${shown.slice(end)}`
  }
  return shown
}
