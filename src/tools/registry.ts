/** Every built-in tool that runs, in one list. */

import { applyPatch } from './apply-patch.ts'
import { bash } from './bash.ts'
import { builtInSpec } from './built-in.ts'
import { chmod } from './chmod.ts'
import { copy } from './copy.ts'
import { deletePath } from './delete.ts'
import { edit } from './edit.ts'
import { extract } from './extract.ts'
import { glob } from './glob.ts'
import { grep } from './grep.ts'
import { http } from './http.ts'
import { list } from './list.ts'
import { mkdir } from './mkdir.ts'
import { move } from './move.ts'
import { question } from './question.ts'
import { read } from './read.ts'
import { stat } from './stat.ts'
import { summary } from './summary.ts'
import { todoRead, todoWrite } from './todo.ts'
import type { Tool, ToolRun } from './tool.ts'
import { webfetch } from './webfetch.ts'
import { write } from './write.ts'

const runs: Readonly<Record<string, ToolRun>> = {
  bash,
  read,
  summary,
  write,
  edit,
  apply_patch: applyPatch,
  extract,
  list,
  stat,
  glob,
  grep,
  delete: deletePath,
  copy,
  move,
  mkdir,
  chmod,
  webfetch,
  http,
  todowrite: todoWrite,
  todoread: todoRead,
  question,
}

/** The built-in tools that can be run. A tool that has a spec and is not here is decided, but not offered. */
export const builtInTools: readonly Tool[] = Object.entries(runs).map(([name, run]) => ({
  ...builtInSpec(name)!,
  run: async (input, context) => {
    context.signal.throwIfAborted()
    return run(input, context)
  },
}))

const byName: ReadonlyMap<string, Tool> = new Map(builtInTools.map((tool) => [tool.name, tool]))

/** The built-in tool of that name, or null. */
export function builtInTool(name: string): Tool | null {
  return byName.get(name) ?? null
}
