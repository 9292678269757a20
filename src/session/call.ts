/** A call of a session before it is decided: the tool, its checked input, and the facts that the decision is made on. */

import { checkedPaths, resolveCall } from '../call/decide/resolve-call.ts'
import type { ToolRequest } from '../call/run-tool-call.ts'
import { skillGate } from '../custom/skill-gate.ts'
import type { SessionTool } from '../custom/tools.ts'
import type { ToolCall } from '../policy/call.ts'
import { gatewayCall } from '../policy/mcp-rules.ts'
import { keptPlaces } from '../policy/path-part.ts'
import { isBuiltInTool, toolKind } from '../policy/tool-kind.ts'
import { isForeignCharset, temporaryOf } from '../run/temporary.ts'
import type { ShellFacts } from '../shell/facts.ts'
import { onlyLooks } from '../shell/tables/remote-reads.ts'
import { analyze } from '../shell/walk/analyze.ts'
import { bashSyntaxError } from '../system/bash.ts'
import { Fault } from '../system/fault.ts'
import type { CheckedPath } from '../system/guarded/checked-path.ts'
import type { Machine } from '../system/machine.ts'
import { parseInput } from '../tools/input.ts'
import type { ToolInput } from '../tools/tool.ts'
import type { SessionView } from './view.ts'

export interface ParsedCall {
  readonly tool: SessionTool
  readonly input: ToolInput
  readonly call: ToolCall
  readonly facts: ShellFacts | null
  /** What a person is shown: the exact command, path or URL. */
  readonly subject: string
  /** The directory a command starts in, when the call names one. */
  readonly where: string | null
  /** Paths as they were given to the canonical ones that are decided. */
  readonly checked: ReadonlyMap<string, CheckedPath>
  /** True when it works in the session's own directory rather than the project. */
  readonly moved: boolean
}

const GIT_LOOKS = /^git (?:status|log|diff|show|blame|ls-files|grep|rev-parse|describe)(?: [\w./:=@^~*-]+)*$/

/** Parses a request. Throws what the caller can put right, with how to call the tool. */
export function parseCall(
  { tool: name, input }: ToolRequest,
  tools: ReadonlyMap<string, SessionTool>,
  view: SessionView,
  machine: Machine,
): ParsedCall {
  const tool = tools.get(name)
  if (!tool) {
    throw new Fault('unknown-tool', `there is no tool ${JSON.stringify(name.slice(0, 60))}`, {
      remedy: `The tools are: ${[...tools.keys()].join(', ')}.`,
    })
  }
  const parsed = parseInput(tool, input)
  const actions = tool.actions(parsed)
  const { kind } = toolKind(name)
  // F7: until the first write the project is there to be read, and the sandbox lets such a command change nothing of it.
  const { command } = actions
  const looks = actions.ownOnly === true || (command !== undefined && (onlyLooks(command) || GIT_LOOKS.test(command)))
  const moved = view.entered || (view.directory !== null && (kind === 'write' || (kind === 'command' && !looks)))
  const call = resolveCall(name, actions, {
    cwd: view.base(moved).root,
    home: machine.home,
    roots: keptPlaces(view.base(moved).policy, view.facts()),
    temporary: temporaryOf(view.base(moved)),
    foreignCharset: isForeignCharset(view.base(moved), machine),
    canonical: (path) => view.canonical(path, moved),
    // The view may place a path elsewhere, so that every path is asked about as a whole.
    isLink: () => true,
    analyze,
    syntaxError: bashSyntaxError,
    ownAddresses: machine.ownAddresses,
    ...skillGate(view.base(false).root, machine),
  })
  const analysis = call.shell?.analysis
  const checked = checkedPaths(call)
  const base = view.base(moved)
  const facts = {
    input: parsed,
    hints: tool.serverHints ?? null,
    canonical: (path: string) => view.canonical(path, moved),
  }
  const mcp = tool.serverHints && gatewayCall(name, base.session.mcpRules, facts)
  const named =
    actions.command ?? actions.url ?? actions.writes?.[0] ?? actions.reads?.[0] ?? actions.lists?.[0] ?? null
  return {
    tool,
    input: parsed,
    call: {
      ...call,
      ...(tool.custom && { requireConfirmation: tool.custom.requireConfirmation }),
      ...(mcp && { mcp }),
    },
    facts: analysis && 'facts' in analysis ? analysis.facts : null,
    subject: named ?? (!isBuiltInTool(name) ? `${name} ${JSON.stringify(parsed)}` : name),
    where: actions.command !== undefined && actions.cwd !== undefined ? checked.get(actions.cwd)! : null,
    checked,
    moved,
  }
}
