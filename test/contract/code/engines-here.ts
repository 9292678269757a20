/**
 * Which engines the tests run: the OS sandbox, and those that CORDON_ENGINES names (`npm test -- engines`). What happens to be installed
 * changes nothing, and one that is named and not here fails.
 */

import { ENGINE_NAMES, type EngineName } from '../../../src/sandbox/oci/engine.ts'
import { COMMAND_ENGINES, type CommandEngine } from '../../../src/sandbox/oci/gvisor-backend.ts'
import { findEngineProgram } from '../../../src/sandbox/oci/local-engine.ts'

const named = (process.env.CORDON_ENGINES ?? 'os').split(',')
const missing = named.filter((name) => name !== 'os' && findEngineProgram(name) === null)
if (missing.length > 0) throw new Error(`CORDON_ENGINES names ${missing.join(', ')}, which is not installed here`)

/** Of `sandbox_run`. */
export function enginesHere(): readonly EngineName[] {
  return ENGINE_NAMES.filter((name) => named.includes(name))
}

/** Of ordinary commands. */
export function commandEnginesHere(): readonly CommandEngine[] {
  return COMMAND_ENGINES.filter((name) => named.includes(name))
}
