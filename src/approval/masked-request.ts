/** A question as it may be shown: secrets masked character by character, so that what is underlined stays where it was (A2). */

import { coverSecrets } from '../scan/redact/cover.ts'
import type { ApprovalRequest } from './prompter.ts'

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
    suggestions: request.suggestions.map((suggestion) => ({
      ...suggestion,
      value: coverSecrets(suggestion.value),
      admits: coverSecrets(suggestion.admits),
    })),
  }
}
