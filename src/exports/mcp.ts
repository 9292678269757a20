/** The public face of the MCP server: the guarded tools over a transport of your choice. */

export { type HttpServer, serveHttp } from '../surfaces/mcp/http.ts'
export type { Send } from '../surfaces/mcp/json-rpc.ts'
export type { ServerOptions } from '../surfaces/mcp/served-project.ts'
export { McpServer } from '../surfaces/mcp/server.ts'
export { serveStdio } from '../surfaces/mcp/stdio.ts'
