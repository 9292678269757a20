/** A tool as Cordon knows it: its name, what it takes, and what a call of it touches. */

/** The part of JSON Schema that tool inputs use. */
export interface InputSchema {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, PropertySchema>>
  readonly required: readonly string[]
}

export interface PropertySchema {
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'
  readonly description: string
  readonly items?: { readonly type: 'string' | 'object' }
  readonly enum?: readonly string[]
}

/** What a call touches, as it was written: paths are still relative, URLs unparsed, the command unread. */
export interface Actions {
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
  readonly lists?: readonly string[]
  readonly url?: string
  readonly method?: string
  readonly resolved?: readonly string[]
  readonly hops?: readonly string[]
  readonly command?: string
  /** The directory a command starts in; a path like any other. */
  readonly cwd?: string
}

export interface ToolSpec {
  readonly name: string
  readonly description: string
  readonly input: InputSchema
  /** What this input touches; throws an `InputError` when the input contradicts itself. */
  readonly actions: (input: ToolInput) => Actions
}

/** An input that fits the tool's schema. */
export type ToolInput = Readonly<Record<string, unknown>>

/** The call's own arguments are wrong; the message says how to call the tool right. */
export class InputError extends Error {
  override readonly name = 'InputError'
}
