/** The OS sandbox as an engine: where there is not a container engine, the same limits and the same view on the backend. */

import { Fault } from '../../system/fault.ts'
import { type Backend, requireCapable } from '../backend.ts'
import type { LimitReport } from '../limits.ts'
import type { Violation } from '../violation.ts'
import { planCodeSandbox } from './code-sandbox.ts'
import type { ContainerEngine, ContainerLimits, ContainerOutcome, ContainerRun } from './engine.ts'
import { entryArgv } from './entry.ts'
import { limitHit } from './hit.ts'
import { KeptOutput } from './kept-output.ts'
import { probeEngine } from './probe.ts'
import { openStage } from './stage.ts'

export interface OsEngineOptions {
  readonly place: string
  readonly backend: Backend
  /** How the backend holds each of these limits here. */
  readonly reports: (limits: ContainerLimits) => readonly LimitReport[]
}

/** The last engine: where not even this one runs, nothing does. */
export function osEngine({ place, backend, reports }: OsEngineOptions): ContainerEngine {
  const engine: ContainerEngine = {
    name: 'os',
    images: false,
    probe: (limits) => probeEngine(engine, limits, `the OS sandbox (${backend.name})`, reports(limits)),
    run: (run) => runInSandbox(run, place, backend),
  }
  return engine
}

async function runInSandbox(run: ContainerRun, place: string, backend: Backend): Promise<ContainerOutcome> {
  if (run.image !== null) throw new Fault('no-engine', 'the OS sandbox has no images')
  const stage = openStage(place, run, null)
  try {
    const { memoryBytes, cpus, processes, timeoutMs, outputBytes, fileBytes } = run.limits
    const plan = planCodeSandbox({
      argv: entryArgv(run.argv, run.outputs, stage),
      reads: [stage.in],
      writes: stage.outs.map(({ path }) => path),
      limits: { memoryBytes, cpus, processes, timeoutMs, outputBytes, fileBytes, scratchBytes: fileBytes },
    })
    const flood = new AbortController()
    const [out, err] = [new KeptOutput(outputBytes, flood), new KeptOutput(outputBytes, flood)]
    const io = { stdout: out, stderr: err, signal: AbortSignal.any([run.signal, flood.signal]) }
    requireCapable(backend, plan, io)
    const { exitCode, timedOut, violations, milliseconds } = await backend.launch(plan, io)
    run.signal.throwIfAborted()
    const [stdout, stderr] = [out.captured(), err.captured()]
    const stopped = flood.signal.aborted ? 'output' : timedOut ? 'time' : null
    return {
      engine: 'os',
      exitCode,
      stdout,
      stderr,
      hit: limitHit({ exitCode, stopped, stderr }, violations.flatMap(countedLimit)),
      files: stage.collect(fileBytes),
      milliseconds,
    }
  } finally {
    stage.remove()
  }
}

/** A limit that the kernel counted; what is only inferred is read here from the end of the program. */
function countedLimit({ certainty, limit }: Violation): ('memory' | 'processes')[] {
  return certainty === 'observed' && (limit === 'memory' || limit === 'processes') ? [limit] : []
}
