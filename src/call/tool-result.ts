/** The result of a tool call: exactly one of done, denied, refused, failed. */

import type { Refusal } from '../approval/approve.ts'
import type { Decision } from '../policy/decision.ts'
import type { ToolOutput } from '../tools/tool.ts'

export type CallResult<Output> =
  | {
      readonly status: 'done'
      readonly output: Output
      readonly decision: Decision
      /** What was blocked or corrected, one sentence each. */
      readonly notes: readonly string[]
    }
  | { readonly status: 'denied'; readonly decision: Decision }
  | { readonly status: 'refused'; readonly decision: Decision; readonly refusal: Refusal }
  | { readonly status: 'failed'; readonly decision: Decision | null; readonly error: ToolFailure }

export type ToolResult = CallResult<ToolOutput>

export interface ToolFailure {
  readonly code: string
  readonly message: string
  readonly remedy: string | null
  /** The thrown value, for surfaces that report faults differently. */
  readonly cause?: unknown
}

/** A result as the model reads it. */
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

/** Output cannot imitate Cordon's own lines. */
function withoutOurs(text: string): string {
  return text.replace(/^([^\S\n]*)\[cordon\]/gim, '$1\\[cordon]')
}

function sentences(lead: string, ...parts: readonly (string | null | undefined)[]): string {
  const said = parts.filter((part) => part).map((part) => (/[.!?…:\]}]$/.test(part!) ? part : `${part}.`))
  return [lead, ...said].join(' ')
}
