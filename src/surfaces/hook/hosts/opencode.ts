/** opencode: no hooks but plugins; ours asks `cordon hook opencode` and throws to block. The form is our own. */

import type { Host } from './host.ts'
import { pluginHost } from './plugin-host.ts'
import {
  asksServer,
  delegates,
  edits,
  expanding,
  fetches,
  globs,
  lists,
  loadsSkill,
  nothing,
  patches,
  reads,
  searches,
  searchesWeb,
  shell,
  type ToolTable,
  writes,
} from './tool-table.ts'

const TOOLS: ToolTable = {
  bash: shell('workdir'),
  read: reads('filePath', 'path'),
  write: writes('filePath', 'path'),
  edit: edits('filePath', 'path'),
  multiedit: edits('filePath', 'path'),
  patch: patches('patchText', 'patch'),
  apply_patch: patches('patchText', 'patch'),
  glob: globs('path'),
  grep: searches('path'),
  list: lists('path'),
  lsp: asksServer('filePath', 'path'),
  webfetch: fetches,
  websearch: searchesWeb,
  task: expanding(delegates, 'prompt', 'command'),
  skill: loadsSkill,
  todowrite: nothing,
  todoread: nothing,
  question: nothing,
  plan_enter: nothing,
  plan_exit: nothing,
  // A call that the model got wrong. There is no row for `batch`: what it runs may not come here again one by one.
  invalid: nothing,
}

export const opencode: Host = pluginHost('opencode', TOOLS, 'include', {
  memory: ['AGENTS.md', 'CLAUDE.md', 'CONTEXT.md'],
  imports: false,
  runsInline: true,
})
