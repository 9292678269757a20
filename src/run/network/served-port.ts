/** A port on which a command served, and its notice. */

/** A listed port on which a command served, and whether it was opened. */
export interface ServedPort {
  readonly port: number
  /** Why it could not be opened on this machine; null if it was. */
  readonly problem: string | null
  readonly connections: number
  /** Bytes to and from the server. */
  readonly up: number
  readonly down: number
}

/** The address of forwarded ports on this machine. */
export const LOOPBACK = '127.0.0.1'

/** One line for a person or an agent. */
export function servedLine({ port, problem }: Pick<ServedPort, 'port' | 'problem'>): string {
  if (problem === null) return `serving: the command's server can be reached at http://${LOOPBACK}:${port}`
  return `not served: port ${port} of the command cannot be reached from outside, because ${problem}`
}

/** The same for a port that was not forwarded. */
export function unlistedLine(port: number): string {
  return `listening on ${port}, reachable only inside the sandbox; to open it: cordon run --port ${port} …`
}
