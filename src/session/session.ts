/** A session: one agent in one project. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { LiveHistory } from '../call/admission.ts'
import { hiddenNames, shownSecrets } from '../call/decide/shown-secrets.ts'
import { requireFields, requireKind, requireOneOf, requireText, requireTool, wrong } from '../call/given.ts'
import { runToolCall } from '../call/run-tool-call.ts'
import { resultText, type ToolResult } from '../call/tool-result.ts'
import type { SessionTool } from '../custom/tools.ts'
import { parsePathPattern } from '../files/path-pattern.ts'
import { type Labels, NO_LABELS } from '../policy/labels.ts'
import { readMcpName } from '../policy/mcp-names.ts'
import { VERDICTS, type Verdict } from '../policy/order.ts'
import { MODES, type Mode } from '../policy/policy.ts'
import { settle } from '../policy/settle.ts'
import { takeStance } from '../policy/stance.ts'
import { builtInTools } from '../policy/tool-kind.ts'
import { ownWorktrees, repositoryFacts, repositoryProblems } from '../project/load/repository-settings.ts'
import { ownPlaces } from '../project/place/own-places.ts'
import { readBrief, SessionState } from '../project/session-state.ts'
import { openCommands, type SessionCommands } from '../run/port.ts'
import { UndoCover } from '../run/undo-cover.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import { Fault } from '../system/fault.ts'
import { uniqueName, writeMade } from '../system/made-file.ts'
import { makeDirectories } from '../system/state.ts'
import { requestTool } from '../tools/built-in/agent-tools.ts'
import type { Tool, ToolFacts, ToolOutput } from '../tools/tool.ts'
import type { SessionCode } from './code/open-code.ts'
import {
  type PermissionRow,
  type SandboxView,
  type SessionEvent,
  SessionListeners,
  type SessionParts,
  type SessionPorts,
} from './event.ts'
import { SessionQuestions } from './questions.ts'
import { CallStages } from './stages.ts'
import { SessionView } from './view.ts'

const MAX_CHARACTERS = 60_000

/** The text of a result; a long one is cut and spilled to a file. */
function cappedText(result: ToolResult, spillDirectory: string): string {
  const text = resultText(result)
  if (text.length <= MAX_CHARACTERS) return text
  const half = MAX_CHARACTERS / 2
  const left = text.length - MAX_CHARACTERS
  let where = ''
  try {
    makeDirectories(spillDirectory)
    const file = join(spillDirectory, `result-${uniqueName()}.txt`)
    writeMade(file, text, { flag: 'wx' })
    where = `; all of it is in ${file}`
  } catch {
    // The model still learns what is missing.
  }
  const start = text.slice(0, half).toWellFormed()
  return `${start}\n[cordon] ${left} characters are left out here${where}\n${text.slice(-half).toWellFormed()}`
}

export type { PermissionRow, SandboxView, SessionEvent } from './event.ts'
export type { ProjectPolicy } from './view.ts'

export interface SessionSettings {
  readonly id: string
  readonly agent?: string
  /** Its own directory (F7); null: it works in the project root. */
  readonly directory: string | null
}

export interface CallOptions {
  readonly signal?: AbortSignal
  /** The recorded name of the call whose program makes this one. */
  readonly within?: string | null
}

/** A live session, isolated from others. */
export class Session {
  readonly id: string
  readonly #parts: SessionParts
  readonly #state: SessionState
  readonly #view: SessionView
  readonly #commands: SessionCommands
  readonly #code: SessionCode
  readonly #tools: Map<string, SessionTool>
  readonly #ports: SessionPorts
  readonly #listeners = new SessionListeners((message) => this.#noteFailure(message))
  readonly #ended = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  #closing: Promise<void> | null = null

  constructor(parts: SessionParts, settings: SessionSettings) {
    const { project, machine, files, saved, spillDirectory, recorder } = parts
    const { loaded } = project
    const { id, agent = null, directory } = settings
    this.id = id
    this.#parts = parts
    this.#state = new SessionState(agent, {
      own: ownPlaces(loaded, machine, files),
      roots: ownWorktrees(loaded, machine.home, files),
      isShown: shownSecrets(() => project.loaded, machine, files),
      hiddenName: hiddenNames(() => project.loaded, machine, files),
      repositoryProblem: repositoryProblems(() => project.loaded.policy),
      repository: repositoryFacts(() => project.loaded.policy.root),
    })
    const view = new SessionView({ id, project, state: this.#state, saved, machine, files, spillDirectory, directory })
    this.#view = view
    const cover = new UndoCover(machine.stateDir)
    const history = new LiveHistory({
      breaker: () => project.loaded.session.breaker,
      ring: (of) => view.ring(of),
      label: (read) => view.label(read),
      now: parts.now,
    })
    const emit = (event: SessionEvent) => this.#listeners.emit(event)
    const questions = new SessionQuestions(id, parts, view, emit)
    if (agent !== null) this.#mustKnow(agent)
    makeDirectories(spillDirectory)
    const brief = loaded.session.discoveryBrief
    if (brief !== null) this.#widenByBrief(readBrief(brief, files))
    this.#commands = openCommands({
      session: id,
      scope: () => view.scope(),
      runner: parts.openRunner(
        parts.questions
          ? { host: (question) => questions.askHost(question), program: (question) => questions.askProgram(question) }
          : null,
      ),
      io: { stdout: 'capture', stderr: 'capture', spillDirectory },
      home: machine.home,
      cover,
      labels: () => view.labelPlace(),
    })
    const web = parts.openWeb(
      () => view.deciding(view.entered),
      () => view.facts(),
    )
    this.#code = parts.openCode({
      loaded: () => view.deciding(view.entered),
      spillDirectory,
      tools: () => this.tools(),
      call: (tool, input, signal, within) => this.call(tool, input, { signal, within }),
    })
    const custom = parts.customTools({ commands: this.#commands, loaded: () => view.deciding(view.entered) })
    const request = parts.surface === null ? [] : [requestTool((wanted) => this.#request(wanted, parts.surface!))]
    this.#tools = new Map([...parts.tools, ...custom, ...request].map((tool) => [tool.name, tool]))
    const kept = new Map<string, unknown>()
    this.#ports = {
      ...parts,
      id,
      view,
      offered: this.#tools,
      history,
      cover,
      asking: questions,
      commands: this.#commands,
      web,
      code: this.#code,
      store: { get: (key) => kept.get(key), set: (key, value) => void kept.set(key, value) },
      emit,
      noteFailure: (message) => this.#noteFailure(message),
    }
    // Without its first line there is no session.
    recorder.note({ type: 'session', agent: view.agent, id })
  }

  /** Where it writes instead of the project (F7), or null. */
  get ownDirectory(): string | null {
    return this.#view.directory
  }

  /** The agent in force. */
  get agent(): string {
    return this.#view.agent
  }

  /** The mode in force. */
  get mode(): Mode {
    return this.#view.mode
  }

  /** What the session has read, each label with its first source (A3). */
  get labels(): Labels {
    return this.#view.facts().labels ?? NO_LABELS
  }

  /**
   * From now on this session may do at most what the leader may: its mode, agent, levels,
   * envelope and labels apply here as they change.
   */
  follow(leader: Session): void {
    if (!(leader instanceof Session)) throw wrong('follow takes a session', 'Give one that openSession returned.')
    if (!this.#view.canFollow(leader.#view))
      throw wrong('this session follows one already, or would follow itself', 'A session has one leader.')
    this.#state.follow(leader.#state, leader.mode)
    this.#view.follow(leader.#view)
    const { root } = this.#view.base(false)
    this.#parts.recorder.note({ type: 'session', agent: this.agent, root, parent: leader.id })
  }

  /** The agent's ring (P8): 1 may most, 3 only reads. */
  get ring(): 1 | 2 | 3 {
    return this.#view.ring().number
  }

  /** Tools for a model, with labels and hints for a client. */
  tools(): readonly ToolFacts[] {
    return [...this.#tools.values()].map(({ name, description, input, labels, hints }) => {
      return { name, description, input, labels, hints }
    })
  }

  /** Adds tools. Their calls are decided, asked about and recorded like all others. */
  offer(tools: readonly Tool[]): void {
    for (const [at, tool] of requireKind<readonly unknown[]>('the tools of offer', tools, 'list').entries()) {
      const offered = requireTool(`tool ${at + 1} of offer`, tool, (name) => name !== '' && !this.#tools.has(name))
      this.#tools.set(offered.name, offered)
    }
  }

  /** Runs one call: done, denied, refused or failed. */
  async call(tool: string, input: unknown, options: CallOptions = {}): Promise<ToolResult> {
    requireText('the tool of call', tool)
    requireFields('the options of call', options, ['signal', 'within'])
    if (options.signal !== undefined) requireKind('the signal of call', options.signal, ['addEventListener'])
    const signal = options.signal ? AbortSignal.any([options.signal, this.#ended.signal]) : this.#ended.signal
    const stages = () => new CallStages(this.#ports, options.within ?? null)
    const running = this.#refreshed(() => runToolCall(stages(), { tool, input, signal }))
    this.#running.add(running)
    try {
      const result = masked(await running)
      this.#listeners.emit({ type: 'result', tool, result })
      return result
    } finally {
      this.#running.delete(running)
    }
  }

  /** Keeps the question of a call for the person, without making the call. */
  async #request(
    { tool, input, reason }: { readonly tool: string; readonly input: unknown; readonly reason: string },
    surface: string,
  ): Promise<ToolOutput> {
    const said = (text: string, isError = false): ToolOutput => ({ text, ...(isError && { isError }) })
    const stages = new CallStages(this.#ports, null)
    const parsed = stages.parse({ tool, input, signal: this.#ended.signal })
    const decision = stages.decide(parsed, null)
    if (decision.decision === 'allow') return said('This needs no question: make the call.')
    if (decision.decision === 'deny') return said(`Denied: ${decision.reason.message}`, true)
    const settlement = settle(decision, this.#view.deciding(parsed.moved).policy, true)
    if (settlement.outcome === 'refuse') return said(`It was not asked: ${settlement.message}.`, true)
    const id = this.#ports.asking.keep({ ...stages.question(parsed, decision), said: reason }, surface)
    if (id === null)
      return said(`${decision.reason.message} Only the manifest can allow it: the user has to sign it there.`, true)
    return said(
      `${decision.reason.message} The question is kept as ${id} (the user answers on the page, or with \`cordon approvals answer ${id}\`). Go on with other work; the next try of the same call takes the answer.`,
    )
  }

  /** A result as a model or a client reads it: cut to fit, with all of it in a file that the agent may read. */
  textOf(result: ToolResult): string {
    return cappedText(result, this.#parts.spillDirectory)
  }

  /** F3: a brief only widens the envelope; a shorter or unreadable one changes nothing. */
  #rereadBrief(): void {
    const brief = this.#view.base(false).session.discoveryBrief
    if (brief === null) return
    try {
      this.#widenByBrief(readBrief(brief, this.#parts.files))
    } catch (error) {
      if (!(error instanceof Fault)) throw error
    }
  }

  #widenByBrief(globs: readonly string[]): void {
    const place = { root: this.#view.base(this.#view.entered).root, home: this.#parts.machine.home }
    this.#state.widenEnvelope(globs, 'discovery brief', place, true)
  }

  async #refreshed(run: () => Promise<ToolResult>): Promise<ToolResult> {
    try {
      await this.#parts.refresh()
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const { code, message, remedy } = error
      return { status: 'failed', decision: null, error: { code, message, remedy, cause: error } }
    }
    this.#rereadBrief()
    return run()
  }

  setMode(given: Mode): void {
    const mode = requireOneOf('the mode', given, MODES)
    this.#state.mode = mode
    this.#parts.recorder.note({ type: 'mode', mode })
    this.#listeners.emit({ type: 'mode', mode })
  }

  setAgent(agent: string): void {
    this.#mustKnow(agent)
    this.#state.agent = agent
    this.#parts.recorder.note({ type: 'mode', agent })
    this.#listeners.emit({ type: 'agent', agent })
  }

  setLevel(tool: string, given: Verdict): void {
    const level = requireOneOf(`the level of ${requireText('the tool', tool)}`, given, VERDICTS)
    const { tools } = this.#parts.project.loaded.policy
    // A level of a misspelled name would leave the tool that was meant as it is.
    if (readMcpName(tool).tool === '' || !/^[\w.:-]+$/.test(tool))
      requireOneOf('the tool', tool, [...new Set([...this.#tools.keys(), ...builtInTools, ...tools.keys()])])
    this.#state.setLevel(tool, level)
    this.#parts.recorder.note({ type: 'mode', tool, level })
    this.#listeners.emit({ type: 'level', tool, level })
  }

  /** Every tool's level and its source, for `/perms`. */
  permissions(): readonly PermissionRow[] {
    const { policy } = this.#view.deciding(this.#view.entered)
    const facts = this.#view.facts()
    return [...this.#tools.keys()].map((tool) => {
      const stance = takeStance(policy, facts, tool)
      const ruling = stance.denial ?? stance.explicit
      // In contained mode a command does not ask while it stays in the sandbox.
      if (!ruling && stance.mode.value === 'contained' && stance.kind === 'command')
        return { tool, level: 'allow', rule: `${stance.mode.rule}: inside the sandbox`, source: stance.mode.source }
      const { rule, source } = ruling?.rules[0] ?? { rule: `level of ${tool}`, source: 'built-in' }
      return { tool, level: ruling?.decision ?? stance.builtIn, rule, source }
    })
  }

  sandbox(): SandboxView {
    const { loaded, facts } = this.#view.scope()
    const { root, additionalDirectories, reads, writes, commands } = loaded.policy
    const { commandFs, bundles, maskSecrets } = loaded.sandbox
    const { directory, entered } = this.#view
    const texts = (rules: readonly { readonly pattern: { readonly text: string } }[]) => [
      ...new Set(rules.map(({ pattern }) => pattern.text)),
    ]
    return {
      directory: directory ?? root,
      enforced: directory === null || entered,
      roots: [root, ...additionalDirectories.map((place) => place.value), ...facts.roots],
      commandFs: commandFs.value,
      tools: bundles.map(({ value }) => value.tool),
      hosts: texts(commands.defaultDomains),
      reads: texts(reads.allow),
      writes: texts(writes.allow),
      denied: texts([...reads.deny, ...writes.deny]),
      hidesSecrets: maskSecrets.value,
    }
  }

  /** F3: the envelope only grows; without a manifest's or a brief's it stays open. */
  widenEnvelope(globs: readonly string[]): void {
    const { root } = this.#view.base(this.#view.entered)
    const place = { root, home: this.#parts.machine.home }
    if (!Array.isArray(globs)) throw wrong('widenEnvelope takes a list of globs', 'Such as: ["src/**"].')
    for (const glob of globs) {
      const parsed = parsePathPattern(requireText('a glob of the envelope', glob), { ...place, files: null })
      if ('problem' in parsed) throw wrong(`the envelope cannot grow by ${JSON.stringify(glob)}`, parsed.problem)
    }
    this.#state.widenEnvelope(globs, 'session', place)
    this.#listeners.emit({ type: 'envelope', globs })
  }

  /** Subscribes to events; returns a function that unsubscribes. */
  subscribe(listener: (event: SessionEvent) => void): () => void {
    requireKind('the listener of subscribe', listener, 'function')
    return this.#listeners.add(listener)
  }

  /** Ends everything and closes the record. A second close waits for the first. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.#ended.abort()
    await Promise.all([this.#commands.close(), this.#code.close()])
    // Running calls write their last line before the record closes.
    await Promise.allSettled(this.#running)
    this.#parts.saved.endSession(this.id)
    this.#parts.recorder.close()
    rmSync(this.#parts.spillDirectory, { recursive: true, force: true })
    this.#parts.closed()
  }

  #mustKnow(agent: string): void {
    const known = ['build', 'plan', ...this.#parts.project.loaded.policy.agents.keys()]
    if (known.includes(agent)) return
    throw new Fault('unknown-agent', `there is no agent ${JSON.stringify(agent)}`, {
      remedy: `The agents are: ${known.join(', ')}.`,
    })
  }

  /** Reports a failure beside the calls, even after the record is closed. */
  #noteFailure(message: string): void {
    try {
      this.#parts.recorder.note({ type: 'warning', message })
    } catch {
      // The call itself was recorded, or did not run.
    }
  }
}

/** A2: a denial or failure quotes the call, whose secrets it must not show. The output of a tool stays as it is. */
function masked(result: ToolResult): ToolResult {
  if (result.status === 'done') return result
  const redactor = createRedactor()
  const whole = <Value>(value: Value): Value =>
    JSON.parse(JSON.stringify(value), (_, part) => (typeof part === 'string' ? redactor.redact(part) : part))
  if (result.status !== 'failed') return whole(result)
  const { code, cause, ...said } = result.error
  return { ...result, decision: whole(result.decision), error: { ...whole(said), code, cause } }
}
