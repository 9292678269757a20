/** Cordon's own agent, in the chat and in an editor, with a model that calls what a row says. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type AnyMessage,
  client,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk'
import { openAgentSession } from '../../src/chat/agent-session.ts'
import { serveOwnAgent } from '../../src/surfaces/acp/own-agent.ts'
import { type ScriptedModel, startScriptedModel } from '../e2e/chat/scripted-model.ts'
import { Person } from './person.ts'
import type { Place } from './place.ts'
import type { Call, Driver, Try } from './promise.ts'

/** A model that makes one call, reads its result, and is done. */
class OneCall {
  next: Call | null = null
  readonly #model: ScriptedModel

  private constructor(model: ScriptedModel) {
    this.#model = model
  }

  static async start(place: Place): Promise<OneCall> {
    const scripted: { one: OneCall | null } = { one: null }
    const model = await startScriptedModel(() => {
      const call = scripted.one!.next
      scripted.one!.next = null
      return call === null ? { text: 'Done.' } : { calls: [{ name: call.tool, input: call.input }] }
    })
    scripted.one = new OneCall(model)
    const profile = { wire: 'openai-chat', base_url: model.url, model: 'scripted', key_env: 'SCRIPTED_KEY' }
    mkdirSync(place.machine.configDir, { recursive: true, mode: 0o700 })
    const config = JSON.stringify({ profile: 'test', profiles: { test: profile } })
    writeFileSync(join(place.machine.configDir, 'config.json'), config, { mode: 0o600 })
    return scripted.one
  }

  /** What the model was given for its call. */
  get result(): string {
    const messages = this.#model.seen.at(-1)!.body.messages as { role: string; content: unknown }[]
    const content = messages.findLast(({ role }) => role === 'tool')?.content
    return typeof content === 'string' ? content : JSON.stringify(content)
  }

  /** How a call ended, read as the model reads it. */
  get status(): string {
    const [, lead] = /^(Denied|Not run|Failed):/.exec(this.result) ?? []
    return { Denied: 'denied', 'Not run': 'refused', Failed: 'failed' }[lead ?? ''] ?? 'done'
  }

  close(): Promise<void> {
    return this.#model.close()
  }
}

export async function openChat(place: Place): Promise<Driver> {
  const model = await OneCall.start(place)
  const person = new Person()
  const { machine, root } = place
  const agent = await openAgentSession({ machine, project: root, prompter: person.prompter, report: () => {} })
  return {
    call: async (call, answer) => {
      person.expect(answer)
      model.next = call
      await agent.turn(
        { role: 'user', parts: [{ type: 'text', text: 'go' }] },
        { signal: new AbortController().signal },
      )
      return person.outcome(model.status, model.result)
    },
    close: async () => {
      await agent.close()
      await model.close()
    },
  }
}

export async function openAcp(
  place: Place,
  warn: (text: string) => void = () => {},
  updated: (update: SessionUpdate) => void = () => {},
): Promise<Driver> {
  const model = await OneCall.start(place)
  const person = new Person()
  let hangUp = (): void => {}
  const toAgent = new TransformStream<AnyMessage>({
    start: (controller) => {
      hangUp = () => controller.terminate()
    },
  })
  const toEditor = new TransformStream<AnyMessage>()
  const serving = serveOwnAgent(
    { readable: toAgent.readable, writable: toEditor.writable },
    { machine: place.machine, fromEditor: false, warn },
  )
  const editor = client({ name: 'editor' })
    .onRequest('session/request_permission', ({ params }) => {
      person.question = questionOf(params)
      return { outcome: { outcome: 'selected', optionId: optionOf(params, person.answer) } }
    })
    .onNotification('session/update', ({ params }) => updated(params.update))
    .connect({ readable: toEditor.readable, writable: toAgent.writable })
  await editor.agent.request('initialize', { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} })
  const { sessionId } = await editor.agent.request('session/new', { cwd: place.root, mcpServers: [] })
  return {
    call: async (call, answer) => {
      person.expect(answer)
      model.next = call
      await editor.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
      return person.outcome(model.status, model.result)
    },
    close: async () => {
      hangUp()
      await serving
      await model.close()
    },
  }
}

function questionOf({ toolCall }: RequestPermissionRequest): string {
  return (toolCall.content ?? [])
    .flatMap((part) => (part.type === 'content' && part.content.type === 'text' ? [part.content.text] : []))
    .join('\n')
}

function optionOf({ options }: RequestPermissionRequest, answer: Try['answer']): string {
  const wanted = answer === undefined ? 'deny' : answer === 'session' ? 'session-0' : 'once'
  return options.find(({ optionId }) => optionId === wanted)?.optionId ?? (answer === undefined ? 'deny' : 'once')
}
