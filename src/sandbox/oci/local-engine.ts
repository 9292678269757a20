/** Engines without a daemon: an OCI runtime called directly (runc, crun, runsc), or podman with its own store for each call. */

import { accessSync, constants, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Fault } from '../../system/fault.ts'
import { type CgroupSupport, type LimitReport, reportLimits, resourceLimits } from '../limits.ts'
import { type CgroupHost, makeCgroup } from '../limits-cgroup.ts'
import { ENGINE_STATE, type EngineResult, runEngine } from './confined.ts'
import { type ContainerRoot, containerRoot } from './container-root.ts'
import {
  type ContainerEngine,
  type ContainerLimits,
  type ContainerOutcome,
  type ContainerRun,
  type EngineName,
  limitHit,
} from './engine.ts'
import { CONTAINER_PLACES, entryArgv, WORK } from './layout-spec.ts'
import { podmanArgv, podmanEnvironment, probeEngine } from './probe.ts'
import { containerSpec } from './spec.ts'
import { containerUser, openStage, type Stage } from './stage.ts'

type LocalEngineName = Extract<EngineName, 'runc' | 'crun' | 'runsc' | 'podman'>

interface LocalEngineOptions {
  /** Where the files of containers lie meanwhile. */
  readonly place: string
  /** The control groups of this machine; asked once they are needed. */
  readonly cgroups: () => CgroupHost | null
  /** Folders to search for programs. */
  readonly folders?: readonly string[]
}

/** Where programs of the system lie. Not the PATH: `npm run` puts the project's own programs first. */
const SYSTEM_FOLDERS: readonly string[] = [
  '/usr/bin',
  '/usr/sbin',
  '/usr/local/bin',
  '/usr/local/sbin',
  '/bin',
  '/sbin',
]

/** Processes of the engine itself, which the control group counts too, such as gVisor's kernel. */
const OWN_PROCESSES: Readonly<Record<LocalEngineName, number>> = { runc: 40, crun: 8, runsc: 200, podman: 100 }
/** Memory of the engine itself, likewise. */
const OWN_MEMORY: Readonly<Record<LocalEngineName, number>> = {
  runc: 24 * 1024 ** 2,
  crun: 4 * 1024 ** 2,
  runsc: 48 * 1024 ** 2,
  podman: 96 * 1024 ** 2,
}

const WALLS: Readonly<Record<LocalEngineName, string>> = {
  runsc: 'gVisor: its own kernel in user space; the host’s kernel sees few of the program’s calls',
  runc: 'a container of the host’s kernel, as an unprivileged user, with the sandbox’s system call filter',
  crun: 'a container of the host’s kernel, as an unprivileged user, with the sandbox’s system call filter',
  podman: 'a podman container of the host’s kernel, as an unprivileged user',
}

export function findEngineProgram(name: string, folders: readonly string[] = SYSTEM_FOLDERS): string | null {
  const found = folders.map((folder) => join(folder, name)).find(isExecutable)
  return found ?? null
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** An engine by its name. Whether it is there and works is what its probe says. */
export function localEngine(name: LocalEngineName, options: LocalEngineOptions): ContainerEngine {
  const programOf = (wanted: string) => findEngineProgram(wanted, options.folders)
  const engine: ContainerEngine = {
    name,
    images: false,
    probe: (limits) => {
      const program = programOf(name)
      if (program === null) return Promise.resolve({ works: false, why: `${name} is not installed` })
      return probeEngine(engine, limits, WALLS[name], reports(name, limits, options.cgroups()?.support ?? null))
    },
    run: (run) => runLocally(name, run, options, programOf),
  }
  return engine
}

function reports(name: LocalEngineName, limits: ContainerLimits, support: CgroupSupport | null): LimitReport[] {
  const { memoryBytes, cpus, processes, fileBytes } = limits
  // It never runs as root, so that the count of processes of a user is its own.
  const promised = reportLimits({ memoryBytes, cpus, processes, fileBytes }, support, 1, false)
  if (name !== 'runsc' || support?.pids) return promised
  const absent = { limit: 'processes', status: 'absent', how: 'gVisor does not enforce a process count' } as const
  return promised.map((one) => (one.limit === 'processes' ? absent : one))
}

async function runLocally(
  name: LocalEngineName,
  run: ContainerRun,
  { place, cgroups }: LocalEngineOptions,
  programOf: (name: string) => string | null,
): Promise<ContainerOutcome> {
  if (run.image !== null) throw new Fault('no-engine', `${name} is called without a store of images`)
  const user = containerUser()
  const stage = openStage(place, run, user)
  const host = cgroups()
  const { memoryBytes, cpus, processes, fileBytes } = run.limits
  try {
    const group =
      host &&
      makeCgroup(host, {
        memoryBytes: memoryBytes + OWN_MEMORY[name],
        cpus,
        processes: processes + OWN_PROCESSES[name],
      })
    try {
      const rlimits = resourceLimits(
        { memoryBytes, processes: processes + OWN_PROCESSES[name], fileBytes },
        host?.support ?? null,
      )
      const layout = containerRoot()
      const bundle = stage.bundle(layout, ['/in', '/out', WORK])
      const argv = entryArgv(run.argv, run.outputs, CONTAINER_PLACES)
      const words =
        name === 'podman'
          ? podmanArgv({
              program: found(programOf, name),
              runtime: runtimeOf(programOf),
              bundle,
              argv,
              layout,
              stage,
              fileBytes,
              rlimits,
            })
          : runtimeArgv(name, found(programOf, name), stage, bundle, { argv, layout, stage, fileBytes, rlimits })
      const result = await runEngine({
        argv: words,
        env: podmanEnvironment(String(user ?? process.getuid?.() ?? 0)),
        user,
        cgroup: group,
        limits: run.limits,
        signal: run.signal,
      })
      run.signal.throwIfAborted()
      requireStarted(name, result)
      return {
        engine: name,
        exitCode: result.exitCode,
        stdout: result.stdout,
        stderr: result.stderr,
        hit: limitHit(result, group?.hits() ?? []),
        files: stage.collect(fileBytes),
        milliseconds: result.milliseconds,
      }
    } finally {
      group?.removeLater()
    }
  } finally {
    stage.remove()
  }
}

interface Contents {
  readonly argv: readonly string[]
  readonly layout: ContainerRoot
  readonly stage: Stage
  readonly fileBytes: number
  readonly rlimits: Parameters<typeof containerSpec>[0]['rlimits']
}

function runtimeArgv(
  name: 'runc' | 'crun' | 'runsc',
  program: string,
  stage: Stage,
  bundle: string,
  { argv, layout, fileBytes, rlimits }: Contents,
): string[] {
  const seccomp = name !== 'runsc'
  const spec = containerSpec({ argv, layout, in: stage.in, outs: stage.outs, fileBytes, rlimits, seccomp })
  writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
  const own = {
    runc: [],
    crun: ['--cgroup-manager=disabled'],
    // systrap needs no /dev/kvm, which may open and not work.
    runsc: ['--ignore-cgroups', '--network=none', '--platform=systrap', '--overlay2=none'],
  }[name]
  return [program, ...own, '--root', `${ENGINE_STATE}/state`, 'run', '--bundle', bundle, basename(stage.path)]
}

function found(programOf: (name: string) => string | null, name: string): string {
  const program = programOf(name)
  if (program === null) throw new Fault('no-engine', `${name} is not installed`)
  return program
}

/** crun refuses hybrid control groups even where it is to make none, so runc comes first. */
function runtimeOf(programOf: (name: string) => string | null): string {
  return programOf('runc') ?? found(programOf, 'crun')
}

/** Messages of the engines when no container started. A program's own output is not enough. */
const REFUSED: Readonly<Record<LocalEngineName, RegExp>> = {
  runc: /level=error msg="runc run failed/,
  crun: /^(?:cgroups in hybrid mode|.*: (?:Operation not permitted|No such file))/m,
  runsc: /^(?:running|creating|starting) container: /m,
  podman: /^Error: /m,
}

function requireStarted(name: LocalEngineName, { exitCode, stdout, stderr, stopped }: EngineResult): void {
  if (stopped !== null || exitCode === 0 || stdout.total > 0) return
  const said = stderr.bytes.toString('utf8')
  if (!REFUSED[name].test(said) && exitCode !== 125) return
  throw new Fault(
    'engine-failed',
    `${name} could not start a container: ${said.trim().slice(0, 400) || `exit ${exitCode}`}`,
  )
}
