/** Public entry: the MCP server over any transport. */

export { type HttpServer, serveHttp } from '../surfaces/mcp/http.ts'
export type { ServerOptions } from '../surfaces/mcp/served-project.ts'
export { McpServer } from '../surfaces/mcp/server.ts'
export { serveStdio } from '../surfaces/mcp/stdio.ts'
export type { Send } from '../system/json-rpc.ts'
