/**
 * Loads node:http by require: an import reads all its names, and one of them loads a WebSocket
 * client.
 */

export const http: typeof import('node:http') = process.getBuiltinModule('node:http')
