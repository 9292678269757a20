/** Names of MCP servers and their tools. PURE. */

/** A server's name comes before the names of its tools and in resource addresses, so it contains no separator. */
export const SERVER_NAME: RegExp = /^[a-z0-9][a-z0-9-]{0,39}$/

export interface McpName {
  readonly server: string
  readonly tool: string
  /** Another server's tool could have the same name, so a grant to one of them does not apply. */
  readonly isAmbiguous: boolean
}

/** The server and the tool in `mcp__SERVER__TOOL`. */
export function readMcpName(called: string): McpName {
  const [, server = '', tool = ''] = /^mcp__(.+?)__(.+)$/s.exec(called) ?? []
  return { server, tool, isAmbiguous: tool.includes('__') }
}
