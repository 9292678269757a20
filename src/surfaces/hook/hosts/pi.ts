/** pi: no hooks but extensions; ours asks `cordon hook pi`, and pi takes what it throws for a block. */

import type { Host } from './host.ts'
import { pluginHost } from './plugin-host.ts'
import { edits, globs, lists, reads, searches, shell, type ToolTable, writes } from './tool-table.ts'

const TOOLS: ToolTable = {
  bash: shell(),
  read: reads('path', 'file_path'),
  write: writes('path', 'file_path'),
  edit: edits('path', 'file_path'),
  grep: searches('path'),
  find: globs('path'),
  ls: lists('path'),
}

export const pi: Host = pluginHost('pi', TOOLS, 'glob', {
  memory: ['AGENTS.md', 'CLAUDE.md', '.pi/SYSTEM.md', '.pi/APPEND_SYSTEM.md'],
  imports: false,
  runsInline: false,
})
