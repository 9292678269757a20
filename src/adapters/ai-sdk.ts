/** Cordon's tools in the form that the AI SDK takes (`generateText({ tools })`), without depending on the package. */

import { resultText, type ToolResult } from '../call/tool-result.ts'
import type { Session } from '../session/session.ts'
import type { InputSchema } from '../tools/input-schema.ts'

/** The mark by which the AI SDK knows a JSON Schema that needs no conversion. */
const SCHEMA = Symbol.for('vercel.ai.schema')

/** What `jsonSchema()` of the AI SDK makes. */
export interface AiSdkSchema {
  readonly jsonSchema: InputSchema & { readonly additionalProperties: false }
  readonly validate: (value: unknown) => { readonly success: true; readonly value: unknown }
}

export interface AiSdkCallOptions {
  readonly toolCallId?: string
  readonly abortSignal?: AbortSignal
}

/** A tool as the AI SDK takes it. */
export interface AiSdkTool {
  readonly description: string
  /** Version 5 and later. */
  readonly inputSchema: AiSdkSchema
  /** Version 4. */
  readonly parameters: AiSdkSchema
  readonly execute: (input: unknown, options?: AiSdkCallOptions) => Promise<string>
}

export interface AiSdkOptions {
  /** Only these tools; without it all of the session's. */
  readonly only?: readonly string[]
  /** Hears every result in full; the model gets its text. */
  readonly onResult?: (tool: string, result: ToolResult) => void
}

/** The tools of a session. Every call of one goes the guarded way; what did not run is text that says why. */
export function aiSdkTools(session: Session, options: AiSdkOptions = {}): Record<string, AiSdkTool> {
  const offered = session.tools().filter(({ name }) => options.only?.includes(name) ?? true)
  return Object.fromEntries(
    offered.map(({ name, description, input }): [string, AiSdkTool] => {
      const schema = schemaOf(input)
      return [
        name,
        {
          description,
          inputSchema: schema,
          parameters: schema,
          execute: async (given, call = {}) => {
            const result = await session.call(name, given, call.abortSignal ? { signal: call.abortSignal } : {})
            options.onResult?.(name, result)
            return resultText(result)
          },
        },
      ]
    }),
  )
}

// Cordon checks inputs itself, with errors that teach the model; a second check in front would only hide them.
function schemaOf(input: InputSchema): AiSdkSchema {
  const schema: AiSdkSchema = {
    jsonSchema: { ...input, additionalProperties: false },
    validate: (value) => ({ success: true, value }),
  }
  return Object.assign(schema, { [SCHEMA]: true })
}
