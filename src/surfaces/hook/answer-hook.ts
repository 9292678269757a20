/** Answers a hook: the host's text in, one answer in the host's own form out. Every failure is a block. */

import { posix } from 'node:path'
import {
  type HookCall,
  type HookJudge,
  type HookJudgement,
  type OwnDenials,
  openHookJudge,
  type ReadCall,
} from '../../agents/hook/judge.ts'
import { asPatch } from '../../agents/hook/patch-command.ts'
import { keepAnswer, keepOwner, programPath, runKey, runProgram } from '../../agents/hook/wrapped-runs.ts'
import { runToolCall } from '../../call/run-tool-call.ts'
import { denial } from '../../policy/decision.ts'
import type { ShellFacts } from '../../shell/facts.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { isOwnDirectory } from '../../system/state.ts'
import { hookStages, type Wrap } from './hook-stages.ts'
import {
  type HookRequest,
  type Host,
  isObject,
  type Json,
  type Outcome,
  ProtocolError,
  type RulePlace,
  unseenPlace,
  useOf,
} from './host/host.ts'
import { everyReading } from './host/path-readings.ts'
import { commandInside, type Move, type SandboxedForm, sandboxedCommand } from './host/sandboxed-command.ts'
import { speakerOf } from './hosts/hosts.ts'
import { oneLine, reasonText } from './reason-text.ts'
import { startDirectory } from './records/codex-record.ts'

const MOVERS: ReadonlySet<string> = new Set(['cd', 'pushd', 'popd'])

/**
 * The canonical directory of a command that begins with `cd WORD`; null for other commands, and for places that do not
 * exist or are outside the project. A `cd` elsewhere may not run, or only affect a subshell.
 */
export function directoryAfter(
  facts: ShellFacts | null,
  { cwd, root, files }: { readonly cwd: string; readonly root: string; readonly files: Files },
): string | null {
  const movers = facts?.commands.filter(({ argv }) => MOVERS.has(argv[0]?.text ?? '')) ?? []
  const [first] = movers
  if (!facts || movers.length !== 1 || first !== facts.commands[0]) return null
  const [name, word, ...more] = first!.argv
  const value = word?.values?.length === 1 ? word.values[0]! : null
  const plain = first!.via.length + first!.assignments.length + first!.redirects.length + more.length === 0
  if (name?.text !== 'cd' || !plain || !value || value.startsWith('-') || first!.background) return null
  const { start, end } = first!.span
  const isFirst = facts.source.slice(0, start).trim() === ''
  if (!isFirst || !/^[^\S\n]*(?:&&|;(?!;)|\n|$)/.test(facts.source.slice(end))) return null
  const target = files.canonical(posix.resolve(cwd, value))
  const below = target === root || target.startsWith(`${root}/`)
  return below && target !== files.canonical(cwd) && files.isDirectory(target) ? target : null
}

export interface HookSetting {
  readonly machine: Machine
  readonly files: Files
  /** The project that the hook was installed for, or null for a hook of the user. */
  readonly root: string | null
  readonly cordon: readonly string[]
  /** The whole host already runs in a sandbox of Cordon's (`cordon run -- AGENT`). */
  readonly inside: boolean
  readonly commandLines: RulePlace['commandLines']
}

/** What the hook's process prints, and its exit code. */
export interface HookAnswer {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  /** The input was not a JSON object, so nothing was opened, asked or written. */
  readonly unread?: true
}

/**
 * Answers one call. Never throws: an error of ours is exit code 2 with a sentence, which every host takes as a block.
 */
export async function answerHook(named: Host, text: string, setting: HookSetting): Promise<HookAnswer> {
  const input = parseJson(text)
  if (typeof input === 'string') return { ...unjudged(input), unread: true }
  try {
    const host = speakerOf(named, input)
    const event = host.eventOf?.(input) ?? input.hook_event_name
    if (host.results.events.some((name) => name === event)) return heard(host, input, setting)
    if (host.prompts && host.prompts.event === event) {
      const { answerPrompt } = await import('./answer-prompt.ts')
      return { stdout: await answerPrompt(host, host.prompts, input, setting), stderr: '', exitCode: 0 }
    }
    const request = host.parse(input, setting.machine.env)
    const { outcome, notes } = await decide(host, request, input, setting)
    return withNotes(host, { stdout: host.answer(request, outcome), stderr: '', exitCode: 0 }, notes)
  } catch (error) {
    const remedy = error instanceof Fault && error.remedy !== null ? ` ${error.remedy}` : ''
    return unjudged(messageOf(error), remedy)
  }
}

function unjudged(why: string, remedy = ''): HookAnswer {
  return blocked(`${why}; the call was blocked because it could not be judged.${remedy}`)
}

/** Adds a note about a result. The tool already ran, so errors are silent instead of stopping the host. */
async function heard(host: Host, input: Json, setting: HookSetting): Promise<HookAnswer> {
  try {
    const { answerResult } = await import('./answer-result.ts')
    return { stdout: await answerResult(host, input, setting, () => startDirectory(input)), stderr: '', exitCode: 0 }
  } catch {
    return { stdout: '', stderr: '', exitCode: 0 }
  }
}

/** Adds a note for the person, in the host's dialog or on stderr. */
function withNotes(host: Host, answer: HookAnswer, notes: string | null): HookAnswer {
  if (notes === null) return answer
  const said = `cordon: ${oneLine(notes)}`
  if (!host.tellsPerson) return { ...answer, stderr: `${said}\n` }
  const own: unknown = answer.stdout === '' ? {} : JSON.parse(answer.stdout)
  return { ...answer, stdout: JSON.stringify({ ...(isObject(own) && own), systemMessage: said }) }
}

/** The answer that every host takes as a block. */
export function blocked(why: string): HookAnswer {
  return { stdout: '', stderr: `cordon: ${oneLine(why)}\n`, exitCode: 2 }
}

interface JudgedCall {
  readonly outcome: Outcome
  readonly notes: string | null
}

async function decide(host: Host, request: HookRequest, input: Json, setting: HookSetting): Promise<JudgedCall> {
  const { machine, files } = setting
  const root = setting.root ?? request.project ?? startDirectory(input)
  if (root === null || !root.startsWith('/') || !files.isDirectory(root)) {
    throw new ProtocolError(
      `the host does not say which project this is; install the hook for it: cordon install ${host.name} --project`,
    )
  }
  if (request.cwd !== null && !posix.isAbsolute(request.cwd))
    throw new ProtocolError(`the directory that the host names is not absolute: ${JSON.stringify(request.cwd)}`)
  requireFound(host, request, setting)
  const opened = await openHookJudge({
    machine,
    files,
    root,
    exact: setting.root !== null,
    cwd: request.cwd ?? root,
    host: host.name,
    session: request.session,
    shell: request.command !== null || request.calls.some((one) => one.kind === 'foreign' && one.actions?.command),
    inside: setting.inside,
    hostFolders: ownFolders(host, input, setting),
    unwritten: host.environment ?? [],
    ownDenials: await ownDenials(host, request, root, setting),
  })
  if ('closed' in opened) {
    await recordClosed(host, request, opened.closed, root, setting)
    return { outcome: { kind: 'deny', reason: reasonText(opened.closed), final: true }, notes: null }
  }
  const { judge } = opened
  return { outcome: await judged(judge, host, request, input, setting, root), notes: await judge.startNotes() }
}

/** Records a denial. A denial that cannot be recorded is still a denial. */
async function recordClosed(
  host: Host,
  { tool, given, session }: HookRequest,
  why: string,
  root: string,
  { machine, inside }: HookSetting,
): Promise<void> {
  if (inside) return
  try {
    const { plainProject, openRecord } = await import('../../call/record/open.ts')
    const recorder = openRecord(plainProject(root), machine, { by: 'host', host: host.name, session })
    const decision = denial(tool, { code: 'not-in-force', message: why })
    recorder.begin({ tool, input: given, subject: tool, decision, agent: host.name })
    recorder.close()
  } catch {
    // The state directory may be the cause.
  }
}

async function judged(
  judge: HookJudge,
  host: Host,
  request: HookRequest,
  input: Json,
  setting: HookSetting,
  root: string,
): Promise<Outcome> {
  const { machine, files } = setting
  const owner = { host: host.name, root: judge.loaded.root, session: request.session }
  const form: SandboxedForm = {
    program: programPath(machine),
    key: runKey(owner),
    quoting: host.quoting ?? 'any-shell',
    readOnly: await isReadOnly(host, request, input, setting, judge.loaded.root),
  }
  // A host can show us our own rewrite: judge the command inside it, and do not wrap it twice.
  const withheld: SandboxedForm = { ...form, undo: true }
  const said = request.command?.text ?? ''
  const own = [withheld, form, { ...form, readOnly: false }].find((one) => commandInside(said, one) !== null)
  const inside = own ? commandInside(said, own) : null
  const calls = typeof inside === 'string' ? request.calls.map((call) => withCommand(call, inside)) : request.calls
  const reading = { cwd: request.cwd ?? root, home: machine.home, habits: host.paths }
  const seen = judge.read(everyReading(calls.map(asPatch), reading))
  const read = [...seen, ...(await unseen(host, input, judge, seen, request.cwd ?? root, setting))]
  if (read.length === 0) return { kind: 'pass' }
  const wrap: Wrap = (judgement, places) => {
    if (request.command === null || setting.inside) return null
    const relies = judgement.decision.relies === 'undo'
    const { text, replaced } = request.command
    // A command that the agent wrapped must use every option that Cordon would.
    const wanted = relies ? withheld : form
    if (inside !== null) return own === wanted || own === withheld ? null : replaced(sandboxedCommand(inside, wanted))
    runProgram(machine, setting.cordon)
    const { environment: unwritten = [] } = host
    keepOwner(machine, { ...owner, folders: ownFolders(host, input, setting), unwritten }, Date.now())
    const cwd = files.canonical(request.cwd ?? root)
    const answer = places && keepAnswer(machine, owner, { command: text, cwd }, places)
    const move = host.ownSandbox?.isOn?.(setting, judge.loaded.root)
      ? null
      : moveOf(request, judgement, setting, judge.loaded.root)
    return replaced(sandboxedCommand(text, wanted, { move, answer }))
  }
  const given = typeof inside === 'string' ? request.command!.replaced(inside) : request.given
  const result = await runToolCall(
    hookStages(judge, read, wrap, { host, request, given, setting, use: useOf(input) }),
    {
      tool: request.tool,
      input: {},
      signal: new AbortController().signal,
    },
  )
  switch (result.status) {
    case 'done':
      return result.output
    case 'denied':
      return { kind: 'deny', reason: reasonText(result.decision.reason.message, result.decision.reason.remedy) }
    case 'refused':
      return { kind: 'deny', reason: reasonText(result.refusal.message) }
    case 'failed':
      throw result.error.cause
  }
}

/** The host's own rules about commands. Inside our sandbox nothing is wrapped, so the host enforces them itself. */
async function ownDenials(
  host: Host,
  { command, cwd }: HookRequest,
  root: string,
  setting: HookSetting,
): Promise<OwnDenials | null> {
  if (command === null || setting.inside || !host.ownRules) return null
  const { denialsOfHost } = await import('./host/own-rules.ts')
  return denialsOfHost(host.ownRules, { ...setting, root, cwd: cwd ?? root })
}

/** Whether the host would deny this command writes; inside our sandbox it sees the real command itself. */
async function isReadOnly(
  { ownSandbox }: Host,
  { command }: HookRequest,
  input: Json,
  setting: HookSetting,
  root: string,
): Promise<boolean> {
  if (command === null || setting.inside) return false
  return (await ownSandbox?.isReadOnly?.(input, setting, root)) ?? false
}

/** Existing folders of the session that the person owns, without links. */
function ownFolders(host: Host, input: Json, { machine, files }: HookSetting): readonly string[] {
  const named = host.ownFolders?.(input, { machine, files }) ?? []
  return named.filter((path) => isOwnDirectory(path) && files.canonical(path) === path)
}

async function unseen(
  host: Host,
  input: Json,
  judge: HookJudge,
  calls: readonly ReadCall[],
  cwd: string,
  setting: HookSetting,
): Promise<readonly ReadCall[]> {
  const { expands } = host
  const writes = calls.some(({ touches }) => !('denied' in touches) && touches.writes.length > 0)
  if (!expands && !writes) return []
  const { unseenDenials, writtenDenials } = await import('../../agents/hook/unseen.ts')
  const given = input.tool_input ?? input.args ?? input.toolArgs ?? input.tool_call
  return [
    ...(expands ? await unseenDenials(judge, calls, expands, unseenPlace(host, judge.loaded.root, cwd, setting)) : []),
    ...(writes ? writtenDenials(judge, calls, textsOf(given), setting.machine.home) : []),
  ]
}

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

function withCommand(call: HookCall, command: string): HookCall {
  return call.kind === 'tool' && call.tool === 'bash' ? { ...call, input: { ...call.input, command } } : call
}

/** Refuses a missing path for which the host would open another file. */
function requireFound(host: Host, { soughtElsewhere = [], cwd }: HookRequest, { files }: HookSetting): void {
  for (const path of soughtElsewhere) {
    if (posix.isAbsolute(path) || files.exists(posix.resolve(cwd ?? '/', path))) continue
    throw new ProtocolError(
      `${path} does not exist, and ${host.name} would search the whole project for that name; give its absolute path`,
    )
  }
}

/** The directory in which the host's shell must end, if the host continues from there. */
function moveOf(
  { command, cwd }: HookRequest,
  { facts }: HookJudgement,
  { files }: HookSetting,
  root: string,
): Move | null {
  if (!command?.keepsDirectory || cwd === null) return null
  const to = directoryAfter(facts, { cwd, root, files })
  return to === null ? null : { from: cwd, to }
}

function parseJson(input: string): Json | string {
  try {
    const value: unknown = JSON.parse(input)
    return isObject(value) ? value : 'the host’s input is not a JSON object'
  } catch (error) {
    return `the host’s input is not JSON (${messageOf(error)})`
  }
}
