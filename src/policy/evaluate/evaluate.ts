/** The pure heart of Cordon: a policy goes in, a tool call goes in, a decision with its reasons comes out. */

import { posix } from 'node:path'
import { matchesDenied } from '../../hosts/pattern.ts'
import { parseUrl } from '../../hosts/url.ts'
import type { SessionFacts, ToolCall } from '../call.ts'
import { combine, type Decision, type PartDecision, type Reason } from '../decision.ts'
import { judgeMcpCall } from '../mcp-rules.ts'
import { isReader, namedValues } from '../named-values.ts'
import { decidePart } from '../order.ts'
import { pathQuestions } from '../path-part.ts'
import { type Policy, ref } from '../policy.ts'
import type { ReasonCode } from '../reason.ts'
import { type Ruling, type Stance, takeStance } from '../stance.ts'
import { followFlows } from './flows.ts'
import { hostQuestions } from './host-part.ts'
import { decideShell } from './text-part.ts'

/** Decides a call: every part by the order of P0, and the strictest part decides. */
export function evaluate(policy: Policy, session: SessionFacts, call: ToolCall): Decision {
  const stance = takeStance(policy, session, call.tool, call.ownOnly)
  const paths = (access: 'read' | 'write' | 'list') =>
    call[`${access}s`].map((fact) =>
      decidePart(pathQuestions({ policy, session, stance, access, fact, actor: { by: 'tool' } }), stance),
    )
  const parts = [
    ...(call.shell ? decideShell(policy, session, stance, call.shell) : []),
    ...paths('read'),
    ...paths('write'),
    ...paths('list'),
    ...call.hosts.map((fact) => decidePart(hostQuestions(policy, session, stance, fact), stance)),
  ]
  parts.push(...toolPart(call, stance, parts.length === 0), ...namedDenials(policy, session, stance, call))
  const own = call.shell ? keeping(combine(parts), session, call.shell.command) : combine(parts)
  const asked = call.mcp ? judgeMcpCall(own, call.tool, call.mcp, policy, session.grants.tools) : own
  const decision = followFlows(asked, policy, session, call, stance)
  if (call.mcp) return decision
  return decision.decision === 'ask' && session.undo ? { ...decision, kept: true } : decision
}

/**
 * What a written rule denies of the input of a server's tool (F2, F8, N2): no level and no rule of that server answers
 * it. Everything else there is for the rules of the server, which may mean its own files and hosts.
 */
function namedDenials(policy: Policy, session: SessionFacts, stance: Stance, call: ToolCall): PartDecision[] {
  if (!call.mcp?.input) return []
  const { canonical, input, tool } = call.mcp
  const { paths, urls } = namedValues(input)
  const accesses = isReader(tool) ? (['read'] as const) : (['read', 'write'] as const)
  const files = paths.flatMap((given) => {
    const written = posix.resolve(policy.root, given.replace(/^~(?=\/|$)/, policy.home))
    const scene = {
      policy,
      session,
      stance,
      fact: { given, written, path: canonical(written) },
      actor: { by: 'tool' },
    } as const
    return accesses.map((access) => decidePart(pathQuestions({ ...scene, access }), stance))
  })
  return [
    ...files.filter(({ decision, reason: { code } }) => decision === 'deny' && WRITTEN.has(code)),
    ...urls.flatMap((given) => hostDenial(policy, given) ?? []),
  ]
}

const WRITTEN: ReadonlySet<ReasonCode> = new Set(['denied-by-rule', 'protected-path'])

function hostDenial({ http }: Policy, given: string): PartDecision | null {
  const read = parseUrl(given.split(/\s/, 1)[0]!)
  const rule = http.denied.find(
    ({ pattern }) => 'problem' in read || matchesDenied(pattern, read.url.host, read.url.port),
  )
  if (!rule) return null
  const why = 'problem' in read ? `cannot be read with certainty, and hosts are denied: ${read.problem}` : 'is denied'
  const reason: Reason = { code: 'host-denied', message: `${given} ${why}.`, remedy: `The rule is at ${rule.source}.` }
  return { kind: 'host', text: given, decision: 'deny', reason, rules: [ref(rule)], step: 1 }
}

/** P10: what stays in the box runs unasked, as long as it can be restored. */
function keeping(decision: Decision, session: SessionFacts, text: string): Decision {
  const unasked = decision.segments.some(({ reason }) => reason.code === 'contained')
  if (decision.decision !== 'allow' || decision.relies || !unasked) return decision
  if (session.undo) return { ...decision, relies: 'keeping' }
  if (!session.unkept) return decision
  const reason: Reason = {
    code: 'destructive',
    message: 'It was about to change a file that is too large to be kept, so `cordon undo` could not bring it back.',
    remedy: 'Say why it is needed; the user decides. A new file, or a grant for the command, needs no question.',
  }
  const rules = [{ rule: 'undo', source: 'built-in' }]
  return combine([...decision.segments, { kind: 'command', text, decision: 'ask', reason, rules, step: 4 }])
}

/** The tool itself is a part when nothing else of the call is, and when it wants a confirmation (P5). */
function toolPart(call: ToolCall, stance: Stance, bare: boolean): PartDecision[] {
  if (!bare && !call.requireConfirmation) return []
  const confirm = call.requireConfirmation && stance.explicit?.decision !== 'deny'
  return [
    decidePart(
      {
        subject: { kind: 'tool', text: call.tool },
        denial: () => null,
        grant: () => null,
        explicit: () =>
          call.ownOnly
            ? ownWork(call.tool)
            : confirm
              ? {
                  decision: 'ask',
                  reason: {
                    code: 'needs-confirmation',
                    message: `${call.tool} asks for a confirmation before it runs.`,
                  },
                  rules: [{ rule: `require_confirmation of ${call.tool}`, source: 'tool manifest' }],
                }
              : stance.explicit,
        otherwise: () => ({
          decision: stance.builtIn,
          reason: {
            code: stance.builtIn === 'allow' ? 'level-allow' : 'level-ask',
            message: `The built-in level of ${call.tool} is "${stance.builtIn}".`,
          },
          rules: [{ rule: `level of ${call.tool}`, source: 'built-in' }],
        }),
      },
      stance,
    ),
  ]
}

function ownWork(tool: string): Ruling {
  return {
    decision: 'allow',
    reason: { code: 'harmless', message: `This only concerns what ${tool} itself started in this session.` },
    rules: [],
  }
}
