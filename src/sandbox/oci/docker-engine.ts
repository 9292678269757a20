/**
 * Docker as an engine: a daemon's container for each call. Leftovers of a killed Cordon end by
 * their own time limit and are removed at the next start.
 */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { Fault } from '../../system/fault.ts'
import { isSameProcess } from '../../system/processes.ts'
import { type LimitReport, reportLimits, resourceLimits } from '../limits.ts'
import { endOnTime } from './confined.ts'
import { type ContainerRoot, containerRoot } from './container-root.ts'
import {
  type ContainerEngine,
  type ContainerLimits,
  type ContainerOutcome,
  type ContainerRun,
  limitHit,
} from './engine.ts'
import { CONTAINER_PLACES, entryArgv, WORK } from './layout-spec.ts'
import { findEngineProgram } from './local-engine.ts'
import { commonWords, probeEngine } from './probe.ts'
import { containerUser, openStage, type Stage } from './stage.ts'

interface DockerOptions {
  readonly place: string
  /** Where the daemon is, from the person's own environment. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly folders?: readonly string[]
}

const WALL = 'a docker container of the host’s kernel, as an unprivileged user'
const LABEL = 'cordon.run'
/** The daemon answers at once or not at all. */
const ANSWER_MS = 20_000

/** An image named by its content: `name@sha256:…`. A tag may be another image tomorrow. */
export const IMAGE_BY_DIGEST: RegExp = /^[a-z0-9][\w./:-]*@sha256:[0-9a-f]{64}$/

export function dockerEngine(options: DockerOptions): ContainerEngine {
  const env = dockerEnvironment(options.env)
  const program = () => findEngineProgram('docker', options.folders)
  const engine: ContainerEngine = {
    name: 'docker',
    images: true,
    probe: async (limits) => {
      const docker = program()
      if (docker === null) return { works: false, why: 'docker is not installed' }
      const asked = spawnSync(docker, ['version', '--format', '{{.Server.Version}}'], {
        env,
        encoding: 'utf8',
        timeout: ANSWER_MS,
      })
      if (asked.status !== 0) {
        return { works: false, why: `the docker daemon does not answer: ${(asked.stderr ?? '').trim().slice(0, 200)}` }
      }
      reapContainers(docker, env)
      return probeEngine(engine, limits, WALL, reports(limits))
    },
    run: (run) => runInDocker(run, options.place, program(), env),
  }
  return engine
}

function dockerEnvironment(env: DockerOptions['env']): Record<string, string> {
  const names = ['PATH', 'HOME', 'DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'XDG_RUNTIME_DIR']
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])))
}

function reports({ memoryBytes, cpus, processes, fileBytes }: ContainerLimits): LimitReport[] {
  const daemon = { version: 2, memory: true, pids: true, cpu: true } as const
  const promised = reportLimits({ memoryBytes, cpus, processes, fileBytes }, daemon, 1, false)
  return promised.map((one) => (one.limit === 'fileBytes' ? one : { ...one, how: 'the docker daemon’s control group' }))
}

async function runInDocker(
  run: ContainerRun,
  place: string,
  docker: string | null,
  env: Record<string, string>,
): Promise<ContainerOutcome> {
  if (docker === null) throw new Fault('no-engine', 'docker is not installed')
  const user = containerUser() ?? process.getuid?.() ?? 65_534
  const stage = openStage(place, run, process.getuid?.() === 0 ? user : null)
  const name = `cordon-${basename(stage.path)}`
  try {
    const layout = run.image === null ? containerRoot() : { shown: [], links: [] }
    const image = run.image ?? rootImage(docker, env, stage, layout)
    const { memoryBytes, cpus, processes, fileBytes, timeoutMs } = run.limits
    const rlimits = resourceLimits({ fileBytes }, null)
    const ends = ['timeout', '--signal=KILL', String(Math.ceil(timeoutMs / 1000) + 1)]
    const argv = [
      ...[docker, 'run', '--rm', '--name', name, '--label', `${LABEL}=${basename(stage.path)}`, '--pull=never'],
      ...['--memory', String(memoryBytes), '--memory-swap', String(memoryBytes), '--cpus', String(cpus)],
      ...[
        '--pids-limit',
        String(processes + 8),
        '--user',
        `${user}:${user}`,
        '--log-driver',
        'none',
        '--entrypoint',
        '',
      ],
      ...commonWords({ layout, stage, fileBytes, rlimits }),
      ...[image, ...ends, ...entryArgv(run.argv, run.outputs, CONTAINER_PLACES)],
    ]
    const result = await endOnTime(argv, env, run.limits, run.signal)
    if (result.stopped !== null) spawnSync(docker, ['rm', '-f', name], { env, timeout: ANSWER_MS })
    run.signal.throwIfAborted()
    if (result.exitCode === 125 && result.stopped === null) {
      throw new Fault(
        'engine-failed',
        `docker could not start a container: ${result.stderr.bytes.toString('utf8').slice(0, 400)}`,
      )
    }
    const { exitCode, stdout, stderr, milliseconds } = result
    return {
      engine: 'docker',
      exitCode,
      stdout,
      stderr,
      hit: limitHit(result, []),
      files: stage.collect(fileBytes),
      milliseconds,
    }
  } finally {
    stage.remove()
  }
}

/** An image of links and empty mount points, named by them: docker runs no directory. It stays, for the next call. */
function rootImage(docker: string, env: Record<string, string>, stage: Stage, layout: ContainerRoot): string {
  const tag = `cordon-layout:${createHash('sha256')
    .update(JSON.stringify([layout, 2]))
    .digest('hex')
    .slice(0, 16)}`
  if (spawnSync(docker, ['image', 'inspect', tag], { env, timeout: ANSWER_MS }).status === 0) return tag
  const bundle = stage.bundle(layout, ['/in', '/out', WORK])
  const packed = spawnSync('tar', ['--directory', `${bundle}/rootfs`, '--exclude', './out/*', '--create', '.'], {
    timeout: ANSWER_MS,
  })
  const created = spawnSync(docker, ['import', '-', tag], { env, input: packed.stdout, timeout: ANSWER_MS })
  if (packed.status !== 0 || created.status !== 0)
    throw new Fault('engine-failed', `docker accepts no image: ${created.stderr}`)
  return tag
}

/** Removes the containers of Cordons that are gone. */
function reapContainers(docker: string, env: Record<string, string>): void {
  const listed = spawnSync(
    docker,
    ['ps', '--all', '--filter', `label=${LABEL}`, '--format', `{{.Names}} {{.Label "${LABEL}"}}`],
    {
      env,
      encoding: 'utf8',
      timeout: ANSWER_MS,
    },
  )
  for (const line of (listed.stdout ?? '').split('\n')) {
    const [, name, pid, started] = /^(cordon-\S+) run-(\d+)-(\d+)-\d+$/.exec(line) ?? []
    if (name === undefined || isSameProcess(Number(pid), started === '0' ? null : started!)) continue
    spawnSync(docker, ['rm', '-f', name], { env, timeout: ANSWER_MS })
  }
}
