/** The protocol of our plugins: a call in, allow or deny out, with a rewritten command if any. */

import type { Expansion } from '../../../agents/hook/unseen.ts'
import { expectEvent, type Host, type OwnRules, object, optionalText, ProtocolError, text } from './host.ts'
import { trims } from './path-readings.ts'
import { callsOf, narrowedSearch, originOf, ranCommand, type ToolTable } from './tool-table.ts'

const SEARCHES: ReadonlySet<string> = new Set(['grep'])

/** A host whose hook is our plugin. Its shell is `bash`, and its `grep` has one glob in `filter`. */
export function pluginHost<Name extends string>(
  name: Name,
  TOOLS: ToolTable,
  filter: string,
  expands: Expansion,
  install: Host['install'],
  ownRules?: OwnRules,
): Host<Name> {
  return {
    name,
    tools: TOOLS,
    paths: [trims],
    expands,
    install,
    ...(ownRules && { ownRules }),
    parse(input) {
      expectEvent(input, 'tool.execute.before')
      const tool = text(input, 'tool')
      const given = object(input, 'args')
      return {
        tool,
        given,
        // Plugins of earlier builds cannot exclude files.
        ...(input.narrows === true
          ? narrowedSearch(SEARCHES, filter, tool, given, callsOf(TOOLS, tool, given))
          : { calls: callsOf(TOOLS, tool, given) }),
        session: optionalText(input, 'session'),
        cwd: text(input, 'directory'),
        project: text(input, 'directory'),
        command:
          tool === 'bash' ? { text: text(given, 'command'), replaced: (command) => ({ ...given, command }) } : null,
        canRewrite: true,
        canAsk: false,
      }
    },
    answer(_, outcome) {
      switch (outcome.kind) {
        case 'pass':
          return JSON.stringify({ cordon: 1, decision: 'allow' })
        case 'sandboxed':
          return JSON.stringify({ cordon: 1, decision: 'allow', command: outcome.input.command })
        case 'narrowed':
          return JSON.stringify({
            cordon: 1,
            decision: 'allow',
            filter: { field: filter, glob: outcome.input[filter] },
            note: outcome.note,
          })
        case 'deny':
          return JSON.stringify({ cordon: 1, decision: 'deny', reason: outcome.reason })
        case 'ask':
          throw new ProtocolError('a plugin cannot ask')
      }
    },
    prompts: {
      event: 'prompt',
      parse: (input) => ({
        project: text(input, 'directory'),
        cwd: text(input, 'directory'),
        said: text(input, 'prompt'),
      }),
      pass: JSON.stringify({ cordon: 1, decision: 'allow' }),
      refuse: (reason) => JSON.stringify({ cordon: 1, decision: 'deny', reason }),
      withheld: {
        isAsked: (input) => input.commands === true,
        answer: (withheld) => JSON.stringify({ cordon: 1, decision: 'allow', held: withheld }),
      },
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
}
