/**
 * The manifest's MCP servers as tools of Cordon's agent. The session decides each call, and the
 * gateway in front of the servers decides it again by the manifest, so a denial of either counts.
 */

import { type ChildProcess, spawn } from 'node:child_process'
import { ASKED_CALL } from '../agents/mcp/judge.ts'
import type { Prompter } from '../approval/prompter.ts'
import { messageOf } from '../system/fault.ts'
import { isRecord, recordOf } from '../system/json.ts'
import { linesOf } from '../system/lines.ts'
import { version } from '../system/version.ts'
import { toolHints, touchesNothing } from '../tools/define-tool.ts'
import type { InputSchema } from '../tools/input-schema.ts'
import { type Tool, type ToolOutput, toolLabels } from '../tools/tool.ts'

export interface McpToolsOptions {
  /** `cordon mcp wrap` of this project. */
  readonly command: readonly string[]
  /** Receives the servers' tools. */
  readonly offer: (tools: readonly Tool[]) => void
  readonly prompter: Prompter | null
  readonly warn: (text: string) => void
}

const READY_MS = 20_000
const MAX_LINE = 32 * 1024 * 1024
/** Prefix of MCP tool names. */
export const MCP_PREFIX = 'mcp__'
/** Accepted by every provider. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/

export class McpTools {
  readonly #options: McpToolsOptions
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>()
  readonly #ready: Promise<void>
  /** Calls that the session allowed, by name. */
  readonly #passed = new Map<string, number>()
  #id = 0

  constructor(options: McpToolsOptions) {
    this.#options = options
    const [program, ...args] = options.command
    this.#child = spawn(program!, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#child.stdin!.on('error', () => {})
    this.#child.once('error', (error) => this.#end(error))
    this.#child.once('close', () => this.#end(new Error('the gateway has ended')))
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n')) if (line.trim() !== '') options.warn(line)
    })
    void this.#listen()
    this.#ready = this.#start().catch((error: unknown) => options.warn(`MCP servers: ${messageOf(error)}`))
  }

  /** Waits for the servers' lists, with a limit. */
  async ready(signal: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, READY_MS)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([this.#ready, late])
    clearTimeout(timer)
  }

  /** A tool of a server. What it touches no one knows: it counts as a command. */
  #tool(name: string, description: string, schema: unknown, serverHints: Readonly<Record<string, unknown>>): Tool {
    return {
      name,
      description,
      input: schema as InputSchema,
      checksInput: true,
      serverHints,
      labels: toolLabels,
      hints: toolHints.runs,
      actions: touchesNothing,
      run: (input, { signal }) => this.#call(name, input, signal),
    }
  }

  async #call(name: string, input: unknown, signal: AbortSignal): Promise<ToolOutput> {
    const count = (step: 1 | -1) => this.#passed.set(name, (this.#passed.get(name) ?? 0) + step)
    count(1)
    try {
      const given = { name: name.slice(MCP_PREFIX.length), arguments: input }
      const answer = recordOf(await this.#request('tools/call', given, signal))
      const data = isRecord(answer.structuredContent) ? { data: answer.structuredContent } : {}
      return { text: textIn(answer), ...data, ...(answer.isError === true && { isError: true }) }
    } finally {
      count(-1)
    }
  }

  async close(): Promise<void> {
    this.#child.stdin!.end()
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = new Promise((resolve) => this.#child.once('close', resolve))
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000)
    await gone
    clearTimeout(timer)
  }

  async #start(): Promise<void> {
    const { signal } = new AbortController()
    const clientInfo = { name: 'cordon-chat', version }
    const capabilities = { elicitation: {} }
    await this.#request('initialize', { protocolVersion: '2025-06-18', capabilities, clientInfo }, signal)
    this.#write({ method: 'notifications/initialized' })
    const { tools } = recordOf(await this.#request('tools/list', {}, signal))
    const found = (Array.isArray(tools) ? tools : []).filter(isRecord).map((tool) => {
      const schema = tool.inputSchema ?? { type: 'object', properties: {} }
      return this.#tool(
        `${MCP_PREFIX}${String(tool.name)}`,
        String(tool.description ?? ''),
        schema,
        recordOf(tool.annotations),
      )
    })
    this.#options.offer(found.filter(({ name }) => NAME.test(name)))
    for (const { name } of found.filter((tool) => !NAME.test(tool.name)))
      this.#options.warn(`${name} is left out: models take names of 64 letters, digits, _ and - at most`)
  }

  #request(method: string, params: object, signal: AbortSignal): Promise<unknown> {
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.delete(id)
        this.#write({ method: 'notifications/cancelled', params: { requestId: id } })
        reject(signal.reason instanceof Error ? signal.reason : new Error('cancelled'))
      }
      const settle =
        <Value>(end: (value: Value) => void) =>
        (value: Value) => {
          signal.removeEventListener('abort', onAbort)
          end(value)
        }
      this.#waiting.set(id, { resolve: settle(resolve), reject: settle(reject) })
      signal.addEventListener('abort', onAbort, { once: true })
      this.#write({ id, method, params })
    })
  }

  #write(message: object): void {
    this.#child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }

  async #listen(): Promise<void> {
    try {
      for await (const line of linesOf(this.#child.stdout!, MAX_LINE))
        if (line !== null) this.#receive(JSON.parse(line))
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)))
    }
  }

  #receive(message: unknown): void {
    const { id, method, params, result, error } = recordOf(message)
    if (typeof method === 'string') {
      if (id !== undefined) void this.#asked(id, method, recordOf(params))
      return
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined
    if (!waiting) return
    this.#waiting.delete(id as number)
    if (isRecord(error)) waiting.reject(new Error(String(error.message)))
    else waiting.resolve(result)
  }

  /** Answers yes for a call that the session allowed; otherwise asks the person. */
  async #asked(
    id: unknown,
    method: string,
    { message, requestedSchema, _meta }: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    if (method !== 'elicitation/create') {
      this.#write({ id, error: { code: -32601, message: `there is no ${method}` } })
      return
    }
    const [[field, schema] = ['answer', {}]] = Object.entries(recordOf(recordOf(requestedSchema).properties))
    const about = recordOf(_meta)[ASKED_CALL]
    const passed = typeof about === 'string' && (this.#passed.get(about) ?? 0) > 0
    const answer = passed ? 'once' : await this.#question(String(message), recordOf(schema).enum)
    this.#write({
      id,
      result: answer === null ? { action: 'decline' } : { action: 'accept', content: { [field]: answer } },
    })
  }

  /** One of the offered answers; null if nobody is there. */
  async #question(message: string, options: unknown): Promise<string | null> {
    const words = Array.isArray(options) ? options.filter((word): word is string => typeof word === 'string') : []
    const asked = this.#options.prompter?.question?.(message, words, new AbortController().signal)
    const answer = (await asked?.catch(() => null)) ?? null
    return answer !== null && (words.length === 0 || words.includes(answer)) ? answer : null
  }

  #end(reason: Error): void {
    for (const { reject } of this.#waiting.values()) reject(reason)
    this.#waiting.clear()
  }
}

function textIn({ content }: Readonly<Record<string, unknown>>): string {
  const parts = (Array.isArray(content) ? content : []).filter(isRecord)
  return parts.map((part) => (typeof part.text === 'string' ? part.text : `[${String(part.type)}]`)).join('\n')
}

export function gatewayCommand(root: string): readonly string[] {
  return [process.execPath, process.argv[1]!, 'mcp', 'wrap', '--root', root]
}
