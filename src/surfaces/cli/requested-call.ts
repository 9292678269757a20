/** The call that `check` and `explain` judge: a command text, or a tool with its input. */

import { type Arguments, commandText, textFlag } from './arguments.ts'
import { UsageError } from './usage.ts'

export interface RequestedCall {
  readonly tool: string
  readonly input: unknown
}

export function requestedCall(args: Arguments): RequestedCall {
  const tool = textFlag(args, 'tool')
  const input = textFlag(args, 'input')
  if (tool === undefined && input === undefined) {
    if (args.words.length === 0) throw new UsageError("give a command after --, such as: -- 'git status'")
    return { tool: 'bash', input: { command: commandText(args.words) } }
  }
  if (tool === undefined) throw new UsageError('--input needs --tool')
  if (args.words.length > 0) throw new UsageError('give either --tool with --input, or a command, not both')
  return { tool, input: input === undefined ? {} : parseJson(input) }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`--input is not JSON: ${error instanceof Error ? error.message : error}`)
  }
}
