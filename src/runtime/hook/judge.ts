/** Judges what a host's agent is about to do, for hooks: one process a call, so the policy is opened, asked once, and left. */

import { join } from 'node:path'
import type { SessionFacts, ToolCall } from '../../policy/call.ts'
import type { Decision } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate.ts'
import type { PathRule } from '../../policy/policy.ts'
import { settle } from '../../policy/settle.ts'
import { compareVerdicts } from '../../policy/verdict.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import { bashSyntaxError } from '../../system/bash.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { parseInput } from '../../tools/input.ts'
import { builtInSpec } from '../../tools/registry.ts'
import { type Actions, InputError, type ToolLabel, toolLabels } from '../../tools/tool.ts'
import { openSkillGate } from '../custom/open-skill-gate.ts'
import { newSession } from '../decide/check-call.ts'
import { resolveCall } from '../decide/resolve-call.ts'
import type { Force, ForceRequest } from '../policy/in-force.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { recallPolicy } from '../policy/memory.ts'
import { filesNotToRead } from './search.ts'
import type { HookSessionKey } from './session.ts'

/** One thing that a host's tool does, in Cordon's words. */
export type HookCall =
  | { readonly kind: 'tool'; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  /** A tool that Cordon does not know: only its level decides. */
  | { readonly kind: 'foreign'; readonly tool: string }
  /** A search by the host itself, which reads every file below. */
  | { readonly kind: 'search'; readonly path: string }

/** Where a hook was called from. */
export interface HookPlace {
  readonly machine: Machine
  readonly files: Files
  /** The project, as the person set it up or started the host in. */
  readonly root: string
  /** True when `root` is the project itself; else the project is looked for from there upwards. */
  readonly exact: boolean
  /** Where relative paths and commands start. */
  readonly cwd: string
  readonly host: string
  readonly session: string | null
  /** Whether a command can come: the shell analysis is only loaded then. */
  readonly shell: boolean
  /**
   * The hook itself lives in a sandbox of Cordon's: the manifest was put in force before that was made and cannot be changed from
   * inside, and what Cordon remembers is out of reach.
   */
  readonly inside?: boolean
}

export interface HookJudgement {
  readonly decision: Decision
  readonly call: HookCall
  readonly facts: ShellFacts | null
  /** What was asked about, in short: the command, path or URL. */
  readonly subject: string
  readonly labels: readonly ToolLabel[]
}

/** A judge that was opened, or the sentence that says why there is none: then everything is denied. */
export type OpenedJudge = { readonly judge: HookJudge } | { readonly closed: string }

export interface HookJudge {
  readonly loaded: LoadedPolicy
  readonly session: SessionFacts
  /** The strictest judgement of all calls; null when there is nothing to judge. */
  strictest(calls: readonly HookCall[]): HookJudgement | null
  /** Why nobody may be asked although the decision is an ask; null when somebody may. */
  whyNotAsked(decision: Decision): string | null
  /** Remembers how the call was judged, for the session's circuit breaker. */
  note(decision: Decision): Promise<void>
}

/** Opens the project's policy. An unsigned manifest takes no effect, and neither does anything else then (M3). */
export async function openHookJudge(place: HookPlace): Promise<OpenedJudge> {
  const { machine, files } = place
  const there = { ...machine, cwd: place.root }
  const root = place.exact ? place.root : null
  const recalled = place.inside ? null : recallPolicy(there, files, root)
  const opened = recalled
    ? { loaded: recalled }
    : await readPolicy({ machine: there, files, root, inside: place.inside ?? false })
  if ('closed' in opened) return opened
  const answered = await withAnswers(opened.loaded, place)
  const { loaded } = answered
  const memory = await recall(place, loaded)
  const session = { ...answered.session, ...memory?.facts }
  const shell = place.shell ? await import('../../shell/analyze.ts') : null
  const cwd = files.canonical(place.cwd)
  const around = {
    cwd,
    home: machine.home,
    canonical: files.canonical,
    isLink: files.isLink,
    analyze: shell?.analyze ?? null,
    syntaxError: bashSyntaxError,
    ownAddresses: machine.ownAddresses,
    ...(await openSkillGate(loaded.root, machine, files)),
  }
  const judge = (call: HookCall): HookJudgement[] => {
    if (call.kind === 'foreign')
      return [judged(call, evaluate(loaded.policy, session, bare(call.tool)), null, call.tool)]
    const actions = call.kind === 'search' ? { reads: [call.path] } : actionsOf(call)
    const tool = call.kind === 'search' ? 'grep' : call.tool
    const resolved = resolveCall(tool, actions, around)
    const analysis = resolved.shell?.analysis
    const decision = evaluate(loaded.policy, session, resolved)
    const own = judged(
      call,
      decision,
      analysis && 'facts' in analysis ? analysis.facts : null,
      subjectOf(actions, tool),
    )
    const read = resolved.reads[0]
    if (call.kind !== 'search' || decision.decision === 'deny' || !read || !files.isDirectory(read.path)) return [own]
    const hidden = filesNotToRead(read.path, loaded.policy, session)
    return hidden ? [own, judged(call, hidden, null, call.path)] : [own]
  }
  return {
    judge: {
      loaded,
      session,
      strictest(calls) {
        let worst: HookJudgement | null = null
        for (const call of calls) {
          for (const next of guarded(call, judge)) {
            if (!worst || compareVerdicts(next.decision.decision, worst.decision.decision) > 0) worst = next
          }
        }
        return worst
      },
      whyNotAsked(decision) {
        const settled = settle(decision, loaded.policy, true)
        return settled.outcome === 'refuse' ? settled.message : null
      },
      async note({ decision, reason }) {
        // Most sessions have nothing to remember, and then nothing is written or loaded.
        const outcome = decision === 'deny' ? 'bad' : 'good'
        if (place.inside || decision === 'ask' || reason.code === 'breaker' || (outcome === 'good' && !memory)) return
        const { noteCall } = await import('./session.ts')
        noteCall(sessionKey(place, loaded), loaded.session.breaker, outcome, Date.now())
      },
    },
  }
}

/** The long way, which only a changed manifest, a new build or an unsigned project needs. */
async function readPolicy(request: ForceRequest): Promise<Force> {
  const { policyInForce } = await import('../policy/in-force.ts')
  return policyInForce(request)
}

/** What the session remembers of its calls before this one; null when there is nothing. */
async function recall(
  place: HookPlace,
  loaded: LoadedPolicy,
): Promise<{ readonly facts: Pick<SessionFacts, 'breakerOpenFor' | 'tainted'> } | null> {
  const key = sessionKey(place, loaded)
  if (place.inside || !place.files.exists(key.directory)) return null
  const { breakerOpenFor, hookMemory } = await import('./session.ts')
  const memory = hookMemory(key)
  const tainted = memory.tainted && loaded.session.taintAsks.value
  return { facts: { breakerOpenFor: breakerOpenFor(memory, Date.now()), tainted } }
}

/** Where a host's session is remembered. */
export function sessionKey(
  { machine, host, session }: Pick<HookPlace, 'machine' | 'host' | 'session'>,
  { root }: LoadedPolicy,
): HookSessionKey {
  return { directory: join(machine.stateDir, 'hook-sessions'), host, session, root }
}

/** Whatever goes wrong on the way is a denial. */
function guarded(call: HookCall, judge: (call: HookCall) => HookJudgement[]): HookJudgement[] {
  try {
    return judge(call)
  } catch (error) {
    if (!(error instanceof InputError || error instanceof Fault)) throw error
    const reason = { code: 'bad-input', message: `${messageOf(error)}.` } as const
    const name = call.kind === 'search' ? 'grep' : call.tool
    const part = { kind: 'tool', text: name, decision: 'deny', reason, rules: [], step: 1 } as const
    return [judged(call, { decision: 'deny', reason, rules: [], segments: [part] }, null, name)]
  }
}

function judged(call: HookCall, decision: Decision, facts: ShellFacts | null, subject: string): HookJudgement {
  const labels = (call.kind === 'tool' && builtInSpec(call.tool)?.labels) || toolLabels
  return { call, decision, facts, subject, labels }
}

function actionsOf(call: HookCall & { kind: 'tool' }): Actions {
  const spec = builtInSpec(call.tool)
  if (!spec) throw new Fault('unknown-tool', `there is no tool "${call.tool}"`)
  return spec.actions(parseInput(spec, call.input))
}

function subjectOf(actions: Actions, tool: string): string {
  return actions.command ?? actions.url ?? actions.writes?.[0] ?? actions.reads?.[0] ?? actions.lists?.[0] ?? tool
}

/** A call of which nothing but the tool's name is known. */
function bare(tool: string): ToolCall {
  return { tool, reads: [], writes: [], lists: [], hosts: [], shell: null, requireConfirmation: false }
}

/** A session keeps the whole output of commands for reading; a hook has none. The pattern has no path to match. */
const NOTHING_SPILLED: PathRule = {
  pattern: { text: '', absolute: '/dev/null/none', segments: ['dev', 'null', 'none'], files: null },
  prompt: false,
  rule: 'spilled output',
  source: 'built-in',
}

/** The session with the answers that were saved; their file is only opened when there is one. */
async function withAnswers(
  loaded: LoadedPolicy,
  { machine, files, host, session, inside }: HookPlace,
): Promise<{ readonly loaded: LoadedPolicy; readonly session: SessionFacts }> {
  const fresh = newSession(loaded, machine)
  // An agent section of the host's name can only be meant for it; the plan agent stays the plan agent.
  const agent = loaded.policy.agent.value !== 'plan' && loaded.policy.agents.has(host) ? host : null
  if (inside || !files.exists(join(machine.stateDir, 'grants.json'))) return { loaded, session: { ...fresh, agent } }
  const { openSavedGrants } = await import('../policy/saved-grants.ts')
  const { SessionState, savedDenials } = await import('../session/state.ts')
  const { decidingPolicy } = await import('../session/policy.ts')
  const place = { root: loaded.root, home: machine.home }
  const saved = openSavedGrants(machine).forSession(loaded.root, session ?? '')
  const state = new SessionState(agent, fresh.own, fresh.roots)
  return {
    loaded: decidingPolicy(loaded, savedDenials(saved, place), state.envelope()),
    session: state.facts(saved, null, place, NOTHING_SPILLED),
  }
}
