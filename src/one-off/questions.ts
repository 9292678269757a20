/** Asks the person about a typed command: folders before it starts, hosts while it runs. */

import { type Approval, approve, type Question, type SavedAnswer } from '../approval/approve.ts'
import type { Answer, Prompter } from '../approval/prompter.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import { type PrompterParts, type PromptPlace, terminalPrompter } from '../approval/terminal-prompter.ts'
import { hostQuestion } from '../call/answer-reach.ts'
import type { SessionRecorder } from '../call/record/recorder.ts'
import type { Confinement } from '../confine/confinement.ts'
import { typedText } from '../confine/entitlement.ts'
import type { RunGrants } from '../confine/run-grants.ts'
import type { HostQuestion } from '../egress/route/gate.ts'
import { coversPath, parsePathPattern } from '../files/path-pattern.ts'
import { isLoopbackHost } from '../hosts/address.ts'
import { type HostPattern, matchesDenied, matchesHost, parseHostPattern } from '../hosts/pattern.ts'
import { type Decision, soleDecision } from '../policy/decision.ts'
import type { HostRule } from '../policy/policy.ts'
import { settle } from '../policy/settle.ts'
import { openSavedGrants } from '../project/answer-counts.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { repositoryAt } from '../project/load/nearby.ts'
import { remember } from '../project/remember.ts'
import { namedOwnPorts } from '../run/network/own-ports.ts'
import type { CommandRunner } from '../run/runner.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { listeningPorts } from '../system/processes.ts'
import { requireGrantable } from './grants.ts'
import { type OutsideWord, outsideWords, withTilde } from './outside-words.ts'

/** Placeholder session of a single run; nothing is stored under it. */
const NO_SESSION = 'run'

export interface TypedQuestionParts {
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly files: Files
  /** Reports whether an answer could be kept. */
  readonly report: (line: string) => void
  readonly prompter?: Prompter
  /** A different terminal and clock. */
  readonly terminal?: Pick<PrompterParts, 'open' | 'clock'>
}

/** Canonical places that the person approved. */
type AgreedPlaces = Pick<RunGrants, 'reads' | 'writes'>

/** The questions of one run, one at a time. */
export class TypedQuestions {
  readonly #parts: TypedQuestionParts
  #prompter: Prompter | null = null
  readonly #answers: { readonly subject: string; readonly approval: Approval }[] = []
  #recorder: Pick<SessionRecorder, 'answered'> | null = null
  #hold: () => (keys?: string) => void = () => () => {}
  /** Where questions appear: a running command may be reading the terminal too. */
  #screen: PromptPlace['screen'] = 'own'
  /** Keys typed for the command while a question was shown. */
  #unread = ''
  #turn: Promise<unknown> = Promise.resolve()

  constructor(parts: TypedQuestionParts) {
    this.#parts = parts
  }

  /** Whether questions are allowed at all. */
  static areAllowed({ policy }: LoadedPolicy): boolean {
    const any = soleDecision('ask', { kind: 'tool', text: 'bash' }, { code: 'level-ask', message: '' })
    return settle(any, policy, true).outcome === 'prompt'
  }

  /** From now on the command has the terminal, and is paused during questions. */
  holdBy(hold: () => (keys?: string) => void): void {
    this.#hold = hold
  }

  /** Sets the recorder for answers, including earlier ones. */
  recordTo(recorder: Pick<SessionRecorder, 'answered'>): void {
    this.#recorder = recorder
    for (const { subject, approval } of this.#answers.splice(0)) this.#record(subject, approval)
  }

  /** Asks about hidden paths and local ports that the command names. */
  async askNamed(
    command: readonly string[],
    confinement: Confinement,
    runner: CommandRunner,
  ): Promise<AgreedPlaces & Pick<RunGrants, 'hosts'>> {
    const { machine, files } = this.#parts
    const isShown = runner.sees(confinement)
    const words = outsideWords(command, { cwd: confinement.cwd, home: machine.home, files, isShown })
    const places = await this.#askFolders(typedText(command), words)
    return { ...places, hosts: await this.#askOwnPorts(command, confinement) }
  }

  /** Servers of this machine: inside, 127.0.0.1 is the sandbox itself. */
  async #askOwnPorts(command: readonly string[], { network: { rules } }: Confinement): Promise<readonly HostRule[]> {
    const named = rules.opensNamedLoopback === true ? namedOwnPorts(command) : []
    const listening = named.length === 0 ? NO_PORTS : listeningPorts()
    const agreed: HostRule[] = []
    for (const port of named.filter((one) => listening.has(one))) {
      const value = `127.0.0.1:${port}`
      const pattern: HostPattern = { text: value, host: '127.0.0.1', wildcard: false, port, kind: 'ipv4' }
      const isListed = rules.allowed?.some((rule) => isLoopbackHost(rule.pattern.host) && rule.pattern.port === port)
      const isDenied = rules.denied.some((rule) => matchesDenied(rule.pattern, '127.0.0.1', port))
      const known = this.#known((kind, kept) => kind === 'host' && kept === value)
      if (isListed || isDenied || known === 'deny') continue
      const reason = {
        code: 'host-not-granted',
        message: `127.0.0.1 inside is the sandbox's own. A program on this machine listens on port ${port}, which the command names.`,
      } as const
      const grant: Suggestion = { kind: 'host', value, admits: `whatever listens on port ${port} of this machine` }
      const decision = soleDecision('ask', { kind: 'host', text: value }, reason)
      const question = { ...this.#question(typedText(command), decision), suggestions: [grant] }
      const approval = known === 'allow' ? YES : await this.#put(question)
      if (approval.approved) agreed.push({ pattern, rule: 'answer', source: 'prompt' })
    }
    return agreed
  }

  async #askFolders(command: string, words: readonly OutsideWord[]): Promise<AgreedPlaces> {
    const reads: string[] = []
    const writes: string[] = []
    for (const { path, typed, links } of words) {
      if (!this.#isGrantable(path)) continue
      const known = this.#known((kind, value) => (kind === 'read' || kind === 'directory') && this.#covers(value, path))
      if (known === 'deny') continue
      const reason = { code: 'outside-roots', message: `${typed} is outside the project, and not shown.` } as const
      const decision = soleDecision('ask', { kind: 'read', text: path }, reason)
      const approval = known === 'allow' ? YES : await this.#put(this.#question(command, decision))
      if (!approval.approved) continue
      if (approval.remember?.grant.kind === 'directory') writes.push(path)
      else reads.push(path, ...links)
    }
    return { reads, writes }
  }

  /** Asks about a host. Null if there is no one to ask. */
  async askHost(question: HostQuestion): Promise<boolean | null> {
    const { host, port } = question.target
    // No server of this machine listens there: it is the command's own, which a yes would not
    // reach.
    if (isLoopbackHost(host) && !listeningPorts().has(port)) return null
    this.#screen = 'borrowed'
    const known = question.about
      ? null
      : this.#known((kind, value) => {
          const parsed = kind === 'host' ? parseHostPattern(value, null) : null
          return parsed !== null && 'pattern' in parsed && matchesHost(parsed.pattern, host, port)
        })
    if (known !== null) return known === 'allow'
    const { subject, input, decision } = hostQuestion(question)
    const asked = { ...this.#question(subject, decision, input), ...(question.about && { suggestions: [] }) }
    return (await this.#put(asked, question.signal)).approved
  }

  /** Asks whether the command's server may be reached from this machine. */
  async askPort(command: string, port: number): Promise<boolean> {
    this.#screen = 'borrowed'
    const known = this.#known((kind, value) => kind === 'port' && value === String(port))
    if (known !== null) return known === 'allow'
    const grant: Suggestion = {
      kind: 'port',
      value: String(port),
      admits: `whatever a command serves on ${port}, to this machine alone`,
    }
    const reason = {
      code: 'port-not-opened',
      message: `The command listens on port ${port}. Opened, programs of this machine reach it at http://127.0.0.1:${port}.`,
    } as const
    const decision = soleDecision('ask', { kind: 'tool', text: `port ${port}` }, reason)
    return (await this.#put({ ...this.#question(command, decision, { command, port }), suggestions: [grant] })).approved
  }

  #question(subject: string, decision: Decision, input: Question['input'] = { command: subject }): Question {
    const { loaded, machine, files } = this.#parts
    const repository = (path: string) => repositoryAt(path, files)
    const places = { root: loaded.root, home: machine.home, resolve: (given: string) => given, repository }
    return { tool: 'run', subject, input, decision, facts: null, places }
  }

  #put(question: Question, signal: AbortSignal = new AbortController().signal): Promise<Approval> {
    const asked = this.#turn.then(async () => {
      signal.throwIfAborted()
      const release = this.#hold()
      try {
        const prompter = await this.#person()
        const approval = await approve(question, (request) => prompter.ask(request, signal) as Promise<Answer>)
        this.#record(question.subject, approval)
        if (approval.remember) await this.#remember(approval.remember)
        return approval
      } finally {
        release(this.#unread)
        this.#unread = ''
      }
    })
    this.#turn = asked.catch(() => {})
    return asked
  }

  /** The person at the terminal or the page. Loaded on the first question. */
  async #person(): Promise<Prompter> {
    const unread = (keys: string) => {
      this.#unread += keys
    }
    const place = (): PromptPlace => ({ screen: this.#screen, unread })
    const { machine, loaded, terminal, prompter = terminalPrompter({ ...terminal, place }) } = this.#parts
    const { sharedPrompter } = await import('../questions/shared-prompter.ts')
    this.#prompter ??= sharedPrompter(prompter, { machine, project: loaded.root, surface: 'run' })
    return this.#prompter
  }

  #record(subject: string, approval: Approval): void {
    if (this.#recorder)
      this.#recorder.answered(null, subject, approval.by ?? this.#prompter?.name ?? 'terminal', approval)
    else this.#answers.push({ subject, approval })
  }

  async #remember(answer: SavedAnswer): Promise<void> {
    // The session of a run is the run.
    if (answer.scope === 'session') return
    const { machine, files, report } = this.#parts
    let { loaded } = this.#parts
    const { amendByAnswer } = await import('../project/amend.ts')
    const place = {
      saved: openSavedGrants(machine),
      project: loaded.root,
      session: NO_SESSION,
      now: Date.now,
      amend: (one: SavedAnswer) => amendByAnswer(loaded, { ...one, tool: 'bash' }, machine, files),
    }
    for await (const { grant, amended } of remember(answer, place)) {
      const shown = withTilde(grant.value, machine.home)
      if (amended && 'loaded' in amended) {
        loaded = amended.loaded
        report(`saved in ${loaded.manifestPath}, and signed: ${grant.kind} ${shown}`)
      } else if (amended)
        report(
          `kept for you and this project, not in cordon.toml (cordon grants lists and revokes it): ${shown}; ${amended.why}`,
        )
    }
  }

  /** A saved answer; a no beats a yes. */
  #known(matches: (kind: Suggestion['kind'], value: string) => boolean): 'allow' | 'deny' | null {
    const { loaded, machine } = this.#parts
    const saved = openSavedGrants(machine).forSession(loaded, NO_SESSION)
    const found = saved.filter(({ kind, value }) => matches(kind, value))
    return found.some(({ verdict }) => verdict === 'deny') ? 'deny' : found.length > 0 ? 'allow' : null
  }

  #covers(value: string, path: string): boolean {
    const { loaded, machine } = this.#parts
    const parsed = parsePathPattern(value, { root: loaded.root, home: machine.home, files: null })
    return 'pattern' in parsed && (coversPath(parsed.pattern, path) || parsed.pattern.absolute === `${path}/**`)
  }

  #isGrantable(path: string): boolean {
    try {
      requireGrantable(path, 'read', this.#parts.loaded, this.#parts.machine)
      return true
    } catch (error) {
      if (error instanceof Fault) return false
      throw error
    }
  }
}

const NO_PORTS: ReadonlySet<number> = new Set()
const YES: Approval = { approved: true, remember: null }
