/**
 * One interface for both eras of MCP. Until 2025-11-25 a client shakes hands once and both sides may ask; from
 * 2026-07-28 each request carries its context, there is no state, and a server asks in its result.
 */

import { isRecord } from '../../system/json.ts'
import { ERROR, type Json, RpcError } from '../../system/json-rpc.ts'
import { version } from '../../system/version.ts'

/** Revisions with a handshake, newest first. */
export const HANDSHAKE_REVISIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26']

/** The stateless revision. */
export const STATELESS_REVISION = '2026-07-28'

/** All supported revisions. */
export const REVISIONS: readonly string[] = [STATELESS_REVISION, ...HANDSHAKE_REVISIONS]

/** Keys that the stateless revision reserves in `_meta`. */
export const META = {
  revision: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  client: 'io.modelcontextprotocol/clientInfo',
  server: 'io.modelcontextprotocol/serverInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

/** A stateless request's description of its client. */
export interface Envelope {
  readonly capabilities: Json
  readonly logLevel: string | null
}

/** The envelope of a stateless request, or null. Throws if unsupported. */
export function readEnvelope(params: Json): Envelope | null {
  const meta = isRecord(params._meta) ? params._meta : {}
  const revision = meta[META.revision]
  if (revision === undefined) return null
  if (typeof revision !== 'string') throw new RpcError(ERROR.params, `"${META.revision}" must be a text`)
  if (revision !== STATELESS_REVISION) throw unsupported(revision)
  const capabilities = meta[META.capabilities]
  if (!isRecord(capabilities)) throw new RpcError(ERROR.params, `"_meta" needs "${META.capabilities}", an object`)
  const logLevel = meta[META.logLevel]
  return { capabilities, logLevel: typeof logLevel === 'string' ? logLevel : null }
}

/** The error for an unsupported revision. */
export function unsupported(requested: string): RpcError {
  return new RpcError(ERROR.revision, `the revision ${requested.slice(0, 40)} is not supported here`, {
    supported: REVISIONS,
    requested: requested.slice(0, 40),
  })
}

export function agreedRevision(proposed: unknown): string {
  return HANDSHAKE_REVISIONS.find((known) => known === proposed) ?? HANDSHAKE_REVISIONS[0]!
}

/** Results with a cache lifetime. Ours is zero: a policy can change at any time. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
])

/** A result in the stateless form. */
export function sealed(method: string, result: Json, serverName: string): Json {
  const complete = result.resultType === undefined || result.resultType === 'complete'
  return {
    resultType: 'complete',
    ...result,
    ...(complete && CACHEABLE.has(method) && { ttlMs: 0, cacheScope: 'private' }),
    _meta: { ...(isRecord(result._meta) && result._meta), [META.server]: { name: serverName, version } },
  }
}

/** The answer to `server/discover`. */
export function discovered(capabilities: Json, instructions: string | null): Json {
  return { supportedVersions: REVISIONS, capabilities, ...(instructions !== null && { instructions }) }
}

/** Whether a client can show a form to its person. */
export function elicitsForms({ elicitation }: Json): boolean {
  // An empty object meant forms in older revisions.
  return isRecord(elicitation) && (isRecord(elicitation.form) || Object.keys(elicitation).length === 0)
}
