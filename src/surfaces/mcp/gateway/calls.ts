/** Calls through the gateway: finds the server, judges the call, and cleans its result. */

import { isRecord } from '../../../system/json.ts'
import { ERROR, type Json, RpcError } from '../../../system/json-rpc.ts'
import type { Gated, GatewayGate } from './gate.ts'
import { innerUri, type Names } from './namespace.ts'
import { guardedCompletion, guardedContents, guardedPrompt, guardedResult } from './result.ts'
import { schemaProblem } from './schema-check.ts'
import type { GatewayServer } from './server.ts'
import type { CallContext } from './wrapped-server.ts'

export class GatewayCalls {
  readonly #servers: ReadonlyMap<string, GatewayServer>
  readonly #gate: GatewayGate
  readonly #names: Names

  constructor(servers: ReadonlyMap<string, GatewayServer>, gate: GatewayGate, names: Names) {
    this.#servers = servers
    this.#names = names
    this.#gate = gate
  }

  /**
   * A tool call: checks the input against its schema and cleans the result. A refusal is a result, so that the agent
   * reads the reason.
   */
  async tool(params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { name, arguments: given = {} } = params
    const { server, inner } = this.#named(name, 'tool')
    const tools = await server.catalog.accepted('tools', context.elicit, signal)
    const tool = tools.find(({ definition }) => definition.name === inner)
    if (!tool) throw new RpcError(ERROR.params, `there is no tool ${JSON.stringify(name)}`)
    const problem = schemaProblem(tool.definition.inputSchema, given, 'the input')
    if (problem) throw new RpcError(ERROR.params, problem)
    if (!isRecord(given)) throw new RpcError(ERROR.params, '"arguments" must be an object')
    const called = `mcp__${server.label}__${inner}`
    const { annotations } = tool.definition
    const hints = isRecord(annotations) ? annotations : {}
    const gated = await this.#gate.pass(
      { called, server: server.label, input: given, hints, elicit: context.elicit },
      async () => {
        const result = await server.request('tools/call', { name: inner, arguments: given }, context, signal)
        return guardedResult(result, tool.definition.outputSchema, called, server.origin)
      },
      signal,
    )
    if ('result' in gated) return gated.result.json
    const text = 'refused' in gated ? gated.refused : gated.failed
    return { content: [{ type: 'text', text }], isError: true }
  }

  async prompt(params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { name, arguments: given = {} } = params
    const { server, inner } = this.#named(name, 'prompt')
    const prompts = await server.catalog.accepted('prompts', context.elicit, signal)
    if (!prompts.some(({ definition }) => definition.name === inner)) {
      throw new RpcError(ERROR.params, `there is no prompt ${JSON.stringify(name)}`)
    }
    if (!isRecord(given) || !Object.values(given).every((value) => typeof value === 'string')) {
      throw new RpcError(ERROR.params, '"arguments" must be an object of texts')
    }
    const sent = { name: inner, arguments: given }
    return unwrapped(
      await this.#gate.pass(
        { called: `mcp_prompts__${server.label}`, server: server.label, input: sent, elicit: context.elicit },
        async () => guardedPrompt(await server.request('prompts/get', sent, context, signal), server.origin),
        signal,
      ),
    )
  }

  async read(params: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    const { server, uri } = this.resource(params.uri)
    return unwrapped(
      await this.#gate.pass(
        { called: `mcp_resources__${server.label}`, server: server.label, input: { uri }, elicit: context.elicit },
        async () => guardedContents(await server.request('resources/read', { uri }, context, signal), server.origin),
        signal,
      ),
    )
  }

  /** Completions follow every keystroke, so they never ask: they need a level of allow. */
  async complete({ ref, argument, context: given }: Json, context: CallContext, signal: AbortSignal): Promise<Json> {
    if (!isRecord(ref) || !isRecord(argument)) throw new RpcError(ERROR.params, '"ref" and "argument" must be objects')
    const isPrompt = ref.type === 'ref/prompt'
    const at = isPrompt ? this.#named(ref.name, 'prompt') : this.resource(ref.uri)
    const { server } = at
    const inner = 'inner' in at ? { type: 'ref/prompt', name: at.inner } : { type: 'ref/resource', uri: at.uri }
    const called = `mcp_${isPrompt ? 'prompts' : 'resources'}__${server.label}`
    await server.wrapped.ready()
    if (!(await this.#gate.isOpen(called)) || !server.wrapped.has('completions')) return { completion: { values: [] } }
    const sent = { ref: inner, argument, ...(isRecord(given) && { context: given }) }
    const gated = await this.#gate.pass(
      { called, server: server.label, input: sent, elicit: null },
      async () => {
        const json = guardedCompletion(
          await server.request('completion/complete', sent, context, signal),
          server.origin,
        )
        return { json, text: '', isError: false, injection: null }
      },
      signal,
    )
    return unwrapped(gated)
  }

  #named(outer: unknown, what: string): { readonly server: GatewayServer; readonly inner: string } {
    const found = this.#names.inner(outer)
    const server = found ? this.#servers.get(found.label) : undefined
    if (!found || !server) throw new RpcError(ERROR.params, `there is no ${what} ${JSON.stringify(outer)}`)
    return { server, inner: found.name }
  }

  /** A resource to subscribe to: nobody is asked, so only a denial refuses it. */
  async subscribable(outer: unknown): Promise<{ readonly server: GatewayServer; readonly uri: string }> {
    const found = this.resource(outer)
    await this.#gate.refuseDenied(`mcp_resources__${found.server.label}`)
    return found
  }

  resource(outer: unknown): { readonly server: GatewayServer; readonly uri: string } {
    const found = innerUri(outer)
    const server = found ? this.#servers.get(found.label) : undefined
    if (!found || !server) throw new RpcError(ERROR.params, `there is no resource ${JSON.stringify(outer)}`)
    return { server, uri: found.uri }
  }
}

function unwrapped(gated: Gated): Json {
  if ('result' in gated) return gated.result.json
  throw new RpcError(
    'refused' in gated ? ERROR.refused : ERROR.internal,
    'refused' in gated ? gated.refused : gated.failed,
  )
}
