/** Parses a session's calls and builds the context of a running tool. */

import { checkedPaths, resolveCall } from '../call/decide/resolve-call.ts'
import type { ToolRequest } from '../call/run-tool-call.ts'
import { skillGate } from '../custom/skill-gate.ts'
import type { SessionTool } from '../custom/tools.ts'
import type { ToolCall } from '../policy/call.ts'
import { strictest } from '../policy/decision.ts'
import { evaluate } from '../policy/evaluate/evaluate.ts'
import { gatewayCall } from '../policy/mcp-rules.ts'
import { keptPlaces } from '../policy/path-part.ts'
import { isBuiltInTool, toolKind } from '../policy/tool-kind.ts'
import { gitInternalAt } from '../run/git-internals.ts'
import { isForeignCharset, temporaryOf } from '../run/temporary.ts'
import type { ShellFacts } from '../shell/facts.ts'
import { onlyLooks } from '../shell/tables/kinds.ts'
import { analyze } from '../shell/walk/analyze.ts'
import { Fault } from '../system/fault.ts'
import { type CheckedPath, checkedPath } from '../system/guarded/checked-path.ts'
import type { Machine } from '../system/machine.ts'
import { bashSyntaxError } from '../system/processes.ts'
import { parseInput } from '../tools/input-schema.ts'
import type { ToolContext, ToolInput } from '../tools/tool.ts'
import type { SessionPorts } from './event.ts'
import type { SessionView } from './view.ts'

export interface ParsedCall {
  readonly tool: SessionTool
  readonly input: ToolInput
  readonly call: ToolCall
  readonly facts: ShellFacts | null
  /** The exact command, path or URL that the person sees. */
  readonly subject: string
  /** The directory that the call names for its command. */
  readonly where: string | null
  /** Canonical judged paths by the words that named them. */
  readonly checked: ReadonlyMap<string, CheckedPath>
  /** True if it works in the session's own directory. */
  readonly moved: boolean
}

const GIT_LOOKS = /^git (?:status|log|diff|show|blame|ls-files|grep|rev-parse|describe)(?: [\w./:=@^~*-]+)*$/

/** Parses a request. Throws what the caller can correct, with usage. */
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
  // F7: until the first write the project is visible, and such a command cannot change it.
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
    // The view may map a path elsewhere, so every path is resolved whole.
    isLink: () => true,
    analyze,
    syntaxError: bashSyntaxError,
    ownAddresses: machine.ownAddresses,
    ...skillGate(view.base(false).root, machine),
  })
  const analysis = call.shell?.analysis
  const checked = checkedPaths(call)
  const base = view.base(moved)
  const mcpFacts = {
    input: parsed,
    hints: tool.serverHints ?? null,
    canonical: (path: string) => view.canonical(path, moved),
  }
  const mcp = tool.serverHints && gatewayCall(name, base.session.mcpRules, mcpFacts)
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

/** What differs by call. */
export type CallPorts = Pick<ToolContext, 'files' | 'commands' | 'code' | 'signal'>

/** The context of an allowed call. */
export function toolContext(parsed: ParsedCall, ports: SessionPorts, call: CallPorts): ToolContext {
  const { view, questions, web, store } = ports
  const { root, policy, sandbox } = view.deciding(parsed.moved)
  const seconds = view.ring().limits.seconds ?? Number.POSITIVE_INFINITY
  const { commandTimeout } = sandbox.limits
  return {
    cwd: root,
    roots: [root, ...policy.additionalDirectories.map((directory) => directory.value), ...view.facts().roots],
    checked: (given) => {
      const path = parsed.checked.get(given)
      if (path === undefined) throw new Fault('unchecked-path', `${given} was not part of what was decided`)
      return path
    },
    // INVARIANT: the same evaluation as for the call itself, with the current policy and facts.
    judge: (access, path, coming) => {
      const gitInternal = access === 'write' ? gitInternalAt(path, coming) : null
      const fact = { given: path, path, ...(gitInternal !== null && { gitInternal }) }
      const call: ToolCall = {
        tool: parsed.tool.name,
        reads: access === 'read' ? [fact] : [],
        writes: access === 'write' ? [fact] : [],
        lists: access === 'list' ? [fact] : [],
        hosts: [],
        shell: null,
        requireConfirmation: false,
      }
      const { policy } = view.deciding(parsed.moved)
      const { decision } = strictest(view.everyFacts().map((facts) => evaluate(policy, facts, call)))
      return { path: checkedPath(path), verdict: decision }
    },
    filterListings: policy.filterListings.value,
    limits: {
      readSizeLimit: policy.readSizeLimit,
      maxOutputBytes: sandbox.limits.maxOutputBytes.value,
      timeoutMs: Math.min(commandTimeout.value, seconds) * 1000,
      // A server runs until the session ends, or until a limit that somebody wrote.
      backgroundMs: Math.min(commandTimeout.source === 'built-in' ? seconds : commandTimeout.value, seconds) * 1000,
    },
    ...call,
    web,
    store,
    ask: {
      ask: async (question, options, signal) =>
        questions?.take(JSON.stringify([question, options]), signal, async (prompter, shared) =>
          prompter.question ? prompter.question(question, options, shared) : null,
        ) ?? null,
    },
  }
}
