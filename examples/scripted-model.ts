/** A model that says what a script says, so that the examples run without a provider. */

export interface ToolRequest {
  readonly tool: string
  readonly input: unknown
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly text?: string
  readonly call?: ToolRequest
}

export type Reply = Pick<Message, 'text' | 'call'>

const script: readonly Reply[] = [
  { call: { tool: 'write', input: { path: 'haiku.txt', content: 'quiet green prompt\n' } } },
  { call: { tool: 'bash', input: { command: 'cat haiku.txt && wc -l < haiku.txt' } } },
  { call: { tool: 'bash', input: { command: 'git push --force origin main' } } },
  { call: { tool: 'read', input: { path: '/etc/shadow' } } },
]

/** Takes the next step with every call; in the end it tells what the last tool said. */
export function scriptedModel(
  tools: readonly { readonly name: string }[],
): (messages: readonly Message[]) => Promise<Reply> {
  const known = new Set(tools.map((tool) => tool.name))
  const steps = script.filter(({ call }) => call && known.has(call.tool))
  return async (messages) => {
    const taken = messages.filter((message) => message.role === 'assistant').length
    return steps[taken] ?? { text: `I read: ${messages.at(-1)?.text ?? 'nothing'}` }
  }
}
