/** Decides a tool call without running it: parse, resolve, evaluate. */

import { openSkillGate } from '../../custom/open-skill-gate.ts'
import type { SessionFacts, ToolCall } from '../../policy/call.ts'
import { type Decision, denial } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate/evaluate.ts'
import type { Labels } from '../../policy/labels.ts'
import { keptPlaces } from '../../policy/path-part.ts'
import type { PathRule, Policy } from '../../policy/policy.ts'
import type { ReasonCode } from '../../policy/reason.ts'
import { NO_ANSWERS, newSession, withAnswers } from '../../project/answers.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { nearbyFact } from '../../project/load/nearby.ts'
import { requireProject } from '../../project/place/root.ts'
import { isForeignCharset, temporaryOf } from '../../run/temporary.ts'
import { UndoCover } from '../../run/undo-cover.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { bashSyntaxError } from '../../system/processes.ts'
import { builtInSpec } from '../../tools/built-in/registry.ts'
import { parseInput } from '../../tools/input-schema.ts'
import { InputError } from '../../tools/tool.ts'
import { resolveCall } from './resolve-call.ts'

export interface CheckRequest {
  readonly tool: string
  readonly input: unknown
  /** Canonical directory that relative paths and commands start in. */
  readonly cwd: string
  /** What the session has read before. */
  readonly labels?: Labels
}

export interface CheckedCall {
  readonly decision: Decision
  /** Shell facts behind the decision, for surfaces that draw them. */
  readonly facts: ShellFacts | null
}

/** Decides calls of a new session. */
export interface CallChecker {
  /** Canonical project root. */
  readonly root: string
  readonly policy: Policy
  /** Decides one call. An error becomes a denial. */
  check(request: CheckRequest): CheckedCall
}

/** Facts to assume instead of reading them from the machine. */
export interface CheckedAs {
  /** Ignore saved answers and where the root lies; for proposals and logs. */
  readonly alone?: boolean
  /** Whether undo covers the roots. */
  readonly undo?: boolean
  /** Additional roots. */
  readonly roots?: readonly string[]
  /** Additional readable files. */
  readonly reads?: readonly PathRule[]
  readonly repositoryOf?: (path: string) => string | null
  /** Secret-shaped files that commands may see. */
  readonly isShown?: (path: string) => boolean
  /** Hidden files by their other names. */
  readonly hiddenName?: NonNullable<SessionFacts['hiddenName']>
  /** Grants to assume. */
  readonly grants?: SessionFacts['grants']
}

/** Opens a checker. The shell analysis is loaded only if a command may come. */
export async function openChecker(
  given: LoadedPolicy,
  machine: Machine,
  files: Files,
  tool?: string,
  {
    alone = false,
    undo,
    roots = [],
    reads = [],
    repositoryOf,
    isShown,
    hiddenName,
    grants = NO_ANSWERS,
  }: CheckedAs = {},
): Promise<CallChecker> {
  const shell = tool === undefined || tool === 'bash' ? await import('../../shell/walk/analyze.ts') : null
  const custom = tool !== undefined && builtInSpec(tool) ? null : await import('./named-tool.ts')
  const now = () => given
  const looks =
    isShown && hiddenName
      ? { isShown, hiddenName }
      : await import('./shown-secrets.ts').then(({ hiddenNames, shownSecrets }) => ({
          isShown: isShown ?? shownSecrets(now, machine, files),
          hiddenName: hiddenName ?? hiddenNames(now, machine, files),
        }))
  const { loaded, session: fresh } = alone
    ? { loaded: given, session: newSession(given, machine) }
    : await withAnswers(given, { machine, files, session: null, agent: null })
  const misplaced = alone ? null : placeProblem(loaded.root, machine)
  const nearby = repositoryOf && nearbyFact(loaded, machine.home, repositoryOf)
  const session = {
    ...fresh,
    ...nearby,
    roots: [...fresh.roots, ...roots],
    ...looks,
    grants: {
      reads: [...fresh.grants.reads, ...grants.reads, ...reads],
      writes: [...fresh.grants.writes, ...grants.writes],
      commands: [...fresh.grants.commands, ...grants.commands],
      hosts: [...fresh.grants.hosts, ...grants.hosts],
      tools: [...(fresh.grants.tools ?? []), ...(grants.tools ?? [])],
    },
  }
  const cover = new UndoCover(machine.stateDir)
  const decide = (call: ToolCall, labels = session.labels): Decision => {
    const facts = { ...session, ...(labels && { labels }) }
    return undo === undefined
      ? cover.evaluate(loaded.policy, facts, call)
      : evaluate(loaded.policy, { ...facts, undo }, call)
  }
  const around = {
    home: machine.home,
    roots: keptPlaces(loaded.policy, session),
    temporary: temporaryOf(loaded),
    foreignCharset: isForeignCharset(loaded, machine),
    canonical: files.canonical,
    isLink: files.isLink,
    analyze: shell?.analyze ?? null,
    syntaxError: bashSyntaxError,
    ownAddresses: machine.ownAddresses,
    ...(await openSkillGate(loaded.root, machine, files)),
  }
  return {
    root: loaded.root,
    policy: loaded.policy,
    check(request) {
      if (misplaced)
        return refused(request.tool, 'not-a-project', `${misplaced.message}.`, misplaced.remedy ?? undefined)
      const spec = builtInSpec(request.tool)
      if (!spec) {
        const found = custom!.lookAtTool(request.tool, request.input, loaded, machine)
        if ('call' in found) {
          const agent = found.agent ?? session.agent
          return { decision: evaluate(loaded.policy, { ...session, agent }, found.call), facts: null }
        }
        return refused(request.tool, 'unknown-tool', found.problem, found.remedy)
      }
      try {
        const actions = spec.actions(parseInput(spec, request.input))
        const call = resolveCall(request.tool, actions, { ...around, cwd: request.cwd })
        const analysis = call.shell?.analysis
        return {
          decision: decide(call, request.labels),
          facts: analysis && 'facts' in analysis ? analysis.facts : null,
        }
      } catch (error) {
        if (error instanceof InputError || error instanceof Fault) {
          return refused(request.tool, 'bad-input', `${messageOf(error)}.`)
        }
        throw error
      }
    },
  }
}

/** The fault of a root that is not a project (F10), since nothing would run there. */
function placeProblem(root: string, machine: Machine): Fault | null {
  try {
    requireProject(root, machine)
    return null
  } catch (error) {
    if (error instanceof Fault) return error
    throw error
  }
}

function refused(tool: string, code: ReasonCode, message: string, remedy?: string): CheckedCall {
  return { decision: denial(tool, { code, message, ...(remedy && { remedy }) }), facts: null }
}
