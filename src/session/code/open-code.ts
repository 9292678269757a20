/** The port for model programs, which loads their code on first use. */

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
  /** Where created files are kept for the agent. */
  readonly spillDirectory: string
  /** The session's tools and those beside it. */
  readonly tools: () => readonly ToolShape[]
  /** A call by a program, with the recorded name of the program's own call. */
  readonly call: (tool: string, input: unknown, signal: AbortSignal, within: string | null) => Promise<ToolResult>
}

export interface SessionCode {
  /** The port for one call. */
  forCall(within: () => string | null): CodePort
  close(): Promise<void>
}

/** Programs cannot start programs. */
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
      // Otherwise spare sandboxes would live as long as this process.
      options.backend.release()
    },
  }
}
