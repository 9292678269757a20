/** A port on which a command served, and the line that tells of it. */

/** What became of one listed port on which a command served. */
export interface ServedPort {
  readonly port: number
  /** Why it could not be opened on this machine; null when it was. */
  readonly problem: string | null
  readonly connections: number
  /** Bytes to the server, and from it. */
  readonly up: number
  readonly down: number
}

/** Where servers inside are opened on this machine. */
export const LOOPBACK = '127.0.0.1'

/** One line for a person or an agent. */
export function servedLine({ port, problem }: Pick<ServedPort, 'port' | 'problem'>): string {
  if (problem === null) return `serving: the command's server can be reached at http://${LOOPBACK}:${port}`
  return `not served: port ${port} of the command cannot be reached from outside, because ${problem}`
}

/** The same for a port that no one opened. */
export function unlistedLine(port: number): string {
  return `listening on ${port}, reachable only inside the sandbox; to open it: cordon run --port ${port} …`
}
