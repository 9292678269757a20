/** Terminals of a guarded agent: background commands of its session. */

import {
  type CreateTerminalRequest,
  RequestError,
  type TerminalOutputResponse,
  type WaitForTerminalExitResponse,
} from '@agentclientprotocol/sdk'
import { resultText } from '../../call/tool-result.ts'
import type { Session } from '../../session/session.ts'
import { recordOf } from '../../system/json.ts'

interface OpenTerminal {
  output: string
  truncated: boolean
  exitCode: number | null
  readonly limit: number
}

const MAX_OUTPUT = 1024 * 1024
/** Polling interval while waiting for a command. */
const LOOK_MS = 25

export class SessionTerminals {
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
