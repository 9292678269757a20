/**
 * Requests of a wrapped server to the client: forms for the person, the client's model, the project's roots. Each is
 * granted by name, marked, and recorded.
 */

import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ServerRequest } from '../../../agents/mcp/servers.ts'
import { isRecord } from '../../../system/json.ts'
import { ERROR, type Json, RpcError } from '../../../system/json-rpc.ts'
import { visibleLines } from '../../terminal/terminal.ts'
import type { Elicit } from '../rounds.ts'
import type { GatewayGate } from './gate.ts'
import { type GuardedResult, guardedValue, type Origin } from './result.ts'
import { withVisibleText } from './server-catalog.ts'

export interface ServerRequestParts {
  readonly origin: Origin
  readonly granted: readonly ServerRequest[]
  readonly root: string
  readonly gate: GatewayGate
  readonly sample: ((params: Json, signal: AbortSignal) => Promise<unknown>) | null
}

const GRANTS: Readonly<Record<string, ServerRequest>> = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
}
const MAX_MESSAGE = 4000
const MAX_SCHEMA = 32 * 1024
const SECRET_WORDS = /pass(?:word|phrase|code)|secret|token|api.?key|private.?key|credential|\bpin\b|one.?time/i

/** Answers one request of a server, or refuses it with a reason. */
export async function answerServer(
  method: string,
  params: Json,
  parts: ServerRequestParts,
  elicit: Elicit | null,
  signal: AbortSignal,
): Promise<unknown> {
  const { granted, gate, root } = parts
  const { label } = parts.origin
  const wanted = Object.hasOwn(GRANTS, method) ? GRANTS[method]! : null
  if (wanted === null) throw new RpcError(ERROR.method, `"${method}" is not passed on`)
  if (!granted.includes(wanted)) {
    throw new RpcError(
      ERROR.method,
      `"${method}" is not passed on: [mcp_servers.${label}] does not name "${wanted}" under requests`,
    )
  }
  if (wanted === 'roots') return { roots: [{ uri: pathToFileURL(root).href, name: basename(root) }] }
  const called = `mcp_${wanted}__${label}`
  const work = wanted === 'elicitation' ? elicited(params, parts, elicit, signal) : sampled(params, parts, signal)
  // The grant allows the form, which is the question itself; a level of deny still refuses it.
  const way = wanted === 'elicitation' ? approving : elicit
  const gated = await gate.pass({ called, server: label, input: params, elicit: way }, work, signal)
  if ('result' in gated) return gated.result.json
  throw new RpcError(ERROR.refused, 'refused' in gated ? gated.refused : gated.failed)
}

const approving: Elicit = async () => ({ action: 'accept', content: { answer: 'once' } })

function elicited(
  params: Json,
  { origin: { label } }: ServerRequestParts,
  elicit: Elicit | null,
  signal: AbortSignal,
): () => Promise<GuardedResult> {
  return async () => {
    if (!elicit) throw new Error('no one can be asked')
    const { message, requestedSchema, mode = 'form' } = params
    if (mode !== 'form') throw new Error('only forms are passed on: an address to open could point anywhere')
    const schema = JSON.stringify(requestedSchema ?? {})
    if (!isRecord(requestedSchema) || schema.length > MAX_SCHEMA) throw new Error('the form is not valid')
    const asksSecret = SECRET_WORDS.test(`${String(message)} ${schema}`)
    const shown = [
      `The MCP server “${label}” asks: ${visibleLines(String(message ?? '').slice(0, MAX_MESSAGE))}`,
      ...(asksSecret ? ['(Cordon: what you type goes to that server. Do not give it passwords or keys.)'] : []),
    ].join('\n')
    const answer = await elicit({ message: shown, requestedSchema: withVisibleText(requestedSchema) }, signal)
    if (!isRecord(answer) || typeof answer.action !== 'string') throw new Error('the client gave no answer')
    const { action, content } = answer
    const json = { action, ...(action === 'accept' && isRecord(content) && { content }) }
    return { json, text: action, isError: false, injection: null }
  }
}

function sampled(
  params: Json,
  { origin, sample }: ServerRequestParts,
  signal: AbortSignal,
): () => Promise<GuardedResult> {
  return async () => {
    if (!sample) throw new Error('the client offers no model')
    const { messages, modelPreferences, systemPrompt, maxTokens, temperature, stopSequences } = params
    // Without tools and other servers' context: only this server's own text.
    const asked = {
      messages,
      ...(modelPreferences !== undefined && { modelPreferences }),
      systemPrompt: `[asked by the MCP server “${origin.label}”] ${typeof systemPrompt === 'string' ? systemPrompt : ''}`,
      includeContext: 'none',
      maxTokens,
      ...(temperature !== undefined && { temperature }),
      ...(stopSequences !== undefined && { stopSequences }),
    }
    const given = await sample(asked, signal)
    if (!isRecord(given)) throw new Error('the client gave no answer')
    return { json: guardedValue(given, origin) as Json, text: '', isError: false, injection: null }
  }
}
