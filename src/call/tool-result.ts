/** What becomes of a tool call: exactly one of done, denied, refused, failed. */

import type { Refusal } from '../approval/approve.ts'
import type { Decision } from '../policy/decision.ts'
import type { ToolOutput } from '../tools/tool.ts'

export type CallResult<Output> =
  | {
      readonly status: 'done'
      readonly output: Output
      readonly decision: Decision
      /** What was stopped or put right on the way, a sentence each. */
      readonly notes: readonly string[]
    }
  | { readonly status: 'denied'; readonly decision: Decision }
  | { readonly status: 'refused'; readonly decision: Decision; readonly refusal: Refusal }
  | { readonly status: 'failed'; readonly decision: Decision | null; readonly error: ToolFailure }

/** What becomes of a call of a tool. */
export type ToolResult = CallResult<ToolOutput>

export interface ToolFailure {
  readonly code: string
  readonly message: string
  readonly remedy: string | null
  /** What was thrown, for a surface that reports faults its own way. */
  readonly cause?: unknown
}

/** A result as a model reads it: what was refused, why, and what would be allowed instead. */
export function resultText(result: ToolResult): string {
  switch (result.status) {
    case 'done':
      return [withoutOurs(result.output.text), ...result.notes.map((note) => `[cordon] ${note}`)].join('\n')
    case 'denied':
      return sentences('Denied:', result.decision.reason.message, result.decision.reason.remedy)
    case 'refused':
      return sentences('Not run:', result.refusal.message, `It was asked because: ${result.decision.reason.message}`)
    case 'failed':
      return sentences('Failed:', result.error.message, result.error.remedy)
  }
}

/** Output cannot pass for a word of Cordon's. */
function withoutOurs(text: string): string {
  return text.replace(/^([^\S\n]*)\[cordon\]/gim, '$1\\[cordon]')
}

function sentences(lead: string, ...parts: readonly (string | null | undefined)[]): string {
  const said = parts.filter((part) => part).map((part) => (/[.!?…:\]}]$/.test(part!) ? part : `${part}.`))
  return [lead, ...said].join(' ')
}
