/** The public face of the MCP server: the guarded tools over a transport of your choice. */

export { type HttpServer, serveHttp } from './http.ts'
export type { Send } from './json-rpc.ts'
export type { ServerOptions } from './served-project.ts'
export { McpServer } from './server.ts'
export { serveStdio } from './stdio.ts'
