/**
 * Cordon's tools for the AI SDK (`generateText({ tools })`), without a dependency on the package.
 */

import { requireKind, requireOneOf, requireShape } from '../call/given.ts'
import { resultText, type ToolResult } from '../call/tool-result.ts'
import type { Session } from '../session/session.ts'
import type { InputSchema } from '../tools/input-schema.ts'

/** Marks a JSON Schema for the AI SDK. */
const SCHEMA = Symbol.for('vercel.ai.schema')

/** What `jsonSchema()` of the AI SDK returns. */
export interface AiSdkSchema {
  readonly jsonSchema: InputSchema & { readonly additionalProperties: false }
  readonly validate: (value: unknown) => { readonly success: true; readonly value: unknown }
}

export interface AiSdkCallOptions {
  readonly toolCallId?: string
  readonly abortSignal?: AbortSignal
}

export interface AiSdkTool {
  readonly description: string
  /** Version 5 and later. */
  readonly inputSchema: AiSdkSchema
  /** Version 4. */
  readonly parameters: AiSdkSchema
  readonly execute: (input: unknown, options?: AiSdkCallOptions) => Promise<string>
}

export interface AiSdkOptions {
  /** Offer only these tools. */
  readonly only?: readonly string[]
  /** Receives every full result; the model gets its text. */
  readonly onResult?: (tool: string, result: ToolResult) => void
}

/**
 * A session's tools. Every call goes through Cordon; a refused call returns a text that says why.
 */
export function aiSdkTools(session: Session, options: AiSdkOptions = {}): Record<string, AiSdkTool> {
  requireKind('the session of aiSdkTools', session, ['tools', 'call'])
  requireShape('the options of aiSdkTools', options, { only: 'list', onResult: 'function' })
  const tools = session.tools()
  const names = tools.map(({ name }) => name)
  for (const name of options.only ?? []) requireOneOf('a tool in only', name, names)
  const offered = tools.filter(({ name }) => options.only?.includes(name) ?? true)
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

// Cordon validates inputs itself, with errors that teach the model.
function schemaOf(input: InputSchema): AiSdkSchema {
  const schema: AiSdkSchema = {
    jsonSchema: { ...input, additionalProperties: false },
    validate: (value) => ({ success: true, value }),
  }
  return Object.assign(schema, { [SCHEMA]: true })
}
