/** Converts VS Code's tool approvals to a draft of a manifest: commands, MCP servers, and everything. */

import { isRecord, recordOf } from '../../system/json.ts'
import { type Draft, DraftWriter } from './draft.ts'
import { commandRule, type Settings } from './rules.ts'

/** A server's tool, as its settings name it. */
const SERVER_TOOL = /^(?:mcp[_.])?([a-z0-9][a-z0-9-]{0,39})[/.]([A-Za-z0-9*][\w.*-]{0,99})$/

export function importVscode(settings: Settings): Draft {
  const out = new DraftWriter()
  out.add({ kind: 'mode', mode: 'default' })
  for (const name of ['chat.tools.global.autoApprove', 'chat.tools.autoApprove'])
    if (settings[name] === true) out.note(`${name} allows everything; it was not taken over: grant what is really used`)
  for (const [rule, level] of Object.entries(recordOf(settings['chat.tools.terminal.autoApprove']))) {
    const approves = isRecord(level) ? level.approve : level
    if (rule.startsWith('/') || typeof approves !== 'boolean') {
      out.note(`chat.tools.terminal.autoApprove ${JSON.stringify(rule)} has no equivalent`)
      // A rule that cannot be expressed must not open what it restricted.
      if (approves === false) out.add({ kind: 'level', tool: 'bash', verdict: 'ask' })
    } else out.add(...commandRule(`${rule} *`, approves ? 'allow' : 'ask', rule))
  }
  for (const [name, level] of Object.entries(recordOf(settings['chat.tools.eligibleForAutoApproval']))) {
    const [, server, tool] = SERVER_TOOL.exec(name) ?? []
    if (server === undefined || tool === undefined || typeof level !== 'boolean')
      out.note(`chat.tools.eligibleForAutoApproval ${JSON.stringify(name)} has no equivalent`)
    // A default approval is nobody's choice; only its opposite is a rule.
    else if (!level) out.add({ kind: 'server', server, tool, verdict: 'ask' })
  }
  for (const [server, entry] of Object.entries(recordOf(settings.servers ?? settings.mcpServers))) {
    const { autoApprove, alwaysAllow } = recordOf(entry)
    for (const tool of [autoApprove, alwaysAllow].flat())
      if (typeof tool === 'string') {
        if (SERVER_TOOL.test(`${server}/${tool}`)) out.add({ kind: 'server', server, tool, verdict: 'allow' })
        else out.note(`${server}: ${tool} is not a name of a server and a tool`)
      }
  }
  return out.draft()
}
