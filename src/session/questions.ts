/** Asks a person about calls and running commands, and stores the answers. */

import { posix } from 'node:path'
import { type Approval, approve, callHash, type Question, requestOf, type SavedAnswer } from '../approval/approve.ts'
import type { Questions } from '../approval/question-queue.ts'
import type { SavedGrants } from '../approval/saved-grants.ts'
import type { Suggestion } from '../approval/suggestion.ts'
import { hostQuestion } from '../call/answer-reach.ts'
import type { SessionRecorder } from '../call/record/recorder.ts'
import type { HostQuestion } from '../egress/route/gate.ts'
import { matchesHost } from '../hosts/pattern.ts'
import { soleDecision } from '../policy/decision.ts'
import { grantsOf } from '../policy/evaluate/command-grant.ts'
import { settle } from '../policy/settle.ts'
import { takeStance } from '../policy/stance.ts'
import type { AmendResult } from '../project/amend.ts'
import { countAnswer, habitOf } from '../project/answer-counts.ts'
import { remember } from '../project/remember.ts'
import { keepRequest, takeApproval } from '../questions/asks.ts'
import type { ProgramQuestion } from '../run/program-starts.ts'
import { analyze } from '../shell/walk/analyze.ts'
import type { Machine } from '../system/machine.ts'
import type { SessionEvent } from './event.ts'
import type { ProjectPolicy, SessionView } from './view.ts'

export interface QuestionParts {
  readonly project: ProjectPolicy
  readonly machine: Machine
  /** Null without a prompter. */
  readonly questions: Questions | null
  readonly saved: SavedGrants
  readonly recorder: SessionRecorder
  /** Writes an "always" into the manifest and signs it, or says why not. */
  readonly amend: (remembered: SavedAnswer) => Promise<AmendResult>
  readonly now: () => number
}

/** A question to a person. */
export interface QuestionRequest {
  readonly question: Question
  readonly call: string | null
  /** True if it was settled meanwhile. */
  readonly settled: () => boolean
  readonly signal: AbortSignal
}

export class SessionQuestions {
  readonly #id: string
  readonly #parts: QuestionParts
  readonly #view: SessionView
  readonly #tell: (event: SessionEvent) => void

  constructor(id: string, parts: QuestionParts, view: SessionView, emit: (event: SessionEvent) => void) {
    this.#id = id
    this.#parts = parts
    this.#view = view
    this.#tell = emit
  }

  /** Asks a person, records the answer and stores what should be remembered. */
  async put({ question, call, settled, signal }: QuestionRequest): Promise<Approval> {
    const { questions, recorder } = this.#parts
    const { policy } = this.#view.deciding(this.#view.entered)
    const settlement = settle(question.decision, policy, questions !== null)
    const kept = settlement.outcome === 'prompt' && call !== null ? this.#taken(question, call) : null
    const reviewed = kept ?? (await this.#review(question, call, signal))
    if (reviewed) return reviewed
    if (settlement.outcome !== 'prompt' || !questions) {
      const message = settlement.outcome === 'refuse' ? settlement.message : 'there is no one to ask'
      return { approved: false, refusal: { kind: 'absent', message }, remember: null }
    }
    const { places, where = null, tool, input } = question
    return questions.take(callHash(places.root, where, tool, input), signal, async (prompter, shared) => {
      // Another answer may have settled this question while it waited.
      if (settled()) return { approved: true, remember: null }
      let offer: Suggestion | undefined
      const approval = await approve(question, (request) => {
        offer = habitOf(request)
        return prompter.ask(request, shared)
      })
      recorder.answered(call, question.subject, approval.by ?? questions.name, approval)
      this.#count(offer, approval)
      if (approval.remember !== null) await this.#remember(approval.remember)
      return approval
    })
  }

  /** The person's answer since the same call was last tried, if no other agent asks here. */
  #taken(question: Question, call: string): Approval | null {
    const { questions, machine, now, recorder } = this.#parts
    if (questions === null || questions.isShared) return null
    const taken = takeApproval(machine, requestOf(question).once, now())
    if (taken) recorder.answered(call, question.subject, taken.by!, taken)
    return taken
  }

  /** What an agent asks for without waiting, kept for the person; null if only the manifest can allow it. */
  keep(question: Question, surface: string): string | null {
    const { machine, project } = this.#parts
    const place = { host: surface, project: project.loaded.root, session: this.#id }
    return keepRequest(machine, place, requestOf(question))
  }

  /** The reviewer is asked first, about whole calls: it cannot know what a command sends. */
  async #review(question: Question, call: string | null, signal: AbortSignal): Promise<Approval | null> {
    const { machine, recorder } = this.#parts
    const loaded = this.#view.deciding(this.#view.entered)
    if (call === null || loaded.session.review.command.length === 0) return null
    if (settle(question.decision, loaded.policy, true).outcome !== 'prompt') return null
    const { review } = await import('../questions/review/review.ts')
    const steered = this.#view.facts().labels?.has('instructions') ?? false
    const place = { machine, loaded, steered, call, session: this.#id, record: recorder.note }
    const reviewed = await review(question, place, signal)
    if (reviewed) recorder.answered(call, question.subject, reviewed.by ?? 'review', reviewed)
    return reviewed
  }

  /** Counts a one-time answer. Failing to count changes nothing. */
  #count(offer: Suggestion | undefined, { approved, remember }: Approval): void {
    const { machine, now, project } = this.#parts
    if (offer === undefined || remember !== null) return
    try {
      countAnswer(machine, project.loaded.root, offer, approved, now())
    } catch {
      // Then no habit is proposed.
    }
  }

  async #remember(answer: SavedAnswer): Promise<void> {
    const { scope, verdict } = answer
    const { project, recorder } = this.#parts
    const place = { ...this.#parts, project: project.loaded.root, session: this.#id }
    for await (const { grant, amended } of remember(answer, place)) {
      if (amended && 'loaded' in amended) project.loaded = amended.loaded
      const kept = amended && 'why' in amended ? amended.why : null
      recorder.granted({ type: 'grant', verdict, scope, kind: grant.kind, value: grant.value, ...(kept && { kept }) })
      this.#tell({ type: 'grant', remembered: { ...answer, grant }, kept })
    }
  }

  /**
   * Asks about an undecided host of a running command. If nobody can be asked, the proxy says that
   * it is not granted, and how to grant it.
   */
  async askHost(question: HostQuestion): Promise<boolean | null> {
    const { policy } = this.#view.deciding(this.#view.entered)
    const { host, port } = question.target
    const asked = hostQuestion(question)
    const answered = takeStance(policy, this.#view.facts(), 'bash').answersAsks !== null
    if (answered || settle(asked.decision, policy, true).outcome !== 'prompt') return null
    // An answer for the session or a time applies to every waiting command.
    const { about } = question
    const settled = () =>
      about === undefined && this.#view.facts().grants.hosts.some(({ pattern }) => matchesHost(pattern, host, port))
    if (settled()) return true
    const { root } = this.#view.base(this.#view.entered)
    const places = { root, home: this.#parts.machine.home, resolve: (given: string) => given }
    const { signal } = question
    const put = { ...asked, facts: null, places, ...(about && { suggestions: [] }) }
    return (await this.put({ question: put, call: null, settled, signal })).approved
  }

  /** Asks about a program that a running command starts, by its own words. */
  async askProgram({ command, cwd, startedBy, ruling, signal }: ProgramQuestion): Promise<true | string> {
    const { machine } = this.#parts
    const { root } = this.#view.base(this.#view.entered)
    const by = startedBy.length === 0 ? 'A running command' : startedBy.join(' → ')
    const reason = { ...ruling.reason, message: `${by} starts it: ${ruling.reason.message}` }
    const ask = soleDecision('ask', { kind: 'command', text: command }, reason, ruling.rules)
    const decision = ruling.firm ? { ...ask, firm: true } : ask
    const analysis = analyze(command, { cwd, home: machine.home, roots: [root] })
    const facts = 'facts' in analysis ? analysis.facts : null
    const places = { root, home: machine.home, resolve: (given: string) => posix.resolve(cwd, given) }
    const question = { tool: 'bash', subject: command, input: { command }, decision, facts, places }
    const settled = () => {
      const [fact, ...more] = facts?.commands ?? []
      if (fact === undefined || more.length > 0 || ruling.firm) return false
      return grantsOf(this.#view.deciding(this.#view.entered).policy, this.#view.facts(), fact) !== null
    }
    const approval = await this.put({ question, call: null, settled, signal })
    if (approval.approved) return true
    return `${ruling.reason.message} ${approval.refusal.message}`
  }
}
