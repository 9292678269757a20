/** A question as it may be shown: secrets masked character by character, so that what is underlined stays where it was (A2). */

import { coverSecrets } from '../scan/redact/cover.ts'
import type { ApprovalRequest } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'

/** The request with every secret in it covered; answers still go by the real one. */
export function maskedRequest(request: ApprovalRequest): ApprovalRequest {
  return {
    ...request,
    subject: coverSecrets(request.subject),
    asks: request.asks.map((part) => ({
      ...part,
      text: coverSecrets(part.text),
      reason: { ...part.reason, message: coverSecrets(part.reason.message) },
    })),
    decision: {
      ...request.decision,
      reason: { ...request.decision.reason, message: coverSecrets(request.decision.reason.message) },
    },
    suggestions: request.suggestions.map(coveredGrant),
  }
}

function coveredGrant(grant: Suggestion): Suggestion {
  const { value, admits, also } = grant
  return {
    ...grant,
    value: coverSecrets(value),
    admits: coverSecrets(admits),
    ...(also !== undefined && { also: also.map(coveredGrant) }),
  }
}
