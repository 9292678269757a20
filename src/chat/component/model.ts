/** The model of a component: answers one conversation with the person's profile. */

import type { Upstream } from '../../egress/route/upstream.ts'
import type { Policy } from '../../policy/policy.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import type { AssistantPart, Json, Message, OfferedTool, WireName } from '../../providers/conversation.ts'
import { machineUpstream } from '../../run/network/machine-upstream.ts'
import type { Session } from '../../session/session.ts'
import { machineResolver, type Resolver } from '../../system/dns.ts'
import { Fault } from '../../system/fault.ts'
import { isRecord, recordOf } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { keyOf, openConfig } from '../config.ts'
import { openModel } from '../model.ts'
import { projectFacts } from '../project-facts.ts'
import { systemPrompt } from '../system-prompt.ts'

/** Request and answer are JSON (`cordon agent wit`); only offered tools reach the model. */
export type ComponentModel = (request: string, offered: readonly OfferedTool[], signal: AbortSignal) => Promise<string>

export interface ComponentModelParts {
  readonly machine: Machine
  readonly policy: () => Policy
  readonly resolver: Resolver
  readonly upstream: Upstream
  /** The default system prompt. */
  readonly system: (model: { readonly name: string; readonly provider: string }) => string
}

const MAX_MESSAGES = 1000

/** Opens a component's model. Throws a Fault without a provider. */
export function modelFor(machine: Machine, loaded: () => LoadedPolicy, session: Session): ComponentModel {
  return openComponentModel({
    machine,
    policy: () => loaded().policy,
    resolver: machineResolver(),
    upstream: machineUpstream(machine, loaded().sandbox),
    system: (model) =>
      systemPrompt({
        root: loaded().root,
        mode: session.mode,
        agent: session.agent,
        date: new Date().toISOString().slice(0, 10),
        platform: process.platform,
        project: projectFacts(loaded().root, loaded().policy),
        model: loaded().session.hideModel.value ? null : model,
        instructions: [],
        skills: [],
        untrustedSkills: 0,
        forTask: false,
      }),
  })
}

export function openComponentModel({ machine, system, ...parts }: ComponentModelParts): ComponentModel {
  const { config } = openConfig(machine)
  const profile = config.profile === null ? undefined : config.profiles.get(config.profile)
  if (!profile)
    throw new Fault('no-provider', 'no model provider is configured', { remedy: 'Set one up: cordon login' })
  const model = openModel({ ...parts, profile, key: keyOf(profile, machine, false), machine, dumps: null })
  return async (request, offered, signal) => {
    const asked = parseRequest(request, profile.wire)
    const own = asked.system ?? system({ name: model.name, provider: model.profile })
    const tools = offered
      .filter(({ name }) => asked.tools.has(name))
      .map(({ name, description, input }) => ({ name, description, input }))
    for await (const event of model.ask({ system: own, messages: asked.messages, tools }, { signal })) {
      if (event.type !== 'done') continue
      const { message, stop, usage } = event
      const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
      const { context, maxTokens } = model
      return JSON.stringify({ text, message, stop, usage, cost: model.cost(usage), context, maxTokens })
    }
    throw new Fault('provider-cut', 'the response was truncated')
  }
}

interface ModelTurn {
  /** Null: Cordon's own. */
  readonly system: string | null
  readonly messages: readonly Message[]
  readonly tools: ReadonlySet<unknown>
}

/** Parses an untrusted request. */
export function parseRequest(text: string, wire: WireName): ModelTurn {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value) || !Array.isArray(value.messages) || value.messages.length > MAX_MESSAGES) {
    throw new Fault('bad-config', 'a request contains {"system": "…", "messages": [{"role": "user", "text": "…"}]}')
  }
  return {
    system: typeof value.system === 'string' ? value.system : null,
    messages: value.messages.map((one) => messageOf(recordOf(one), wire)),
    tools: new Set(Array.isArray(value.tools) ? value.tools : []),
  }
}

/** A message with `parts` or `results`, or one of plain `text`. */
function messageOf(given: Readonly<Record<string, unknown>>, wire: WireName): Message {
  const { role, text, parts, results } = given
  if (role === 'results') {
    const list = Array.isArray(results) ? results.map(recordOf) : []
    return {
      role,
      results: list.map(({ id, name, text, isError }) => ({
        id: String(id),
        name: String(name),
        text: String(text ?? ''),
        isError: isError === true,
      })),
    }
  }
  const own = Array.isArray(parts) ? parts.map(recordOf) : [{ type: 'text', text: text ?? '' }]
  if (role === 'assistant') return { role, wire, parts: own.flatMap(assistantPart) }
  return { role: 'user', parts: own.map((part) => ({ type: 'text' as const, text: String(part.text ?? '') })) }
}

function assistantPart(part: Readonly<Record<string, unknown>>): AssistantPart[] {
  const opaque = part.opaque === undefined ? {} : { opaque: part.opaque as Json }
  const text = String(part.text ?? '')
  if (part.type === 'text') return [{ type: 'text', text }]
  if (part.type === 'thinking') return [{ type: 'thinking', text, ...opaque }]
  if (part.type !== 'call') return []
  return [{ type: 'call', id: String(part.id), name: String(part.name), input: recordOf(part.input), ...opaque }]
}
