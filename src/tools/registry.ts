/** Every built-in tool that runs, in one list. */

import { extract } from './archive/extract-tool.ts'
import { bash } from './bash.ts'
import { builtInSpec } from './built-in.ts'
import { chmod } from './files/chmod.ts'
import { copy } from './files/copy.ts'
import { deletePath } from './files/delete.ts'
import { edit } from './files/edit.ts'
import { list } from './files/list.ts'
import { mkdir } from './files/mkdir.ts'
import { move } from './files/move.ts'
import { read } from './files/read.ts'
import { stat } from './files/stat.ts'
import { summary } from './files/summary.ts'
import { write } from './files/write.ts'
import { applyPatch } from './patch/apply-patch.ts'
import { question } from './question.ts'
import { glob } from './search/glob.ts'
import { grep } from './search/grep.ts'
import { todoRead, todoWrite } from './todo.ts'
import type { Tool, ToolRun } from './tool.ts'
import { http } from './web/http.ts'
import { webfetch } from './web/webfetch.ts'

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
