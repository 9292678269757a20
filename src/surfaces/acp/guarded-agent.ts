/**
 * `cordon acp -- AGENT`: runs any ACP agent in the sandbox. Its file and terminal requests become
 * guarded calls; the rest is forwarded.
 */

import { PassThrough } from 'node:stream'
import {
  type AgentApp,
  type AgentContext,
  agent,
  type ClientApp,
  type ClientContext,
  type CreateTerminalRequest,
  client,
  type InitializeRequest,
  type NewSessionRequest,
  type NewSessionResponse,
  ndJsonStream,
  type ReadTextFileRequest,
  RequestError,
  type Stream,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
  type WriteTextFileRequest,
} from '@agentclientprotocol/sdk'
import { resultText, type ToolResult } from '../../call/tool-result.ts'
import { runConfined } from '../../one-off/run-typed.ts'
import { withAnswers } from '../../project/answers.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import type { RunIo } from '../../run/runner.ts'
import { visible } from '../../scan/visible-text.ts'
import { type Cordon, createCordon } from '../../session/cordon.ts'
import type { Session } from '../../session/session.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import { isRecord, recordOf } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { readableBytes, writableBytes } from './byte-streams.ts'
import { editorPrompter } from './editor-prompter.ts'
import { agentCallId } from './updates.ts'

interface OpenTerminal {
  output: string
  truncated: boolean
  exitCode: number | null
  readonly limit: number
}

const MAX_OUTPUT = 1024 * 1024
/** Polling interval while waiting for a command. */
const LOOK_MS = 25

class SessionTerminals {
  readonly #session: Session
  readonly #open = new Map<string, OpenTerminal>()

  constructor(session: Session) {
    this.#session = session
  }

  /** Starts a command as a guarded call. */
  async create(
    { command, args = [], env = [], cwd, outputByteLimit }: CreateTerminalRequest,
    signal: AbortSignal,
  ): Promise<string> {
    // Without arguments the command is a shell line.
    const line = args.length === 0 ? command : [command, ...args].map(quoted).join(' ')
    const set = env.map(({ name, value }) => {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
        throw RequestError.invalidParams({ name }, 'this is not a variable name')
      return `${name}=${quoted(value)} `
    })
    const input = { command: set.join('') + line, background: true, ...(cwd ? { cwd } : {}) }
    const result = await this.#session.call('bash', input, { signal })
    const handle = result.status === 'done' ? recordOf(result.output.data).handle : undefined
    if (typeof handle !== 'string') throw RequestError.internalError({ status: result.status }, resultText(result))
    this.#open.set(handle, {
      output: '',
      truncated: false,
      exitCode: null,
      limit: Math.min(outputByteLimit ?? MAX_OUTPUT, MAX_OUTPUT),
    })
    return handle
  }

  async output(id: string): Promise<TerminalOutputResponse> {
    const terminal = await this.#look(id)
    const { output, truncated, exitCode } = terminal
    return { output, truncated, exitStatus: exitCode === null ? null : { exitCode } }
  }

  async waitForExit(id: string, signal: AbortSignal): Promise<WaitForTerminalExitResponse> {
    for (;;) {
      const { exitCode } = await this.#look(id)
      if (exitCode !== null) return { exitCode }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      signal.throwIfAborted()
    }
  }

  async kill(id: string): Promise<void> {
    const terminal = await this.#look(id)
    if (terminal.exitCode === null) await this.#session.call('bash', { action: 'kill', handle: id })
  }

  async release(id: string): Promise<void> {
    await this.kill(id)
    this.#open.delete(id)
  }

  async #look(id: string): Promise<OpenTerminal> {
    const terminal = this.#open.get(id)
    if (!terminal) throw RequestError.invalidParams({ terminalId: id }, 'there is no such terminal')
    if (terminal.exitCode !== null) return terminal
    const result = await this.#session.call('bash', { action: 'read', handle: id })
    if (result.status !== 'done') throw RequestError.internalError({ status: result.status }, resultText(result))
    const { stdout = '', stderr = '', truncated, running, exitCode } = recordOf(result.output.data)
    const whole = terminal.output + String(stdout) + String(stderr)
    terminal.output = whole.length > terminal.limit ? whole.slice(-terminal.limit).toWellFormed() : whole
    terminal.truncated ||= truncated === true || whole.length > terminal.limit
    if (running !== true) terminal.exitCode = typeof exitCode === 'number' ? exitCode : 1
    return terminal
  }
}

/** Quotes a word for the shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

export interface GuardedAgentOptions {
  readonly machine: Machine
  readonly root: string
  readonly argv: readonly string[]
  readonly warn: (text: string) => void
}

/** Limit of one agent message in this process's memory. */
const MAX_MESSAGE = 64 * 1024 * 1024

/** An agent's session and its guarded session. */
interface GuardedSession {
  readonly cordon: Cordon
  readonly session: Session
  readonly terminals: SessionTerminals
}

/** Connects editor and agent until one ends; returns the agent's exit code. */
export async function guardAgent(editor: Stream, { machine, root, argv, warn }: GuardedAgentOptions): Promise<number> {
  let toEditor: AgentContext | null = null
  // The policy confines the agent; nobody is asked about that.
  const cordon = await createCordon({ project: root, machine })
  for (const note of cordon.notes) warn(note)
  const sessions = new Map<string, GuardedSession>()
  const serve = (sessionId: unknown): GuardedSession => {
    const found = typeof sessionId === 'string' ? sessions.get(sessionId) : undefined
    if (!found) throw RequestError.invalidParams({}, 'there is no such session')
    return found
  }

  const stop = new AbortController()
  const stdin = new PassThrough()
  const stdout = new PassThrough()
  const stderr = new PassThrough()
  stderr.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n')) if (line !== '') warn(`agent: ${line.slice(0, 1000)}`)
  })
  const running = runAgent(argv, cordon.loaded(), machine, { stdin, stdout, stderr, signal: stop.signal })
  const inner = agentSide(serve, () => must(toEditor)).connect(
    ndJsonStream(writableBytes(stdin), readableBytes(stdout, MAX_MESSAGE)),
  )
  // Each session asks in its own dialog.
  const open = async (id: unknown): Promise<void> => {
    if (typeof id !== 'string' || sessions.has(id)) return
    const prompter = editorPrompter(
      () => must(toEditor),
      () => id,
    )
    const own = await createCordon({ project: root, machine, prompter, answeredElsewhere: 'acp' })
    const session = own.openSession()
    sessions.set(id, { cordon: own, session, terminals: new SessionTerminals(session) })
  }
  const outer = editorSide(inner.agent, cordon.root, open).connect(editor)
  toEditor = outer.client
  const ended = running.then(
    ({ exitCode, notes }) => {
      for (const note of notes) warn(note)
      return exitCode
    },
    (error: unknown) => {
      warn(`the agent could not be run: ${error instanceof Error ? error.message : String(error)}`)
      return 125
    },
  )
  const code = await Promise.race([
    ended,
    outer.closed.then(
      () => null,
      () => null,
    ),
  ])
  stop.abort()
  inner.close()
  outer.close()
  await ended
  await Promise.all([cordon, ...[...sessions.values()].map((one) => one.cordon)].map((one) => one.close()))
  return code ?? 0
}

function must<Value>(value: Value | null): Value {
  if (value === null) throw RequestError.internalError({}, 'the editor is not connected')
  return value
}

/** The editor's view: the agent, with Cordon's files and terminals. */
function editorSide(toAgent: ClientContext, root: string, open: (id: unknown) => Promise<void>): AgentApp {
  return agent({ name: 'cordon' })
    .onRequest('initialize', ({ params, signal }) => {
      // Files and terminals are always ours.
      const offered: InitializeRequest = {
        ...params,
        clientCapabilities: {
          ...params.clientCapabilities,
          fs: { readTextFile: true, writeTextFile: true },
          terminal: true,
        },
      }
      return toAgent.request('initialize', offered, { cancellationSignal: signal })
    })
    .onRequest('session/new', async ({ params, signal }) => {
      const answer = await toAgent.request<NewSessionResponse>('session/new', placed(params, root), {
        cancellationSignal: signal,
      })
      await open(answer.sessionId)
      return answer
    })
    .onRequest('*', async ({ method, params, signal }) => {
      const { sessionId, cwd } = recordOf(params)
      if (cwd !== undefined) mustBeInside(String(cwd), root)
      // Guard a loaded session before its first action.
      if (method === 'session/load' || method === 'session/resume') await open(sessionId)
      const answer = await toAgent.request(method, params, { cancellationSignal: signal })
      // For example a forked session.
      await open(recordOf(answer).sessionId)
      return answer
    })
    .onNotification('*', ({ method, params }) => toAgent.notify(method, params))
}

/** An agent works where its sandbox is. */
function placed(params: NewSessionRequest, root: string): NewSessionRequest {
  mustBeInside(params.cwd, root)
  return params
}

function mustBeInside(cwd: string, root: string): void {
  const place = machineFiles.canonical(cwd)
  if (place === root || place.startsWith(`${root}/`)) return
  throw RequestError.invalidParams({ cwd }, `this agent is guarded in ${root}; start another one for ${place}`)
}

/** The agent's view: a client whose files and terminals are guarded. */
function agentSide(serve: (sessionId: unknown) => GuardedSession, toEditor: () => AgentContext): ClientApp {
  return client({ name: 'cordon' })
    .onRequest('fs/read_text_file', async ({ params, signal }) => ({
      content: await readFile(serve(params.sessionId).session, params, signal),
    }))
    .onRequest('fs/write_text_file', async ({ params, signal }) => {
      await writeFile(serve(params.sessionId).session, params, signal)
      return {}
    })
    .onRequest('terminal/create', async ({ params, signal }) => ({
      terminalId: await serve(params.sessionId).terminals.create(params as CreateTerminalRequest, signal),
    }))
    .onRequest('terminal/output', ({ params }) => serve(params.sessionId).terminals.output(params.terminalId))
    .onRequest('terminal/wait_for_exit', ({ params, signal }) =>
      serve(params.sessionId).terminals.waitForExit(params.terminalId, signal),
    )
    .onRequest('terminal/kill', async ({ params }) => {
      await serve(params.sessionId).terminals.kill(params.terminalId)
      return {}
    })
    .onRequest('terminal/release', async ({ params }) => {
      await serve(params.sessionId).terminals.release(params.terminalId)
      return {}
    })
    .onRequest('session/request_permission', ({ params, signal }) => {
      serve(params.sessionId)
      // An agent's question must not look like Cordon's, and its answer opens nothing.
      const title = `The agent asks: ${visible(String(params.toolCall.title ?? 'a tool call'))}`
      const asked = { ...params, toolCall: { ...inNamespace(params.toolCall), title } }
      return toEditor().request('session/request_permission', asked, { cancellationSignal: signal })
    })
    .onRequest('*', ({ method }) => {
      throw RequestError.methodNotFound(method)
    })
    .onNotification('session/update', ({ params }) =>
      toEditor().notify('session/update', { ...params, update: inNamespace(params.update) }),
    )
    .onNotification('*', () => {})
}

/** Puts the agent's call ids into their own namespace. */
function inNamespace<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(inNamespace) as Value
  if (!isRecord(value)) return value
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    name === 'toolCallId' ? agentCallId(field) : inNamespace(field),
  ])
  return Object.fromEntries(fields) as Value
}

const MAX_FILE = 16 * 1024 * 1024

/** Reads a file page by page. */
async function readFile(
  session: Session,
  { path, line, limit }: ReadTextFileRequest,
  signal: AbortSignal,
): Promise<string> {
  let text = ''
  let offset = line ?? 1
  let column = 1
  let left = limit ?? Number.POSITIVE_INFINITY
  for (;;) {
    const page = { path, offset, column, ...(Number.isFinite(left) && { limit: left }) }
    const result = await session.call('read', page, { signal })
    const data = recordOf(doneOr(result).data)
    if (typeof data.text !== 'string') throw RequestError.invalidParams({ path }, 'it is not a text file')
    text += data.text
    const next = /"offset": (\d+)(?:, "column": (\d+))?/.exec(
      result.status === 'done' ? (result.output.truncated?.remedy ?? '') : '',
    )
    if (!next || text.length > MAX_FILE) return text
    left -= Number(next[1]) - offset
    if (left <= 0) return text
    offset = Number(next[1])
    column = Number(next[2] ?? 1)
  }
}

async function writeFile(
  session: Session,
  { path, content }: WriteTextFileRequest,
  signal: AbortSignal,
): Promise<void> {
  doneOr(await session.call('write', { path, content }, { signal }))
}

/** The data of a successful call; otherwise throws the agent's error. */
export function doneOr(result: ToolResult): { readonly data?: unknown } {
  if (result.status === 'done' && !(result.output.isError && !isRecord(result.output.data))) return result.output
  throw RequestError.internalError({ status: result.status }, resultText(result))
}

/** Runs the agent as recorded, typed by the person; deny rules apply. Returns notes. */
async function runAgent(
  argv: readonly string[],
  loaded: LoadedPolicy,
  machine: Machine,
  io: RunIo,
): Promise<{ readonly exitCode: number; readonly notes: readonly string[] }> {
  const result = await runConfined({
    answered: await withAnswers(loaded, { machine, files: machineFiles, session: null, agent: null }),
    machine,
    files: machineFiles,
    argv,
    cwd: loaded.root,
    // Project files are read-only: changes go through Cordon as the client. Grants outside stay.
    narrowing: [{ kind: 'keys', env: machine.env }, { kind: 'read-only', places: 'roots' }, { kind: 'long-lived' }],
    io,
    tool: 'acp_agent',
    record: { by: 'gateway', name: 'acp' },
  })
  if ('denied' in result) throw new Fault('closed', result.denied.reason.message)
  return { exitCode: result.outcome.result.exitCode, notes: result.notes }
}
