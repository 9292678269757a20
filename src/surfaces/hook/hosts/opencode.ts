/** opencode: no hooks but plugins; ours asks `cordon hook opencode` and throws to block. The form is our own. */

import { trims } from '../path-readings.ts'
import { expectEvent, type Host, object, optionalText, ProtocolError, text } from './host.ts'
import {
  asksServer,
  callsOf,
  delegates,
  edits,
  expanding,
  fetches,
  globs,
  lists,
  loadsSkill,
  nothing,
  originOf,
  patches,
  ranCommand,
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

export const opencode: Host = {
  name: 'opencode',
  paths: [trims],
  expands: { memory: [], runsInline: true },
  parse(input) {
    expectEvent(input, 'tool.execute.before')
    const tool = text(input, 'tool')
    const given = object(input, 'args')
    return {
      tool,
      calls: callsOf(TOOLS, tool, given),
      session: optionalText(input, 'session'),
      cwd: text(input, 'directory'),
      project: text(input, 'directory'),
      command:
        tool === 'bash' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
      canRewrite: true,
      canAsk: false,
      leaveToHost: false,
    }
  },
  answer(_, outcome) {
    switch (outcome.kind) {
      case 'pass':
        return JSON.stringify({ cordon: 1, decision: 'allow' })
      case 'sandboxed':
        return JSON.stringify({ cordon: 1, decision: 'allow', command: outcome.input.command })
      case 'deny':
        return JSON.stringify({ cordon: 1, decision: 'deny', reason: outcome.reason })
      case 'ask':
        throw new ProtocolError('opencode’s plugins cannot ask')
    }
  },
  results: {
    events: ['tool.execute.after'],
    parse: (input) => ({
      tool: text(input, 'tool'),
      session: optionalText(input, 'session'),
      project: text(input, 'directory'),
      value: input.output,
      origin: originOf(TOOLS, text(input, 'tool'), input.args),
      command: text(input, 'tool') === 'bash' ? ranCommand(input.args) : null,
      canReplace: true,
    }),
    answer: (input, { note, value }) => {
      const shown = typeof value === 'string' ? value : input.output
      return JSON.stringify({ cordon: 1, output: note === null ? shown : `${shown}\n\n[cordon] ${note}` })
    },
  },
}
