/** Which engines the tests run: the OS sandbox always, and runc where it is; with CORDON_ENGINES, those (`npm run test:engines`). */

import { ENGINE_NAMES, type EngineName } from '../../../src/sandbox/oci/engine.ts'
import { findEngineProgram } from '../../../src/sandbox/oci/local-engine.ts'

export function enginesHere(): readonly EngineName[] {
  const named = process.env.CORDON_ENGINES
  if (named !== undefined) return ENGINE_NAMES.filter((name) => named.split(',').includes(name))
  return findEngineProgram('runc') === null ? ['os'] : ['os', 'runc']
}
