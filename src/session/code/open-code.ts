/** The port to programs of the model, which is loaded when the first one runs. */

import type { ToolResult } from '../../call/tool-result.ts'
import { declareTools, type ToolShape } from '../../code/declarations.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import type { Backend } from '../../sandbox/backend.ts'
import type { Machine } from '../../system/machine.ts'
import type { CodePort } from '../../tools/tool.ts'
import { languagesHere } from './languages.ts'
import type { ProgramPort } from './port.ts'

export interface CodeOptions {
  readonly loaded: () => LoadedPolicy
  readonly machine: Machine
  readonly backend: Backend
  /** Where files that programs made are kept for the agent to read. */
  readonly spillDirectory: string
  /** The session's own, and those beside it. */
  readonly tools: () => readonly ToolShape[]
  /** A call of this session, from inside a program of the call that has this name in the record. */
  readonly call: (tool: string, input: unknown, signal: AbortSignal, within: string | null) => Promise<ToolResult>
}

export interface SessionCode {
  /** The port as one call sees it. */
  forCall(within: () => string | null): CodePort
  close(): Promise<void>
}

/** A program does not start programs: their calls would be no one's. */
const NOT_INSIDE: ReadonlySet<string> = new Set(['sandbox_run', 'python_exec', 'code_exec', 'question'])

export function openSessionCode(options: CodeOptions): SessionCode {
  const tools = (): readonly ToolShape[] => options.tools().filter(({ name }) => !NOT_INSIDE.has(name))
  let opened: Promise<ProgramPort> | null = null
  const programs = async (within: () => string | null): Promise<ReturnType<ProgramPort['forCall']>> => {
    opened ??= import('./port.ts').then(({ openPrograms }) => openPrograms({ ...options, tools }))
    return (await opened).forCall(within)
  }
  return {
    forCall: (within) => ({
      languages: () => languagesHere().map(({ name }) => name),
      declarations: () => declareTools(tools()),
      container: async (request) => (await programs(within)).container(request),
      python: async (request) => (await programs(within)).python(request),
      script: async (request) => (await programs(within)).script(request),
    }),
    close: async () => {
      if (opened) await (await opened).close()
      // Sandboxes that were prepared for the next program would stay as long as this process.
      options.backend.release()
    },
  }
}
