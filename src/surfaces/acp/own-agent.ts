/** `cordon acp`: Cordon's own agent in an editor, over the Agent Client Protocol. */

import {
  type AgentContext,
  agent,
  type ContentBlock,
  PROTOCOL_VERSION,
  RequestError,
  type StopReason,
  type Stream,
} from '@agentclientprotocol/sdk'
import type { TurnEnd } from '../../chat/agent.ts'
import { type AgentSession, openAgentSession } from '../../chat/agent-session.ts'
import { subjectOf } from '../../chat/calls.ts'
import { trustInstructions } from '../../chat/system-prompt.ts'
import type { Mode } from '../../policy/policy.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { version } from '../../system/version.ts'
import { editorPrompter } from './editor-prompter.ts'
import { replay, updatesOf } from './updates.ts'

export interface OwnAgentOptions {
  readonly machine: Machine
  readonly profile?: string
  readonly model?: string
  readonly fromEditor: boolean
  readonly warn: (text: string) => void
}

const MODES: readonly { readonly id: Mode; readonly name: string; readonly description: string }[] = [
  { id: 'custom', name: 'By the manifest', description: 'What the manifest says.' },
  { id: 'default', name: 'Ask', description: 'Asks before edits and commands.' },
  { id: 'auto_accept', name: 'Edit', description: 'Edits by itself, asks before commands.' },
  {
    id: 'contained',
    name: 'Contained',
    description: 'Runs inside the sandbox without asking; asks for what reaches out.',
  },
  { id: 'plan', name: 'Plan', description: 'Reads only.' },
]

interface Opened {
  readonly agent: AgentSession
  turn: AbortController | null
  asked: boolean
}

export async function serveOwnAgent(stream: Stream, options: OwnAgentOptions): Promise<void> {
  const sessions = new Map<string, Opened>()

  async function open(client: AgentContext, cwd: string, resume?: string): Promise<Opened> {
    let opened: Opened | null = null
    const id = () => opened?.agent.id ?? ''
    const { machine, profile, model, fromEditor } = options
    const calls = await guarded(() =>
      openAgentSession({
        machine,
        project: cwd,
        prompter: editorPrompter(() => client, id),
        surface: 'acp',
        fromEditor,
        gateway: cwd,
        warn: options.warn,
        ...(profile !== undefined && { profile }),
        ...(model !== undefined && { model }),
        ...(resume !== undefined && { resume }),
        report: (event) => {
          for (const update of updatesOf(event, subjectOf))
            void client.notify('session/update', { sessionId: id(), update })
        },
      }),
    )
    for (const note of calls.notes) options.warn(note)
    opened = { agent: calls, turn: null, asked: false }
    sessions.set(calls.id, opened)
    return opened
  }

  const known = (sessionId: string): Opened => {
    const found = sessions.get(sessionId)
    if (!found) throw RequestError.invalidParams({ sessionId }, 'there is no such session')
    return found
  }
  const modesOf = ({ agent: { session } }: Opened) => ({
    currentModeId: session.mode,
    availableModes: MODES.some(({ id }) => id === session.mode)
      ? [...MODES]
      : [...MODES, { id: session.mode, name: session.mode }],
  })

  const app = agent({ name: 'cordon' })
    .onRequest('initialize', () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'cordon', title: 'Cordon', version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
      },
      authMethods: [],
    }))
    .onRequest('session/new', async ({ params, client }) => {
      if (params.mcpServers.length > 0)
        options.warn('MCP servers of the editor are not started: those of the signed manifest are ([mcp_servers.NAME])')
      const opened = await open(client, params.cwd)
      return { sessionId: opened.agent.id, modes: modesOf(opened) }
    })
    .onRequest('session/load', async ({ params, client }) => {
      const opened = await open(client, params.cwd, params.sessionId)
      for (const message of opened.agent.agent.messages) {
        for (const update of replay(message))
          await client.notify('session/update', { sessionId: params.sessionId, update })
      }
      return { modes: modesOf(opened) }
    })
    .onRequest('session/set_mode', ({ params }) => {
      const { agent: one } = known(params.sessionId)
      const mode = MODES.find(({ id }) => id === params.modeId)
      if (!mode) throw RequestError.invalidParams({ modeId: params.modeId }, 'there is no such mode')
      one.setMode(mode.id)
      return {}
    })
    .onRequest('session/prompt', async ({ params, client, signal }) => {
      const opened = known(params.sessionId)
      if (opened.turn) throw RequestError.invalidRequest({}, 'a turn is already running')
      const turn = new AbortController()
      opened.turn = turn
      try {
        const both = AbortSignal.any([turn.signal, signal])
        await askAboutInstructions(opened, client, options.machine, both)
        const end = await opened.agent.turn({ role: 'user', parts: partsOf(params.prompt) }, { signal: both })
        return { stopReason: stopOf(end) }
      } finally {
        opened.turn = null
      }
    })
    .onNotification('session/cancel', ({ params }) => {
      sessions.get(params.sessionId)?.turn?.abort()
    })
  const connection = app.connect(stream)
  await connection.closed.catch(() => {})
  for (const { agent: one, turn } of sessions.values()) {
    turn?.abort()
    await one.close()
  }
}

/** Limit of shown instructions. */
const MAX_SHOWN = 8000

/** The project's instructions steer the agent, so the person must agree. */
async function askAboutInstructions(
  opened: Opened,
  client: AgentContext,
  machine: Machine,
  signal: AbortSignal,
): Promise<void> {
  if (opened.asked) return
  opened.asked = true
  const { agent: one } = opened
  const prompter = editorPrompter(
    () => client,
    () => one.id,
  )
  for (const found of one.untrusted) {
    const state = found.status === 'new' ? 'is new to you' : 'has changed since you agreed to it'
    const warning = found.suspicious ? 'It reads like an attack on the agent.\n\n' : ''
    const left = found.text.length - MAX_SHOWN
    const rest = left > 0 ? `\n\n(${left} more characters are in the file: read them first.)` : ''
    const shown = found.text.slice(0, MAX_SHOWN).toWellFormed()
    const text = `${found.name} of this project ${state}. Let it steer the agent?\n\n${warning}${shown}${rest}`
    const answer = await prompter.question!(text, ['Use it', 'Leave it out'], signal)
    if (answer === 'Use it') trustInstructions(one.cordon.root, machine, found, new Date())
  }
  one.reread()
}

type Parts = Parameters<AgentSession['turn']>[0]['parts']

function partsOf(blocks: readonly ContentBlock[]): Parts {
  return blocks.flatMap((block): Parts => {
    switch (block.type) {
      case 'text':
        return [{ type: 'text' as const, text: block.text }]
      case 'image':
        return [{ type: 'image' as const, mediaType: block.mimeType, data: block.data }]
      case 'resource_link':
        return [{ type: 'text' as const, text: `[file ${block.uri}]` }]
      case 'resource':
        return 'text' in block.resource
          ? [{ type: 'text' as const, text: `[content of ${block.resource.uri}]\n${block.resource.text}` }]
          : []
      default:
        return []
    }
  })
}

/** A failure becomes a request error, other ends a stop reason. */
function stopOf(end: TurnEnd): StopReason {
  switch (end.reason) {
    case 'done':
      return 'end_turn'
    case 'interrupted':
      return 'cancelled'
    case 'length':
      return 'max_tokens'
    case 'max-turns':
    case 'budget':
      return 'max_turn_requests'
    case 'refused':
      return 'refusal'
    case 'failed':
      throw RequestError.internalError({}, messageOf(end.error))
  }
}

async function guarded<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const said = error.remedy === null ? error.message : `${error.message}. ${error.remedy}`
    if (error.code === 'no-key' || error.code === 'no-provider') throw RequestError.authRequired({}, said)
    throw RequestError.internalError({ code: error.code }, said)
  }
}
