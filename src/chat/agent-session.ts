/** Cordon's own agent in a project: its session, model, stored conversation and loop. */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { manifestServers } from '../agents/mcp/servers.ts'
import type { Prompter } from '../approval/prompter.ts'
import { skillPort } from '../custom/skill-gate.ts'
import type { Upstream } from '../egress/route/upstream.ts'
import type { Mode } from '../policy/policy.ts'
import type { ChatConfig, Profile } from '../providers/profile.ts'
import { machineUpstream } from '../run/network/machine-upstream.ts'
import { type Cordon, type CordonOptions, createCordon } from '../session/cordon.ts'
import type { Session } from '../session/session.ts'
import { machineResolver, type Resolver } from '../system/dns.ts'
import { attempt, Fault } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { builtInSpec } from '../tools/built-in/registry.ts'
import { Agent, type AgentEvent, type AgentTools, type TurnEnd, type TurnLimits } from './agent.ts'
import { type Attached, attachFiles } from './attachments.ts'
import { footprintOf } from './calls.ts'
import { keyOf, openConfig } from './config.ts'
import { MCP_PREFIX, McpTools } from './mcp-tools.ts'
import { type Model, openModel } from './model.ts'
import { projectFacts } from './project-facts.ts'
import { SubAgents } from './sub-agent.ts'
import { type ProjectInstructions, readInstructions, systemPrompt } from './system-prompt.ts'
import { type ChatSettings, listTranscripts, openTranscript, type Transcript } from './transcript.ts'

export type { Message, Usage } from '../providers/conversation.ts'

export interface AgentSessionOptions {
  readonly machine: Machine
  readonly project: string
  readonly manifest?: CordonOptions['manifest']
  readonly prompter?: Prompter
  /** Where its questions come from; `chat` by default. */
  readonly surface?: string
  readonly profile?: string
  readonly model?: string
  /** `--vscode`: the key comes from CORDON_API_KEY only. */
  readonly fromEditor?: boolean
  readonly agent?: string
  readonly mode?: Mode
  /** A conversation to resume; `latest` is the project's newest. */
  readonly resume?: string
  readonly report: (event: AgentEvent) => void
  /** The project whose MCP servers are offered, behind the gateway. */
  readonly gateway?: string
  /** Warnings while it runs. */
  readonly warn?: (text: string) => void
  readonly resolver?: Resolver
  readonly upstream?: Upstream
}

/** Throws a Fault if the project, provider or conversation cannot be opened. */
export async function openAgentSession(options: AgentSessionOptions): Promise<AgentSession> {
  const { machine } = options
  const { config, notes } = openConfig(machine)
  const cordon = await createCordon({
    project: options.project,
    machine,
    ...(options.manifest && { manifest: options.manifest }),
    ...(options.prompter && { prompter: options.prompter, answeredElsewhere: options.surface ?? 'chat' }),
  })
  try {
    return new AgentSession(options, cordon, config, notes)
  } catch (error) {
    await cordon.close()
    throw error
  }
}

export class AgentSession {
  readonly cordon: Cordon
  readonly config: ChatConfig
  readonly session: Session
  readonly agent: Agent
  /** Warnings before anything runs. */
  readonly notes: readonly string[]
  readonly #options: AgentSessionOptions
  readonly #transcript: Transcript
  readonly #resolver: Resolver
  readonly #upstream: Upstream
  readonly #date = new Date().toISOString().slice(0, 10)
  readonly #subAgents: SubAgents
  readonly #mcp: McpTools | null
  #budget: number | undefined
  #profile: Profile
  #model: Model
  #instructions: readonly ProjectInstructions[]
  /** Outputs for the next message. */
  readonly #said: string[] = []
  /** Read once: providers cache the prompt. */
  readonly #facts: readonly string[]

  constructor(options: AgentSessionOptions, cordon: Cordon, config: ChatConfig, notes: readonly string[]) {
    const { machine } = options
    this.#options = options
    this.cordon = cordon
    this.config = config
    this.#resolver = options.resolver ?? machineResolver()
    this.#upstream = options.upstream ?? machineUpstream(machine, cordon.loaded().sandbox)
    const id = options.resume === undefined ? newId() : resumedId(options.resume, machine, cordon.root)
    this.#transcript = openTranscript(machine, id, cordon.root)
    try {
      const { restored } = this.#transcript
      const before = restored.settings
      this.#profile = this.#profileNamed(options.profile ?? before.profile ?? config.profile)
      const sameProfile = options.profile === undefined || options.profile === before.profile
      this.#model = this.#open(this.#profile, options.model ?? (sameProfile ? before.model : undefined))
      this.session = cordon.openSession({
        id,
        ...(options.agent !== undefined && { agent: options.agent }),
        task: (task, signal) => this.#subAgents.run(task, signal),
      })
      this.#subAgents = this.#openSubAgents()
      this.#mcp = this.#openMcp()
      restoreSettings(this.session, before, options)
      this.#instructions = readInstructions(cordon.root, machine, machineFiles)
      this.#facts = projectFacts(cordon.root, cordon.loaded().policy)
      const dumps = cordon.loaded().session.dumpProviderPayloads.value
      this.notes = [
        ...notes,
        ...cordon.notes,
        ...(dumps
          ? [`debug.dump_provider_payloads is on: the conversation is written to ${this.#dumps()} in clear text`]
          : []),
      ]
      this.agent = new Agent({
        tools: this.#tools(this.session),
        model: () => this.#model,
        system: () => this.#system(this.session),
        transcript: this.#transcript,
        restored,
        report: options.report,
      })
    } catch (error) {
      this.#transcript.close()
      throw error
    }
  }

  get machine(): Machine {
    return this.#options.machine
  }

  /** The available skills. */
  skills(): readonly { readonly name: string; readonly about: string; readonly trusted: boolean }[] {
    return skillPort(this.cordon.root, this.machine).list()
  }

  get id(): string {
    return this.#transcript.id
  }

  get model(): Model {
    return this.#model
  }

  /** Instructions that nobody has agreed to in their current form. */
  get untrusted(): readonly ProjectInstructions[] {
    return this.#instructions.filter(({ status }) => status !== 'trusted')
  }

  /** Rereads the instructions after an approval. */
  reread(): void {
    this.#instructions = readInstructions(this.cordon.root, this.#options.machine, machineFiles)
  }

  setProfile(name: string): void {
    const profile = this.#profileNamed(name)
    this.#model = this.#open(profile, undefined)
    this.#profile = profile
    this.#transcript.set({ profile: name, model: this.#model.name })
  }

  setModel(name: string): void {
    this.#model = this.#open(this.#profile, name)
    this.#transcript.set({ profile: this.#profile.name, model: name })
  }

  setMode(mode: Mode): void {
    this.session.setMode(mode)
    this.#transcript.set({ mode })
  }

  setAgent(agent: string): void {
    this.session.setAgent(agent)
    this.#transcript.set({ agent })
  }

  /** Runs a turn with its hooks, once the MCP servers have listed their tools. */
  async turn(message: Parameters<Agent['turn']>[0], limits: TurnLimits): Promise<TurnEnd> {
    await this.#mcp?.ready(limits.signal)
    const { hooks } = this.config
    for (const command of hooks.message) await this.run(command, limits.signal)
    const said = this.#said.splice(0).map((text) => ({ type: 'text' as const, text }))
    const end = await this.agent.turn({ ...message, parts: [...message.parts, ...said] }, limits)
    if (end.reason !== 'done') return end
    const failed = (await this.#runHooks(hooks.end, limits.signal)).filter(({ isError }) => isError)
    if (failed.length === 0) return end
    const text = failed.map((one) => `After your answer, ${one.command} of the user failed:\n${one.text}`).join('\n\n')
    return this.agent.turn({ role: 'user', parts: [{ type: 'text', text }] }, limits)
  }

  /** Runs a person's command; its output goes with the next message. */
  async run(command: string, signal: AbortSignal): Promise<void> {
    for (const { text } of await this.#runHooks([command], signal)) this.#said.push(`Output of ${command}:\n${text}`)
  }

  /** Runs commands as calls of this session: judged, in the sandbox, recorded and shown like every other. */
  async #runHooks(commands: readonly string[], signal: AbortSignal) {
    const { report } = this.#options
    const outputs: { command: string; text: string; isError: boolean }[] = []
    for (const command of commands) {
      if (signal.aborted) break
      const call = { type: 'call' as const, id: 'hook', name: 'bash', input: { command } }
      report({ type: 'calling', call })
      const result = await this.session.call('bash', { command }, { signal })
      const text = this.session.textOf(result)
      report({ type: 'result', call, result, text })
      outputs.push({ command, text, isError: result.status !== 'done' || result.output.isError === true })
    }
    return outputs
  }

  /** A message with the files and images that it names. */
  attach(text: string, signal: AbortSignal): Promise<Attached> {
    const { session } = this
    return attachFiles(text, {
      root: this.cordon.root,
      home: this.machine.home,
      read: (path) => session.call('read', { path }, { signal }),
      textOf: (result) => session.textOf(result),
    })
  }

  mcpTools(): readonly { readonly name: string; readonly description: string }[] {
    return this.session.tools().filter(({ name }) => name.startsWith(MCP_PREFIX))
  }

  #openMcp(): McpTools | null {
    const { gateway, prompter = null, warn = () => {} } = this.#options
    if (gateway === undefined || manifestServers(this.cordon.loaded()).length === 0) return null
    const { session } = this
    return new McpTools({ root: gateway, offer: (tools) => session.offer(tools), prompter, warn })
  }

  async close(): Promise<void> {
    try {
      await this.#mcp?.close()
      await this.cordon.close()
    } finally {
      this.#transcript.close()
    }
  }

  #profileNamed(name: string | null): Profile {
    const { profiles } = this.config
    if (name === null) {
      throw new Fault('no-provider', 'no provider is set up', { remedy: 'cordon login sets one up.' })
    }
    const found = profiles.get(name)
    if (found) return found
    throw new Fault('no-provider', `there is no profile "${name}"`, {
      remedy: `There are ${[...profiles.keys()].join(', ')}.`,
    })
  }

  #open(profile: Profile, model: string | undefined): Model {
    const { machine, fromEditor = false } = this.#options
    return openModel({
      profile,
      ...(model !== undefined && { model }),
      key: keyOf(profile, machine, fromEditor),
      machine,
      policy: () => this.cordon.loaded().policy,
      resolver: this.#resolver,
      upstream: this.#upstream,
      dumps: this.cordon.loaded().session.dumpProviderPayloads.value ? this.#dumps() : null,
    })
  }

  #dumps(): string {
    return join(this.#options.machine.stateDir, 'payloads')
  }

  #system(session: Session, forTask = false): string {
    const { session: settings } = this.cordon.loaded()
    const skills = this.skills()
    return systemPrompt({
      root: this.cordon.root,
      mode: session.mode,
      agent: session.agent,
      date: this.#date,
      platform: process.platform,
      project: this.#facts,
      model: settings.hideModel.value ? null : { name: this.#model.name, provider: this.#model.profile },
      instructions: this.#instructions.filter(({ status }) => status === 'trusted'),
      skills: skills.filter(({ trusted }) => trusted),
      untrustedSkills: skills.filter(({ trusted }) => !trusted).length,
      forTask,
    })
  }

  /** The conversation's limit in dollars, including sub-agents. */
  set budget(dollars: number | undefined) {
    this.#budget = dollars
  }

  #openSubAgents(): SubAgents {
    return new SubAgents({
      // A sub-agent has no `task` tool.
      open: (id, agent) => this.cordon.openSession({ id, agent, leader: this.session }),
      parent: this.session,
      model: () => this.#model,
      system: (session) => this.#system(session, true),
      tools: (session) => this.#tools(session),
      report: this.#options.report,
      spend: (spent) => this.agent.charge(spent),
      left: () => {
        const { cost } = this.agent.spent
        return this.#budget === undefined ? undefined : Math.max(0, this.#budget - (cost ?? this.#budget))
      },
    })
  }

  #tools(session: Session): AgentTools {
    const { root } = this.cordon
    return {
      offered: () => session.tools(),
      call: (name, input, signal) => session.call(name, input, { signal }),
      footprint: ({ name, input }) => {
        // Its effects are unknown; the session reports the problem.
        return attempt(() => footprintOf(builtInSpec(name)?.actions(input) ?? null, root), null)
      },
      text: (result) => session.textOf(result),
    }
  }
}

function newId(): string {
  return `c${Date.now().toString(36)}${randomBytes(6).toString('hex')}`
}

function resumedId(wanted: string, machine: Machine, root: string): string {
  const rows = listTranscripts(machine, root)
  const found = wanted === 'latest' ? rows[0] : rows.find(({ id }) => id === wanted)
  if (found) return found.id
  throw new Fault(
    'no-chat',
    wanted === 'latest' ? 'there is no conversation to resume here' : `there is no conversation ${wanted} here`,
    {
      remedy: 'cordon chat starts one; /resume lists those of this project.',
    },
  )
}

/** A resumed conversation is at most as free as before; options given now apply. */
function restoreSettings(session: Session, before: ChatSettings, options: AgentSessionOptions): void {
  if (before.agent !== undefined && options.agent === undefined) session.setAgent(before.agent)
  // Auto mode must be chosen again each time.
  const mode = options.mode ?? (before.mode === 'auto' ? undefined : (before.mode as Mode | undefined))
  if (mode !== undefined) session.setMode(mode)
}
