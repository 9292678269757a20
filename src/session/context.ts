/** What a running tool may reach: the ports of a session as one call sees them. */

import type { ToolCall } from '../policy/call.ts'
import { strictest } from '../policy/decision.ts'
import { evaluate } from '../policy/evaluate/evaluate.ts'
import { gitInternalAt } from '../run/git-internals.ts'
import { Fault } from '../system/fault.ts'
import { checkedPath } from '../system/guarded/checked-path.ts'
import type { ToolContext } from '../tools/tool.ts'
import type { ParsedCall } from './call.ts'
import type { SessionPorts } from './parts.ts'

/** What is different for each call. */
export type CallPorts = Pick<ToolContext, 'files' | 'commands' | 'code' | 'signal'>

/** The context of one call that was allowed. */
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
    // INVARIANT: the same evaluation as the call's own, on the policy and the facts of this moment.
    judge: (access, path) => {
      const gitInternal = access === 'write' ? gitInternalAt(path) : null
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
      // A server is meant to stay: it ends with the session, or by a limit that somebody wrote.
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
