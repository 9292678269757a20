/**
 * Judges calls of a host's agent for hooks. Each call is a process, so the policy is opened, asked once, and dropped.
 */

import { join, posix } from 'node:path'
import type { CallHistory } from '../../call/admission.ts'
import { bareCall, resolveCall, type Surroundings } from '../../call/decide/resolve-call.ts'
import { openSkillGate } from '../../custom/open-skill-gate.ts'
import { secretOfGlob } from '../../files/aimed-globs.ts'
import { isGlob } from '../../files/glob.ts'
import { splitPath, wholeTree } from '../../files/path-pattern.ts'
import { secretOf } from '../../files/secret-shapes.ts'
import type { SessionFacts, ToolCall } from '../../policy/call.ts'
import { type Decision, denial, type PartDecision } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate/evaluate.ts'
import { NO_LABELS } from '../../policy/labels.ts'
import { type McpRules, mcpCallOf } from '../../policy/mcp-rules.ts'
import { compareVerdicts } from '../../policy/order.ts'
import { keptPlaces } from '../../policy/path-part.ts'
import type { CommandDenial, PathDenial, PathRule, RuleRef } from '../../policy/policy.ts'
import type { ReasonCode } from '../../policy/reason.ts'
import { settle } from '../../policy/settle.ts'
import { type AnsweredPolicy, withAnswers } from '../../project/answers.ts'
import { extendPolicy } from '../../project/load/extend.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { openPolicy, whyClosed } from '../../project/open.ts'
import { type LabelPlace, labelPlace, readLabels } from '../../project/session-labels.ts'
import { startNotes } from '../../project/start-notes.ts'
import { isForeignCharset, temporaryOf } from '../../run/temporary.ts'
import { UndoCover } from '../../run/undo-cover.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import { type Files, hasMoreNames } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { bashSyntaxError } from '../../system/processes.ts'
import { builtInSpec } from '../../tools/built-in/registry.ts'
import { parseInput } from '../../tools/input-schema.ts'
import { type Actions, InputError, type ToolLabel, toolLabels } from '../../tools/tool.ts'
import { type HostHistory, hostHistory } from './history.ts'
import { filesNotToRead } from './search.ts'
import type { HookSessionKey } from './session.ts'

/** One action of a host's tool, in Cordon's terms. */
export type HookCall =
  | { readonly kind: 'tool'; readonly tool: string; readonly input: Readonly<Record<string, unknown>> }
  | ForeignCall
  | HostSearch

/** A tool that Cordon does not know: its level decides, and rules restrict its actions. */
export interface ForeignCall {
  readonly kind: 'foreign'
  readonly tool: string
  /** The actions that its input names; absent: none. */
  readonly actions?: Actions
  /** Neither the host's own nor a server's tool, as far as Cordon knows. */
  readonly isUnknown?: boolean
  readonly given?: Readonly<Record<string, unknown>>
  /** `mcp__SERVER__TOOL`, if the host uses another name. */
  readonly named?: string
}

/** A host's own search, which reads every file below. */
export interface HostSearch {
  readonly kind: 'search'
  readonly path: string
  /** A file must match one of these globs; absent: every file. */
  readonly only?: readonly string[]
  readonly narrows?: boolean
}

/** Denials of a host's own settings. */
export interface OwnDenials {
  readonly reads: readonly PathDenial[]
  readonly writes: readonly PathDenial[]
  readonly commands: readonly CommandDenial[]
}

/** Where a hook was called. */
export interface HookPlace {
  readonly machine: Machine
  readonly files: Files
  /** The project, as the person set it up or started the host in. */
  readonly root: string
  /** True if `root` is the project; otherwise the project is searched upwards. */
  readonly exact: boolean
  readonly cwd: string
  readonly host: string
  readonly session: string | null
  /** Whether to load the shell analysis for commands. */
  readonly shell: boolean
  /**
   * The hook itself runs in a sandbox of Cordon's: the manifest was fixed before, and Cordon's memory is out of reach.
   */
  readonly inside?: boolean
  readonly ownDenials?: OwnDenials | null
  /** The host's folders for this session, which may be read. */
  readonly hostFolders?: readonly string[]
  /** File names, anywhere in the project, that the host's agent may not write. */
  readonly unwritten?: readonly string[]
}

/** A parsed call: what it touches, or why that is unknown. */
export interface ReadCall {
  readonly call: HookCall
  readonly facts: ShellFacts | null
  readonly subject: string
  readonly labels: readonly ToolLabel[]
  readonly touches: ToolCall | { readonly denied: Decision }
}

export interface HookJudgement extends Pick<ReadCall, 'call' | 'facts' | 'subject' | 'labels'> {
  readonly decision: Decision
  readonly excluded?: readonly string[]
}

/** An open judge, or why there is none: then everything is denied. */
export type OpenedJudge = { readonly judge: HookJudge } | { readonly closed: string }

export interface HookJudge {
  readonly loaded: LoadedPolicy
  readonly session: SessionFacts
  readonly labels: LabelPlace
  readonly cover: UndoCover
  /** The agent's earlier calls; null inside a sandbox, which has no memory. */
  readonly history: CallHistory | null
  /** Dangers of the set-up for the person (P5); null if none, or already shown in this session. */
  startNotes(): Promise<string | null>
  read(calls: readonly HookCall[]): readonly ReadCall[]
  /** Loads what only some decisions need. Without it they are stricter. */
  prepare(calls: readonly ReadCall[]): Promise<void>
  /** The strictest judgement of all calls; null if there is nothing to judge. */
  strictest(calls: readonly ReadCall[], breakerOpenFor: number | null): HookJudgement | null
  whyNotAsked(decision: Decision): string | null
  /** True for asks that the host decides without a manifest, because an unattended ask opens nothing (M3). */
  leavesToHost(judgement: HookJudgement): boolean
}

/** Asks that the sandbox also answers: without a yes, their subject is hidden, offline or kept for undo. */
const SANDBOX_ANSWERS: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  'level-ask',
  'not-granted',
  'outside-roots',
  'not-understood',
  'outside-cwd',
  'secret',
  'destructive',
  'host-not-granted',
  'port-not-opened',
])

const LISTS: ReadonlySet<string> = new Set(['glob', 'list'])

/** Asks about the host's own tools that repeat the host's question. */
const HOST_ANSWERS: ReadonlySet<ReasonCode> = new Set<ReasonCode>(['level-ask', 'host-not-granted'])

/** Opens the project's policy. An unsigned manifest denies everything (M3). */
export async function openHookJudge(place: HookPlace): Promise<OpenedJudge> {
  const { machine, files } = place
  const opened = await openPolicy({
    machine: { ...machine, cwd: place.root },
    files,
    root: place.exact ? place.root : null,
    choice: { kind: 'project' },
    unsigned: place.inside ? 'in-force' : 'refused',
  })
  if (!('loaded' in opened)) return { closed: await whyClosed(opened, place.root) }
  // Denials of the host's own settings apply like manifest rules.
  const { reads = [], writes = [], commands = [] } = place.ownDenials ?? {}
  const unwritten = unwrittenRules(opened.loaded.policy.root, place.unwritten ?? [])
  const quiet = !opened.loaded.ownManifest && opened.loaded.policy.mode.source === 'built-in'
  const moded = quiet ? contained(opened.loaded) : opened.loaded
  const narrowed = extendPolicy(moded, { denials: { reads, writes: [...unwritten, ...writes], commands } })
  // An agent section of the host's name applies to it; the plan agent stays the plan agent.
  const { agent: chosen, agents } = narrowed.policy
  const agent = chosen.value !== 'plan' && agents.has(place.host) ? place.host : null
  const answered = await withAnswers(narrowed, { ...place, agent })
  const { loaded } = answered
  const labels = hookLabels(place, answered)
  const history = place.inside ? null : await openHistory(place, loaded, labels)
  if (history?.loose) return { closed: whyLoose(history.loose, place.host) }
  const { grants } = answered.session
  let shown: SessionFacts['isShown']
  let hiddenName: SessionFacts['hiddenName']
  const session = {
    ...answered.session,
    isShown: (path: string, what?: 'secret' | 'configuration') => shown?.(path, what) ?? false,
    hiddenName: (path: string) => hiddenName?.(path) ?? null,
    grants: { ...grants, reads: [...grants.reads, ...(place.hostFolders ?? []).map(hostsOwn)] },
    labels: place.inside ? NO_LABELS : readLabels(labels),
  }
  const shell = place.shell ? await import('../../shell/walk/analyze.ts') : null
  const cwd = files.canonical(place.cwd)
  const cover = new UndoCover(machine.stateDir)
  const around = {
    cwd,
    home: machine.home,
    roots: keptPlaces(loaded.policy, session),
    // Inside `cordon run` the host sets its commands' variables.
    temporary: place.inside ? null : temporaryOf(loaded),
    foreignCharset: isForeignCharset(loaded, machine, place.inside),
    canonical: files.canonical,
    isLink: files.isLink,
    analyze: shell?.analyze ?? null,
    syntaxError: bashSyntaxError,
    ownAddresses: machine.ownAddresses,
    ...(await openSkillGate(loaded.root, machine, files)),
  }
  const judge = ({ touches, ...read }: ReadCall, breakerOpenFor: number | null): HookJudgement[] => {
    const { call } = read
    if ('denied' in touches) return [{ ...read, decision: touches.denied }]
    const facts = { ...session, breakerOpenFor }
    // Inside `cordon run` nothing is kept for a single call.
    const decision = place.inside
      ? evaluate(loaded.policy, facts, touches)
      : cover.evaluate(loaded.policy, facts, touches)
    const own = { ...read, decision }
    const search = call.kind === 'search' ? call : null
    const lists = call.kind === 'tool' && LISTS.has(call.tool) && loaded.policy.filterListings.value
    const path = search ? touches.reads[0]?.path : lists ? touches.lists[0]?.path : undefined
    if (decision.decision === 'deny' || !path || !files.isDirectory(path)) return [own]
    const hidden = filesNotToRead(path, search, loaded.policy, session)
    if (hidden === null) return [own]
    if ('excluded' in hidden) return [{ ...own, excluded: hidden.excluded }]
    return [own, { ...read, facts: null, subject: path, decision: hidden.denied }]
  }
  return {
    judge: {
      loaded,
      session,
      labels,
      cover,
      history,
      startNotes: async () => {
        const notes = startNotes(loaded, machine).join('; ')
        // On error, repeat the note.
        return notes !== '' && history && (await history.isNews(notes).catch(() => true)) ? notes : null
      },
      read: (calls) => calls.map((call) => readCall(call, around, loaded.session.mcpRules)),
      async prepare(calls) {
        // The decision already scanned what a search covers.
        const { policy } = loaded
        const isSecret = (path: string): boolean =>
          secretOf(path, policy) !== null || (isGlob(path) && secretOfGlob(path, policy.home) !== null)
        const isMeant = (call: ReadCall): boolean =>
          call.call.kind === 'search' ||
          pathsOf(call).some(isSecret) ||
          ('reads' in call.touches && call.touches.reads.some(({ path }) => hasMoreNames(path)))
        if (!calls.some(isMeant)) return
        const { hiddenNames, shownSecrets } = await import('../../call/decide/shown-secrets.ts')
        shown = shownSecrets(() => loaded, machine, files)
        hiddenName = hiddenNames(() => loaded, machine, files)
      },
      strictest(calls, breakerOpenFor) {
        let worst: HookJudgement | null = null
        const excluded = new Set<string>()
        const judged = calls.flatMap((call) => judge(call, breakerOpenFor))
        for (const next of judged) {
          for (const glob of next.excluded ?? []) excluded.add(glob)
          if (!worst || compareVerdicts(next.decision.decision, worst.decision.decision) > 0) worst = next
        }
        if (worst?.decision.decision === 'ask') worst = withAllAsks(worst, judged)
        return worst && excluded.size > 0 ? { ...worst, excluded: [...excluded] } : worst
      },
      whyNotAsked(decision) {
        const settled = settle(decision, loaded.policy, true)
        return settled.outcome === 'refuse' ? settled.message : null
      },
      leavesToHost({ call, decision }) {
        const isCommand = call.kind === 'tool' && call.tool === 'bash'
        const answered = isCommand ? SANDBOX_ANSWERS : HOST_ANSWERS
        const asks = decision.segments.filter((part) => part.decision === 'ask')
        return quiet && asks.every((part) => answered.has(part.reason.code) && part.rules.every(isBuiltIn))
      },
    },
  }
}

/** The policy of a hook without a manifest (M3). */
function contained(loaded: LoadedPolicy): LoadedPolicy {
  return { ...loaded, policy: { ...loaded.policy, mode: { ...loaded.policy.mode, value: 'contained' } } }
}

function isBuiltIn({ source }: RuleRef): boolean {
  return source === 'built-in'
}

/** A judgement that asks, with the asks of the same request's other calls: a yes covers all of them. */
function withAllAsks(worst: HookJudgement, judged: readonly HookJudgement[]): HookJudgement {
  const known = new Set(worst.decision.segments.map(nameOfPart))
  const others = judged
    .flatMap(({ decision }) => decision.segments)
    .filter((part) => part.decision === 'ask' && !known.has(nameOfPart(part)))
    // Their spans belong to another call's facts.
    .map(({ span: _span, command: _command, ...part }) => part)
  if (others.length === 0) return worst
  const unique = new Map(others.map((part) => [nameOfPart(part), part]))
  return { ...worst, decision: { ...worst.decision, segments: [...worst.decision.segments, ...unique.values()] } }
}

function nameOfPart({ kind, text, reason }: PartDecision): string {
  return JSON.stringify([kind, text, reason.code])
}

function pathsOf({ touches, facts }: ReadCall): readonly string[] {
  if ('denied' in touches) return []
  const named = touches.reads.flatMap(({ path, written = path }) => [path, written])
  const redirects = [...(facts?.redirects ?? []), ...(facts?.commands.flatMap((command) => command.redirects) ?? [])]
  const words = [
    ...(facts?.commands.flatMap(({ paths }) => paths.flatMap(({ path }) => path ?? [])) ?? []),
    ...redirects.flatMap(({ target, cwd }) => (target?.values ?? []).map((value) => posix.resolve(cwd ?? '/', value))),
  ]
  // Longer names cannot exist as paths.
  const short = words.filter((word) => word.length <= 4096)
  return [...named, ...words, ...short.map((word) => touches.shell!.canonical(word))]
}

/** A session with a command outside the sandbox is blocked: Cordon can no longer restrict it. */
function whyLoose(command: string, host: string): string {
  return `A command of this session ran outside the sandbox although Cordon had put it there, so nothing more may run in it: ${command.slice(0, 200)}. Another hook of ${host} replaced it. The user has to remove that hook (see cordon doctor) and start a new session.`
}

function readCall(call: HookCall, around: Surroundings, rules: ReadonlyMap<string, McpRules>): ReadCall {
  const tool = call.kind === 'search' ? 'grep' : call.tool
  const labels = (call.kind === 'tool' && builtInSpec(tool)?.labels) || toolLabels
  if (call.kind === 'foreign' && !call.actions) {
    const facts = { input: call.given ?? null, hints: null, canonical: around.canonical }
    const mcp = call.given && mcpCallOf(call.named ?? tool, rules, facts)
    return { call, labels, facts: null, subject: tool, touches: bareCall(tool, mcp) }
  }
  try {
    const actions = call.kind === 'search' ? { reads: [call.path] } : actionsOf(call)
    const touches = resolveCall(tool, actions, around)
    const analysis = touches.shell?.analysis
    const facts = analysis && 'facts' in analysis ? analysis.facts : null
    return { call, labels, facts, subject: subjectOf(actions, tool), touches }
  } catch (error) {
    if (!(error instanceof InputError || error instanceof Fault)) throw error
    const denied = denial(tool, { code: 'bad-input', message: `${messageOf(error)}.` })
    return { call, labels, facts: null, subject: tool, touches: { denied } }
  }
}

/** The session's memory of earlier calls; usually empty, and then nothing is loaded. */
async function openHistory(place: HookPlace, loaded: LoadedPolicy, labels: LabelPlace): Promise<HostHistory> {
  const key = sessionKey(place, loaded)
  const known = place.files.exists(key.directory) ? (await import('./session.ts')).hookMemory(key) : null
  return hostHistory(key, known, loaded, place.host, Date.now, labels)
}

function hookLabels({ machine, host, session }: HookPlace, { loaded, session: { roots } }: AnsweredPolicy): LabelPlace {
  return labelPlace(loaded, machine, `${host} ${session ?? ''}`, roots)
}

/** Where a host's session is remembered. */
export function sessionKey(
  { machine, host, session }: Pick<HookPlace, 'machine' | 'host' | 'session'>,
  { root }: LoadedPolicy,
): HookSessionKey {
  return { directory: join(machine.stateDir, 'hook-sessions'), host, session, root }
}

function actionsOf(call: Exclude<HookCall, HostSearch>): Actions {
  if (call.kind === 'foreign') return call.actions ?? {}
  const spec = builtInSpec(call.tool)
  if (!spec) throw new Fault('unknown-tool', `there is no tool "${call.tool}"`)
  return spec.actions(parseInput(spec, call.input))
}

function subjectOf(actions: Actions, tool: string): string {
  return actions.command ?? actions.url ?? actions.writes?.[0] ?? actions.reads?.[0] ?? actions.lists?.[0] ?? tool
}

/** The agent may read what its host keeps for it. */
function hostsOwn(folder: string): PathRule {
  return { pattern: wholeTree(folder), prompt: false, rule: 'the host’s own files of the session', source: 'session' }
}

/** The agent may not write the host's variable files. */
function unwrittenRules(root: string, names: readonly string[]): readonly PathRule[] {
  return names.map((name) => {
    const absolute = `${root}/**/${name}`
    const pattern = { text: name, absolute, segments: splitPath(absolute), files: null }
    return { pattern, prompt: false, rule: 'the host takes its environment from it', source: 'built-in' }
  })
}
