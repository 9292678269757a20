/** The way of a hook: the host's text in, one answer in the host's own form out, and whatever fails is a block. */

import { closeSync, constants, openSync, readSync } from 'node:fs'
import { posix } from 'node:path'
import { type HookCall, type HookJudge, type HookJudgement, openHookJudge } from '../../runtime/hook/judge.ts'
import { visible } from '../../scan/visible-text.ts'
import { messageOf } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { cursor } from './hosts/cursor.ts'
import { type HookRequest, type Host, isObject, type Json, type Outcome, ProtocolError } from './hosts/host.ts'
import { directoryAfter } from './moved-directory.ts'
import { everyReading } from './path-readings.ts'
import { commandInside, type Move, type SandboxedForm, sandboxedCommand } from './sandboxed-command.ts'

export interface HookSetting {
  readonly machine: Machine
  readonly files: Files
  /** The project that the hook was installed for; null for one that was installed for the user. */
  readonly root: string | null
  /** The words that run Cordon. */
  readonly cordon: readonly string[]
  /** The whole host runs in a sandbox of Cordon's (`cordon run -- AGENT`): commands are in it already. */
  readonly inside: boolean
}

/** What the hook's process does: print, complain, end. */
export interface HookAnswer {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Longer reasons are cut: a host shows them, and a model pays for them. */
const MAX_REASON = 2000

/** Answers one call. Never throws: a failure of our own is exit code 2 with a sentence, which every host takes as a block. */
export async function answerHook(named: Host, text: string, setting: HookSetting): Promise<HookAnswer> {
  try {
    const input = parseJson(text)
    const host = speakerOf(named, input)
    if (host.results.events.some((event) => event === input.hook_event_name)) return heard(host, input, setting)
    const request = host.parse(input, setting.machine.env)
    return {
      stdout: host.answer(request, await decide(host, request, input, setting)),
      stderr: '',
      exitCode: 0,
    }
  } catch (error) {
    return blocked(`${messageOf(error)}; the call was blocked because it could not be judged.`)
  }
}

/** Cursor also runs the hooks that it finds in Claude Code's settings, in its own form, and says in it who it is. */
function speakerOf(host: Host, input: Json): Host {
  return host.name === 'claude-code' && typeof input.cursor_version === 'string' ? cursor : host
}

/** A word about a result. The tool ran already, so a failure here must not stop the host: it is silence. */
async function heard(host: Host, input: Json, setting: HookSetting): Promise<HookAnswer> {
  try {
    const { answerResult } = await import('./answer-result.ts')
    return { stdout: await answerResult(host, input, setting, () => startDirectory(input)), stderr: '', exitCode: 0 }
  } catch {
    return { stdout: '', stderr: '', exitCode: 0 }
  }
}

/** The answer that every host takes as a block. */
export function blocked(why: string): HookAnswer {
  return { stdout: '', stderr: `cordon: ${oneLine(why)}\n`, exitCode: 2 }
}

async function decide(host: Host, request: HookRequest, input: Json, setting: HookSetting): Promise<Outcome> {
  const { machine, files } = setting
  const root = setting.root ?? request.project ?? startDirectory(input)
  if (root === null || !root.startsWith('/') || !files.isDirectory(root)) {
    throw new ProtocolError(
      `the project cannot be known from what the host says; install the hook for it: cordon install ${host.name} --project`,
    )
  }
  if (request.cwd !== null && !posix.isAbsolute(request.cwd))
    throw new ProtocolError(
      `the directory that the host names does not begin at /, but is ${JSON.stringify(request.cwd)}`,
    )
  requireFound(host, request, setting)
  const opened = await openHookJudge({
    machine,
    files,
    root,
    exact: setting.root !== null,
    cwd: request.cwd ?? root,
    host: host.name,
    session: request.session,
    shell: request.command !== null,
    inside: setting.inside,
  })
  if ('closed' in opened) return { kind: 'deny', reason: reasonText(opened.closed) }
  const { judge } = opened
  const form: SandboxedForm = {
    cordon: setting.cordon,
    host: host.name,
    root: judge.loaded.root,
    session: request.session,
  }
  // A host can show us our own rewrite; what is judged is the command inside it, and it is not wrapped twice.
  const inside = request.command && commandInside(request.command.text, form)
  const calls = typeof inside === 'string' ? request.calls.map((call) => withCommand(call, inside)) : request.calls
  const reading = { cwd: request.cwd ?? root, home: machine.home, habits: host.paths }
  const judgement = judge.strictest(everyReading(calls, reading))
  if (judgement === null) return { kind: 'pass' }
  const wrapped =
    request.command === null || typeof inside === 'string' || setting.inside
      ? null
      : request.command.replaced(
          sandboxedCommand(request.command.text, form, moveOf(request, judgement, setting, form)),
        )
  const outcome = await settled(judge, judgement, wrapped, { host, request, setting })
  await judge.note(judgement.decision)
  // What goes into the sandbox is written down there, with how it ended; inside one, the record is out of reach.
  if (outcome.kind !== 'sandboxed' && !setting.inside) await record(judge, judgement, host, request, machine)
  return outcome
}

/** The call with another command in the place where it would run. */
function withCommand(call: HookCall, command: string): HookCall {
  return call.kind === 'tool' && call.tool === 'bash' ? { ...call, input: { ...call.input, command } } : call
}

/** Refuses a path that the host would not find, and then take another file for. */
function requireFound(host: Host, { soughtElsewhere = [], cwd }: HookRequest, { files }: HookSetting): void {
  for (const path of soughtElsewhere) {
    if (posix.isAbsolute(path) || files.exists(posix.resolve(cwd ?? '/', path))) continue
    throw new ProtocolError(
      `${path} is not there, and ${host.name} would look for a file of that name in the whole project; name it by its whole path, from /`,
    )
  }
}

async function settled(
  judge: HookJudge,
  judgement: HookJudgement,
  input: Json | null,
  { host, request, setting }: { readonly host: Host; readonly request: HookRequest; readonly setting: HookSetting },
): Promise<Outcome> {
  const { decision, reason } = judgement.decision
  if (decision === 'deny') return { kind: 'deny', reason: reasonText(reason.message, reason.remedy) }
  if (input !== null && !request.canRewrite) {
    // What was decided holds for a command in the sandbox; this one would run outside.
    const instead = `Every command runs in the sandbox, and here the command has to say so itself: ${input.command}`
    return { kind: 'deny', reason: reasonText(instead) }
  }
  if (decision === 'allow') return input ? { kind: 'sandboxed', input } : { kind: 'pass' }
  const refused = judge.whyNotAsked(judgement.decision)
  if (refused !== null) return { kind: 'deny', reason: reasonText(`${reason.message} It was not asked: ${refused}.`) }
  if (request.canAsk) return { kind: 'ask', reason: reasonText(reason.message), input }
  if (setting.inside) {
    const where = 'Inside `cordon run` nobody can be asked: the user can grant it in cordon.toml and sign that.'
    return { kind: 'deny', reason: reasonText(`This needs a yes from the user: ${reason.message}`, where) }
  }
  const { machine } = setting
  const { askOf, keepAsk } = await import('../../runtime/hook/asks.ts')
  const id = keepAsk(machine, askOf(machine, host.name, judge.loaded.root, judgement), Date.now())
  return {
    kind: 'deny',
    reason: reasonText(`This needs a yes from the user: ${reason.message}`, wayOut(id, judgement)),
  }
}

/** Where the host's shell has to be left, when the host goes on from there. */
function moveOf(
  { command, cwd }: HookRequest,
  { facts }: HookJudgement,
  { files }: HookSetting,
  { root }: SandboxedForm,
): Move | null {
  if (!command?.keepsDirectory || cwd === null) return null
  const to = directoryAfter(facts, { cwd, root, files })
  return to === null ? null : { from: cwd, to }
}

/** How the user can allow what nobody could be asked about. */
function wayOut(id: string | null, { call }: HookJudgement): string {
  if (id !== null) {
    return `Tell the user to run \`cordon approvals allow ${id}\` in a terminal of their own, or to grant it in cordon.toml and sign that; then try again.`
  }
  return call.kind === 'foreign'
    ? `The user can allow the tool in cordon.toml ([permission.tools] ${JSON.stringify(call.tool)} = "allow") and sign that.`
    : 'The user can grant it in cordon.toml and sign that; do without it otherwise.'
}

/** A1: what is decided is written down first. */
async function record(
  judge: HookJudge,
  { decision, call, subject, labels }: HookJudgement,
  host: Host,
  request: HookRequest,
  machine: Machine,
): Promise<void> {
  const { hookRecorder } = await import('../../runtime/hook/record.ts')
  const recorder = hookRecorder(judge.loaded, machine, host.name, request.session)
  try {
    recorder.begin({
      tool: call.kind === 'search' ? 'grep' : call.tool,
      labels,
      input: call.kind === 'tool' ? call.input : {},
      subject,
      decision,
      agent: host.name,
    })
  } finally {
    recorder.close()
  }
}

/** Where a Codex session was started, from the record that Codex keeps of it. */
function startDirectory(input: Json): string | null {
  const path = input.transcript_path
  if (typeof path !== 'string' || !path.startsWith('/')) return null
  const [first = ''] = beginningOf(path).split('\n', 1)
  const line: unknown = JSON.parse(first)
  if (!isObject(line) || line.type !== 'session_meta' || !isObject(line.payload)) return null
  return typeof line.payload.cwd === 'string' ? line.payload.cwd : null
}

/** The record grows with the session; its first line is all that is wanted. */
function beginningOf(path: string): string {
  const bytes = Buffer.alloc(1024 * 1024)
  // O_NONBLOCK: what waits for a writer would wait for longer than the host does.
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, 0))
  } finally {
    closeSync(fd)
  }
}

function parseJson(input: string): Json {
  let value: unknown
  try {
    value = JSON.parse(input)
  } catch (error) {
    throw new ProtocolError(`the host’s input is not JSON (${messageOf(error)})`)
  }
  if (!isObject(value)) throw new ProtocolError('the host’s input is not a JSON object')
  return value
}

/** Never empty: a denial without a reason is an allow in Codex. */
function reasonText(...sentences: readonly (string | undefined)[]): string {
  const text = oneLine(`Cordon: ${sentences.filter(Boolean).join(' ')}`)
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON)} …` : text
}

/** What hides or acts in an agent's own text does not reach the host's screen. */
function oneLine(text: string): string {
  return visible(text.replace(/\s+/g, ' '))
}
