/** Limits of a proxy: open connections, buffers and timeouts of one command. */

export interface ProxyLimits {
  readonly connections: number
  /** Concurrent requests on one connection: all pipelined ones stay in memory. */
  readonly pipelined: number
  readonly headerBytes: number
  /** Until a request head or a TLS hello is complete. */
  readonly headMilliseconds: number
  /** Until the host is connected, with TLS. */
  readonly connectMilliseconds: number
  /** Without a byte in either direction; long, because a model may take minutes to answer. */
  readonly idleMilliseconds: number
  /** How long a client may be silent before the server of a raw port is expected to speak first. */
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
