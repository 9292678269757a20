/** Limits of a proxy: how much one command may hold open, and how long anybody may be kept waiting. */

export interface ProxyLimits {
  readonly connections: number
  /** Requests under way on one connection: a client that pipelines more would make us hold them all. */
  readonly pipelined: number
  readonly headerBytes: number
  /** Until a request head or a TLS hello is complete. */
  readonly headMilliseconds: number
  /** Until a connection to the host stands, TLS included. */
  readonly connectMilliseconds: number
  /** Without a byte in either direction; long, because a model may think for minutes before it answers. */
  readonly idleMilliseconds: number
  /** How long a client may stay silent before a tunnel to a raw port counts as one where the server speaks first. */
  readonly serverFirstMilliseconds: number
}

export const DEFAULT_LIMITS: ProxyLimits = {
  connections: 4096,
  pipelined: 100,
  headerBytes: 64 * 1024,
  headMilliseconds: 30_000,
  connectMilliseconds: 20_000,
  idleMilliseconds: 15 * 60_000,
  serverFirstMilliseconds: 300,
}
