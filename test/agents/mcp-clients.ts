/** MCP clients of others, each driven through the same plan. They are installed into the ignored cache, so nothing here is typed by them. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export interface StdioTarget {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

export interface HttpTarget {
  readonly url: string
  readonly token: string
}

export type Target = StdioTarget | HttpTarget

export interface Plan {
  readonly target: Target
  readonly era: 'handshake' | 'stateless'
  /** What the person says to every question. */
  readonly answer: string
  readonly calls: readonly { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> }[]
  readonly prompt?: string
  readonly resource?: string
}

export interface Driven {
  readonly revision: string
  readonly tools: readonly string[]
  /** The texts of the results. */
  readonly results: readonly string[]
  readonly asked: readonly string[]
  readonly prompt?: string
  readonly resource?: string
}

export interface McpClient {
  readonly name: string
  readonly eras: readonly Plan['era'][]
  /** Whether prompts and resources can be asked for in the same plan. */
  readonly drive: (plan: Plan, cache: string) => Promise<Driven>
}

interface Result {
  readonly content: readonly { readonly type: string; readonly text?: string }[]
}

const textOf = ({ content }: Result): string => content.map((part) => part.text ?? '').join('\n')

/** The official client of the second generation, which speaks both eras. */
async function official(plan: Plan, cache: string): Promise<Driven> {
  const home = join(cache, 'node_modules/@modelcontextprotocol/client/dist')
  const { Client, StreamableHTTPClientTransport } = await import(join(home, 'index.mjs'))
  const { StdioClientTransport } = await import(join(home, 'stdio.mjs'))
  const mode = plan.era === 'handshake' ? 'legacy' : { pin: '2026-07-28' }
  const options = { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } }
  const client = new Client({ name: 'test', version: '0' }, options)
  const asked: string[] = []
  client.setRequestHandler('elicitation/create', async ({ params }: { params: { message: string } }) => {
    asked.push(params.message)
    return { action: 'accept', content: { answer: plan.answer } }
  })
  const { target } = plan
  await client.connect(
    'url' in target
      ? new StreamableHTTPClientTransport(new URL(target.url), {
          requestInit: { headers: { authorization: `Bearer ${target.token}` } },
        })
      : new StdioClientTransport({ ...target, stderr: 'ignore' }),
  )
  try {
    const { tools } = await client.listTools()
    const results: string[] = []
    for (const call of plan.calls) results.push(textOf(await client.callTool(call)))
    return {
      revision: client.getNegotiatedProtocolVersion(),
      tools: tools.map((tool: { name: string }) => tool.name),
      results,
      asked,
      ...(plan.prompt && { prompt: (await client.getPrompt({ name: plan.prompt })).messages[0].content.text }),
      ...(plan.resource && { resource: (await client.readResource({ uri: plan.resource })).contents[0].text }),
    }
  } finally {
    await client.close()
  }
}

/** The AI SDK's client: its own implementation, with the handshake only. */
async function aiSdk(plan: Plan, cache: string): Promise<Driven> {
  const home = join(cache, 'node_modules/@ai-sdk/mcp/dist')
  const { createMCPClient, ElicitationRequestSchema } = await import(join(home, 'index.js'))
  const { Experimental_StdioMCPTransport } = await import(join(home, 'mcp-stdio/index.js'))
  const { target } = plan
  const transport =
    'url' in target
      ? { type: 'http', url: target.url, headers: { authorization: `Bearer ${target.token}` } }
      : new Experimental_StdioMCPTransport({ ...target, stderr: 'ignore' })
  const client = await createMCPClient({ transport, capabilities: { elicitation: {} } })
  const asked: string[] = []
  client.onElicitationRequest(ElicitationRequestSchema, async ({ params }: { params: { message: string } }) => {
    asked.push(params.message)
    return { action: 'accept', content: { answer: plan.answer } }
  })
  try {
    const tools = await client.tools()
    const results: string[] = []
    for (const { name, arguments: given } of plan.calls) {
      const options = { toolCallId: 'x', messages: [] }
      results.push(textOf(await tools[name].execute(given, options)))
    }
    return {
      revision: '2025-11-25',
      tools: Object.keys(tools),
      results,
      asked,
      ...(plan.prompt && {
        prompt: (await client.getPrompt({ name: plan.prompt })).messages[0].content.text,
      }),
      ...(plan.resource && { resource: (await client.readResource({ uri: plan.resource })).contents[0].text }),
    }
  } finally {
    await client.close()
  }
}

/** Python's `mcp`, in its own process. */
async function python(plan: Plan, cache: string): Promise<Driven> {
  const script = join(import.meta.dirname, 'mcp-client.py')
  // Its own process, and in the meantime nothing of ours has to run here.
  const run = spawnSync(join(cache, 'venv/bin/python'), [script, JSON.stringify(plan)], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  if (run.status !== 0) throw new Error(`the Python client failed: ${run.stderr.slice(-1500)}`)
  return JSON.parse(run.stdout)
}

export const mcpClients: readonly McpClient[] = [
  { name: '@modelcontextprotocol/client', eras: ['handshake', 'stateless'], drive: official },
  { name: '@ai-sdk/mcp', eras: ['handshake'], drive: aiSdk },
  { name: 'Python mcp', eras: ['handshake', 'stateless'], drive: python },
]
