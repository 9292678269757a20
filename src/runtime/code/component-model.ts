/** The model of a component: one answer to one conversation, by the profile that the person configured. */

import type { Upstream } from '../../egress/upstream.ts'
import type { Policy } from '../../policy/policy.ts'
import type { Message } from '../../providers/conversation.ts'
import type { Resolver } from '../../system/dns.ts'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { isRecord } from '../../system/record.ts'
import { keyOf, openConfig } from '../agent/config.ts'
import { openModel } from '../agent/model.ts'

const MAX_MESSAGES = 1000

/** Opens it. Throws a Fault when no provider is configured. */
export function openComponentModel(
  machine: Machine,
  policy: () => Policy,
  resolver: Resolver,
  upstream: Upstream,
): (request: string, signal: AbortSignal) => Promise<string> {
  const { config } = openConfig(machine)
  const profile = config.profile === null ? undefined : config.profiles.get(config.profile)
  if (!profile)
    throw new Fault('no-provider', 'no model provider is configured', { remedy: 'Set one up: cordon login' })
  const model = openModel({
    profile,
    key: keyOf(profile, machine, false),
    machine,
    policy,
    resolver,
    upstream,
    dumps: null,
  })
  return async (request, signal) => {
    const { system, messages } = parseRequest(request, profile.wire)
    let text = ''
    for await (const event of model.ask({ system, messages, tools: [] }, { signal })) {
      if (event.type === 'text') text += event.text
    }
    return JSON.stringify({ text })
  }
}

function parseRequest(text: string, wire: 'anthropic' | 'openai-chat' | 'openai-responses' | 'gemini') {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value) || !Array.isArray(value.messages) || value.messages.length > MAX_MESSAGES) {
    throw new Fault('bad-config', 'a request holds {"system": "…", "messages": [{"role": "user", "text": "…"}]}')
  }
  const messages = value.messages.map((one: unknown): Message => {
    const { role, text } = isRecord(one) ? one : {}
    const parts = [{ type: 'text' as const, text: String(text ?? '') }]
    return role === 'assistant' ? { role, wire, parts } : { role: 'user', parts }
  })
  return { system: String(value.system ?? ''), messages }
}
