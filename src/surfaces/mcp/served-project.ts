/** The project of the clients: opened by the first request, with questions sent to the requesting client. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Cordon, CordonOptions } from '../../session/cordon.ts'
import { Fault } from '../../system/fault.ts'
import { ERROR, type Json, RpcError } from '../../system/json-rpc.ts'
import { elicitationPrompter } from './elicitation.ts'
import { type Elicit, Rounds } from './rounds.ts'

type Prompter = NonNullable<CordonOptions['prompter']>
type Session = ReturnType<Cordon['openSession']>

export interface ServerOptions {
  readonly open: (prompter: Prompter) => Promise<Cordon>
  readonly fallback: Prompter
}

interface Opened {
  readonly cordon: Cordon
  readonly session: Session
  readonly instructions: string
}

const OUTPUT_SCHEMA = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['done', 'denied', 'refused', 'failed'], description: 'The outcome of the call.' },
    reason: { type: 'string', description: 'Why it did not run.' },
    code: { type: 'string', description: 'A stable name for the reason.' },
    exitCode: { type: 'integer', description: 'Of a command.' },
    data: { description: 'The result for programs.' },
    notes: { type: 'array', items: { type: 'string' }, description: 'What was blocked or corrected.' },
  },
  required: ['status'],
} as const

export class ServedProject {
  readonly rounds: Rounds = new Rounds()
  readonly #options: ServerOptions
  /** The running call, and how to ask its person. */
  readonly #asker = new AsyncLocalStorage<{ readonly elicit: Elicit | null; readonly call: number }>()
  #calls = 0
  #opened: Promise<Opened> | null = null

  /** Whether several independent clients share it. */
  readonly #shared: boolean

  constructor(options: ServerOptions, shared = false) {
    this.#options = options
    this.#shared = shared
  }

  /** The open project; after a failure, the next request tries again. */
  opened(): Promise<Opened> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = null
      throw error
    })
    return this.#opened
  }

  async tools(): Promise<Json> {
    return { tools: (await this.opened()).session.tools().map(describeTool) }
  }

  /** Runs work whose questions go to this client. */
  asking<Result>(elicit: Elicit | null, work: () => Promise<Result>): Promise<Result> {
    return this.#asker.run({ elicit, call: ++this.#calls }, work)
  }

  async close(): Promise<void> {
    this.rounds.close()
    const opened = await this.#opened?.catch(() => null)
    this.#opened = null
    await opened?.cordon.close()
  }

  async #open(): Promise<Opened> {
    try {
      const cordon = await this.#options.open(this.#prompter())
      const instructions = `The tools of this server work in ${cordon.root}, under its signed policy and in a sandbox. A denial says what would be allowed instead; do not try to get around it.`
      return { cordon, session: cordon.openSession(), instructions }
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      throw new RpcError(ERROR.internal, [error.message, error.remedy].filter(Boolean).join('. '))
    }
  }

  #prompter(): Prompter {
    const { fallback } = this.#options
    const current = (): Prompter => {
      const elicit = this.#asker.getStore()?.elicit
      return elicit ? elicitationPrompter(elicit, this.#shared) : fallback
    }
    return {
      name: 'mcp',
      // Clients without a session cannot be distinguished, so each call is its own asker.
      ...(this.#shared && { asker: () => String(this.#asker.getStore()?.call ?? ''), onceOnly: true }),
      ask: (request, signal) => current().ask(request, signal),
      question: async (text, options, signal) => (await current().question?.(text, options, signal)) ?? null,
    }
  }
}

function describeTool({
  name,
  description,
  input,
  hints,
}: ReturnType<ReturnType<Cordon['openSession']>['tools']>[number]): Json {
  const { title = name, readOnly, destructive, idempotent, openWorld } = hints
  return {
    name,
    title,
    description,
    inputSchema: { ...input, additionalProperties: false },
    outputSchema: OUTPUT_SCHEMA,
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: idempotent,
      openWorldHint: openWorld,
    },
  }
}
