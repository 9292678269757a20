/** Container engines as backends of ordinary commands: `[sandbox.os] backend`. */

import type { Backend } from '../backend.ts'
import { createInitBackend, type InitBackendOptions } from '../bwrap/backend.ts'
import { runcLayer } from './room-layer.ts'

export type CommandEngine = 'runc'

/** An engine that is missing, or does not do what it should, runs nothing. */
export function createContainerBackend(engine: CommandEngine, options: InitBackendOptions = {}): Backend {
  return createInitBackend(engine, runcLayer, options)
}
