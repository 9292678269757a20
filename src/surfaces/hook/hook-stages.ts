/** The stages of a host's call, which the host itself runs and shows. */

import type { AskPlace } from '../../agents/hook/hook-asks.ts'
import type { HookJudge, HookJudgement, ReadCall } from '../../agents/hook/judge.ts'
import { outcomeOf } from '../../call/admission.ts'
import type { CallRecord, SessionRecorder } from '../../call/record/recorder.ts'
import type { Approval, Stages } from '../../call/run-tool-call.ts'
import { type Decision, soleDecision } from '../../policy/decision.ts'
import type { HookSetting } from './answer-hook.ts'
import { ASK_WAIT_SECONDS } from './host/hook-command.ts'
import { type HookRequest, type Host, type Json, type Outcome, ProtocolError } from './host/host.ts'
import { reasonText } from './reason-text.ts'

export interface HostToolCall {
  readonly host: Host
  readonly request: HookRequest
  /** The tool's input, with the original command if the host shows our rewrite. */
  readonly given: Json
  readonly setting: HookSetting
  readonly use: string | null
}

/** The rewritten input, or null if unchanged; a person is asked to open places for it, or is not asked. */
export type Wrap = (judgement: HookJudgement, places: readonly string[] | null) => Json | null

/** The stages of a host's call. The host runs it and shows the result, each reported to its own hook. */
export function hookStages(
  judge: HookJudge,
  read: readonly ReadCall[],
  wrap: Wrap,
  asked: HostToolCall,
): Stages<readonly ReadCall[], CallRecord | null, Outcome> {
  const { host, request, setting } = asked
  // The judgement of `decide`, for later stages; null for a call over a limit.
  let judgement: HookJudgement | null = null
  const judged = (): HookJudgement => {
    judgement ??= judge.strictest(read, null)!
    return judgement
  }
  let wrapped: { readonly of: HookJudgement; readonly input: Json | null } | null = null
  const plainly = (): Json | null => {
    const of = judged()
    if (wrapped?.of !== of) wrapped = { of, input: wrap(of, null) }
    return wrapped.input
  }
  let recorder: SessionRecorder | null = null
  let begun: CallRecord | null = null
  let places: readonly string[] | null = null
  let left = false
  let answered = false
  return {
    history: judge.history,
    parse: () => read,
    decide: async (calls, breakerOpenFor) => {
      await judge.prepare(calls)
      judgement = judge.strictest(calls, breakerOpenFor)!
      // If the host asks its person, a yes opens what our reason names; other hosts decide by their settings.
      if (judgement.decision.decision === 'ask' && judge.leavesToHost(judgement)) {
        left = request.command === null || (!request.canAsk && (request.canRewrite || plainly() === null))
        if (left) judgement = { ...judgement, decision: { ...judgement.decision, decision: 'allow' } }
      }
      if (await isGatewaysToAsk(judge, judgement, asked))
        judgement = { ...judgement, decision: { ...judgement.decision, decision: 'allow' } }
      if (judgement.decision.decision !== 'allow' || request.canRewrite || plainly() === null) return judgement.decision
      return mustSayItself(judgement, plainly()!)
    },
    begin: async (_, decision) => {
      // Sandboxed commands record their own end; inside a sandbox the record is out of reach.
      const elsewhere = decision.decision === 'allow' && request.canRewrite && plainly() !== null
      if (elsewhere || setting.inside) return null
      if (read.some(({ call }) => call.kind === 'foreign' && call.isUnknown)) {
        const { noteUnknownTool } = await import('../../agents/hook/unknown-tools.ts')
        noteUnknownTool(setting.machine.stateDir, host.name, request.tool)
      }
      const { openRecord } = await import('../../call/record/open.ts')
      recorder = openRecord(judge.loaded, setting.machine, { by: 'host', host: host.name, session: request.session })
      const { call, subject, labels, facts } = judged()
      begun = recorder.begin({
        tool: call.kind === 'search' ? 'grep' : call.tool,
        labels,
        input: call.kind === 'tool' ? call.input : call.kind === 'foreign' ? (call.given ?? {}) : {},
        subject,
        facts,
        decision,
        agent: host.name,
        ...(request.canAsk && { approver: 'host' }),
      })
      return begun
    },
    approve: async (_, decision, signal) => {
      // Resolve links before anyone answers: a later target was not part of the question.
      const { placesAsked } = await import('../../agents/hook/reach.ts')
      places = placesAsked(judge, judged(), setting)
      const record = (event: Parameters<SessionRecorder['note']>[0]): void => recorder?.note(event)
      const put = { judgement: judged(), decision, input: plainly(), places, call: begun?.call ?? null, record }
      const approval = await approved(judge, put, asked, signal)
      answered = (approval.approved && !request.canAsk) || approval.reviewed !== undefined
      if (approval.reviewed === 'undo') judgement = withUndo(judged())
      // Only the host knows its own later answer.
      if (answered) recorder?.answered(begun?.call ?? null, judged().subject, approval.by ?? 'terminal', approval)
      return approval
    },
    run: async (_, decision) => {
      // The command gets the person's answer, but never more than was asked.
      const less = narrowed(judged(), request)
      const input = less?.input ?? (places === null ? plainly() : wrap(judged(), places))
      if (decision.decision === 'ask' && request.canAsk && !answered) {
        const why = await whyAsked(judge, judged(), decision, asked)
        // The host's "don't ask again" does not change Cordon's decision.
        const { toolRemedy } = await import('../../agents/hook/hook-asks.ts')
        const remedy = toolRemedy(setting.machine, placeOf(judge, asked), { ...judged(), decision })
        if (input === null) await keepWrites(judge, read, asked)
        return { kind: 'ask', reason: reasonText(why, remedy ?? undefined, less?.note), input }
      }
      if (less) return { kind: 'narrowed', ...less }
      if (input === null) await keepWrites(judge, read, asked)
      return input ? { kind: 'sandboxed', input, left } : { kind: 'pass' }
    },
    scan: (_, output) => ({ output, notes: [], injection: null }),
    flagged: () => {},
    // Sandboxed commands are counted when they end.
    outcome: (_, result) =>
      result.status === 'done' && result.output.kind === 'sandboxed' ? 'neither' : outcomeOf(result),
    // The host reports the end to another hook, unless the call never started.
    end: async (record, result) => {
      if (record && (result.status === 'refused' || result.status === 'failed')) recorder?.end(record, result, [])
      else if (record && result.status === 'done' && host.results.events.length > 0) {
        const { noteOpen } = await import('../../agents/hook/open-calls.ts')
        const owner = { machine: setting.machine, host: host.name, session: request.session }
        noteOpen(owner, { tool: request.tool, use: asked.use }, record, judge, result.decision)
      }
      await recorder?.sign()
      recorder?.close()
    },
  }
}

/** The gateway asks once about its own tools, with the server's description. */
async function isGatewaysToAsk(
  { loaded }: HookJudge,
  { call, decision }: HookJudgement,
  { host, setting }: HostToolCall,
): Promise<boolean> {
  if (decision.decision !== 'ask' || call.kind !== 'foreign' || call.given === undefined || setting.inside) return false
  if (decision.reason.code !== 'level-ask') return false
  const { readMcpName } = await import('../../policy/mcp-names.ts')
  const { server, isAmbiguous } = readMcpName(call.named ?? call.tool)
  if (server === '' || isAmbiguous) return false
  const { isBehindGateway } = await import('../../agents/mcp/catalogue.ts')
  return isBehindGateway(setting.machine, host.name, loaded.root, server)
}

/** Saves files for undo before the host's tool writes them. A failure does not stop the host. */
async function keepWrites(
  judge: HookJudge,
  read: readonly ReadCall[],
  { host, request, setting }: HostToolCall,
): Promise<void> {
  const writes = read.flatMap(({ call, touches }) =>
    call.kind === 'tool' && call.tool !== 'bash' && !('denied' in touches) ? touches.writes : [],
  )
  if (writes.length === 0 || setting.inside) return
  try {
    const { keepHostWrites } = await import('../../agents/hook/kept-writes.ts')
    keepHostWrites({
      stateDir: setting.machine.stateDir,
      root: judge.loaded.root,
      host: host.name,
      session: request.session,
      what: `${request.tool} ${read[0]?.subject ?? ''}`,
      paths: [...new Set(writes.map(({ path }) => path))],
    })
  } catch {
    // The record still has the call.
  }
}

function narrowed(
  { excluded = [] }: HookJudgement,
  request: HookRequest,
): { readonly input: Json; readonly note: string } | null {
  if (excluded.length === 0) return null
  if (!request.narrowed) throw new ProtocolError(`${request.tool} leaves nothing out`)
  const names = excluded.map((glob) => glob.replace(/^\*\*\//, ''))
  const some = names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ')
  return {
    input: request.narrowed(excluded),
    note: `Cordon left out of this search what may not be read: ${some}.`,
  }
}

/** The decision assumed the sandbox, but this command would run outside, and no answer can allow that. */
function mustSayItself({ call }: HookJudgement, input: Json): Decision {
  const message = `Every command runs in the sandbox, and here the command has to say so itself: ${input.command}`
  const text = call.kind === 'search' ? 'grep' : call.tool
  return soleDecision('ask', { kind: 'tool', text }, { code: 'outside-sandbox', message })
}

/** The judgement if undo alone allows it. */
function withUndo(judgement: HookJudgement): HookJudgement {
  return { ...judgement, decision: { ...judgement.decision, relies: 'undo' } }
}

interface HostQuestion {
  readonly judgement: HookJudgement
  readonly decision: Decision
  readonly input: Json | null
  readonly places: readonly string[]
  readonly call: string | null
  readonly record: SessionRecorder['note']
}

/** True if the host asks its person. Otherwise the question is kept, and the refusal names the remedy. */
async function approved(
  judge: HookJudge,
  { judgement, decision, input, places, call, record }: HostQuestion,
  asked: HostToolCall,
  signal: AbortSignal,
): Promise<Approval> {
  const { host, request, setting } = asked
  const refused = (...sentences: readonly (string | null)[]): Approval => ({
    approved: false,
    refusal: { kind: 'absent', message: sentences.filter(Boolean).join(' ') },
    remember: null,
  })
  if (input !== null && !request.canRewrite) return refused(mustSayItself(judgement, input).reason.message)
  const notAsked = judge.whyNotAsked(decision)
  if (notAsked !== null) return refused(`${decision.reason.message} It was not asked: ${notAsked}.`)
  const started = Date.now()
  if (judge.loaded.session.review.command.length > 0 && !setting.inside) {
    const { byReviewer } = await import('./by-reviewer.ts')
    const of = { judge, host: host.name, machine: setting.machine, place: placeOf(judge, asked) }
    const reviewed = await byReviewer(of, { ...judgement, decision }, { call, record }, signal)
    if (reviewed) return reviewed
  }
  if (request.canAsk)
    return { approved: true, remember: null, ...(host.results.events.length > 0 && { pending: true }) }
  const needed = `This needs a yes from the user: ${await whyAsked(judge, judgement, decision, asked)}`
  if (setting.inside) {
    return refused(
      needed,
      'Inside `cordon run` no one can be asked: the user can grant it in cordon.toml and sign that.',
    )
  }
  const { machine } = setting
  const { askOf, hookQuestion, toolRemedy } = await import('../../agents/hook/hook-asks.ts')
  const { keepAsk, takeApproval } = await import('../../questions/asks.ts')
  const place = placeOf(judge, asked)
  const ask = askOf(machine, host.name, place, judgement, places)
  const answer = takeApproval(machine, ask.once, Date.now())
  if (answer?.approved) return answer
  if (answer) {
    const { kind, message } = answer.refusal
    return {
      ...answer,
      refusal: { kind, message: kind === 'corrected' ? `The user said no: ${message}` : 'The user said no.' },
    }
  }
  const { askFleetAbout } = await import('../../organisation/prompter.ts')
  const question = hookQuestion(machine, place, judgement)
  const byFleet = await askFleetAbout(machine, question, ASK_WAIT_SECONDS * 1000 - (Date.now() - started))
  if (byFleet) return byFleet
  const id = keepAsk(machine, ask, Date.now())
  return refused(needed, await wayOut(id, judgement), toolRemedy(machine, place, { ...judgement, decision }))
}

/** Everything that asks, worst first, as far as a host's dialog has space. */
async function whyAsked(
  judge: HookJudge,
  judgement: HookJudgement,
  decision: Decision,
  asked: HostToolCall,
): Promise<string> {
  const { whyAsks } = await import('../../agents/hook/hook-asks.ts')
  return whyAsks(asked.setting.machine, placeOf(judge, asked), { ...judgement, decision }, MAX_WHY)
}

/** Shorter than the longest reason, to leave space for other notes. */
const MAX_WHY = 1500

function placeOf({ loaded: { root } }: HookJudge, { request: { cwd, session, tool }, given }: HostToolCall): AskPlace {
  return { root, cwd: cwd ?? root, session, hostTool: tool, given }
}

async function wayOut(id: string | null, { call }: HookJudgement): Promise<string> {
  if (id !== null) {
    return `The question is kept: tell the user to run \`cordon approvals allow ${id}\` in another terminal, or to grant it in cordon.toml and sign that. Go on with other work; the next try of the same call takes the answer.`
  }
  if (call.kind !== 'foreign') return 'The user can grant it in cordon.toml and sign that; do without it otherwise.'
  if (!/^[A-Za-z0-9_][\w.:-]{0,99}$/.test(call.tool)) return 'No manifest can name this tool: do without it.'
  const [{ nearest }, { builtInTools }] = await Promise.all([
    import('../../project/near-word.ts'),
    import('../../policy/tool-kind.ts'),
  ])
  // A name near that of a built-in tool is taken for a slip, unless it is declared.
  const declared = nearest(call.tool, builtInTools) === null ? '' : `[tools.${JSON.stringify(call.tool)}] and `
  return `The user can allow the tool in cordon.toml (${declared}[permission.tools] ${JSON.stringify(call.tool)} = "allow") and sign that.`
}
