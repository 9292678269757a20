/** The official MCP server with its own OAuth example, as tests reach it over HTTP. */

import type { RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

const express = createRequire(import.meta.url)('express')

export interface NotesOptions {
  /** Whom it names as its authorization server. */
  readonly issuer?: string
  /** It asks for no login. */
  readonly isOpen?: boolean
  /** Each call of a tool, with the client's token. */
  readonly called?: (tool: string, token: string | undefined) => void
  /** It writes the client's token into its results. */
  readonly isTelling?: boolean
}

/** `read` only reads, `add` does not. */
export function notesServer(
  origin: string,
  { issuer = origin, isOpen, called, isTelling }: NotesOptions = {},
): RequestListener {
  const provider = new DemoInMemoryAuthProvider()
  const app = express()
  app.use(express.json())
  const resourceServerUrl = new URL(`${origin}/mcp`)
  if (issuer === origin) app.use(mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl }))
  else
    app.get('/.well-known/oauth-protected-resource/mcp', (_: unknown, response: { json: (value: object) => void }) =>
      response.json({ resource: resourceServerUrl.href, authorization_servers: [issuer] }),
    )
  const resourceMetadataUrl = `${origin}/.well-known/oauth-protected-resource/mcp`
  if (!isOpen) app.use('/mcp', requireBearerAuth({ verifier: provider, resourceMetadataUrl }))
  app.post('/mcp', async (message: { body: unknown }, response: never) => {
    const server = new McpServer({ name: 'notes', version: '1' })
    const tool = (name: string, description: string, readOnlyHint: boolean, text: string): void =>
      void server.registerTool(name, { description, annotations: { readOnlyHint } }, ({ authInfo }) => {
        called?.(name, authInfo?.token)
        return { content: [{ type: 'text', text: isTelling ? `${text} ${authInfo?.token}` : text }] }
      })
    tool('read', 'Reads the notes.', true, 'two notes')
    tool('add', 'Adds a note.', false, 'added')
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
    await server.connect(transport)
    await transport.handleRequest(message as never, response, message.body)
  })
  return app
}
