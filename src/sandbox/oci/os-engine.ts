/** The OS sandbox as an engine: without a container engine, the same limits and view. */

import { Fault } from '../../system/fault.ts'
import { type Backend, type LaunchIo, requireCapable } from '../backend.ts'
import type { LimitReport, Limits } from '../limits.ts'
import { planSandbox, type SandboxPlan } from '../plan.ts'
import { readHostFacts } from '../session.ts'
import type { Violation } from '../violation.ts'
import { KeptOutput } from './confined.ts'
import { containerRoot } from './container-root.ts'
import {
  type ContainerEngine,
  type ContainerLimits,
  type ContainerOutcome,
  type ContainerRun,
  limitHit,
} from './engine.ts'
import { ENTRY_ENVIRONMENT, entryArgv, WORK } from './layout-spec.ts'
import { probeEngine } from './probe.ts'
import { openStage } from './stage.ts'

interface OsEngineOptions {
  readonly place: string
  readonly backend: Backend
  /** How the backend enforces each of these limits here. */
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

/** A limit that the kernel counted; an inferred one is read here from the program's end. */
function countedLimit({ certainty, limit }: Violation): ('memory' | 'processes')[] {
  return certainty === 'observed' && (limit === 'memory' || limit === 'processes') ? [limit] : []
}

/** The OS sandbox for code of a model: the machine's programs, nothing of the project, no network, a directory in memory to work in. */
export interface CodeSandbox {
  readonly argv: readonly string[]
  /** Shown read-only, beside the machine's programs. */
  readonly reads: readonly string[]
  /** Single files that it may fill. */
  readonly writes?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly limits: Limits
}

/** No secret is in sight of it, so that there is nothing to mask, and nothing to protect. */
function planCodeSandbox({ argv, reads, writes = [], env = {}, limits }: CodeSandbox): SandboxPlan {
  const layout = containerRoot()
  const sight = {
    baseline: 'none' as const,
    home: WORK,
    cwd: WORK,
    reads: [...layout.shown, ...layout.links.map(({ path }) => path), ...reads],
    writes,
    scratch: [WORK],
    unixSockets: false,
  }
  return planSandbox({
    ...sight,
    argv,
    env: { ...ENTRY_ENVIRONMENT, ...env },
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    masks: [],
    pins: [],
    network: 'none',
    limits,
    facts: readHostFacts(sight),
  })
}

/** Runs a program there: its exit code, and what was stopped. */
export async function runCodeSandbox(
  backend: Backend,
  layout: CodeSandbox,
  io: LaunchIo,
): Promise<{ readonly exitCode: number; readonly notes: readonly string[] }> {
  const plan = planCodeSandbox(layout)
  requireCapable(backend, plan, io)
  const { exitCode, violations } = await backend.launch(plan, io)
  return { exitCode, notes: violations.map(({ certainty, message }) => `${certainty}: ${message}`) }
}
