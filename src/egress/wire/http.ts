/** node:http, asked for and not imported: an import reads all of its names, and one of them loads a WebSocket client. */

export const http: typeof import('node:http') = process.getBuiltinModule('node:http')
