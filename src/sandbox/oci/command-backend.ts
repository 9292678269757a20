/** Container engines as backends of ordinary commands: `[sandbox.os] backend`. */

import type { Backend } from '../backend.ts'
import { createInitBackend, type InitBackendOptions } from '../bwrap/backend.ts'
import { createGvisorBackend } from './gvisor-backend.ts'
import { runcLayer } from './sandbox-layer.ts'

/** The engines that commands can run in. */
export const COMMAND_ENGINES = ['runc', 'runsc'] as const

export type CommandEngine = (typeof COMMAND_ENGINES)[number]

/** An engine that is missing, or does not do what it should, runs nothing. */
export function createContainerBackend(engine: CommandEngine, options: InitBackendOptions = {}): Backend {
  if (engine === 'runsc') return createGvisorBackend()
  return createInitBackend(engine, runcLayer, options)
}
