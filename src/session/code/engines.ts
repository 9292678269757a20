/** Container engines of this machine in the manifest's order, with cached probe results. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { ContainerSettings } from '../../manifest/schema/settings.ts'
import type { Backend } from '../../sandbox/backend.ts'
import { type CgroupSupport, reportLimits } from '../../sandbox/limits.ts'
import { type CgroupHost, openCgroups } from '../../sandbox/limits-cgroup.ts'
import { dockerEngine, IMAGE_BY_DIGEST } from '../../sandbox/oci/docker-engine.ts'
import {
  type ContainerEngine,
  type ContainerLimits,
  ENGINE_NAMES,
  type EngineName,
  type EngineSupport,
} from '../../sandbox/oci/engine.ts'
import { type EngineSet, openEngineSet, type ProbeMemory } from '../../sandbox/oci/engine-set.ts'
import { findEngineProgram, localEngine } from '../../sandbox/oci/local-engine.ts'
import { osEngine } from '../../sandbox/oci/os-engine.ts'
import { reapStages, stagePlace } from '../../sandbox/oci/stage.ts'
import { attempt, Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, writeOwnJson } from '../../system/state.ts'

/** T4: half a CPU. */
const CPUS = 0.5
const PROCESSES = 64
const FILE_BYTES: number = 32 * 1024 ** 2

/** Limits of one container before a call narrows them. */
export function containerLimits(settings: ContainerSettings, outputBytes: number): ContainerLimits {
  const { memoryBytes, seconds } = settings
  return {
    memoryBytes,
    cpus: CPUS,
    processes: PROCESSES,
    timeoutMs: seconds * 1000,
    outputBytes,
    fileBytes: FILE_BYTES,
  }
}

/** Opens the listed engines and removes containers of killed processes. */
export function openEngines(
  settings: ContainerSettings,
  limits: ContainerLimits,
  machine: Machine,
  backend: Backend,
  folders?: readonly string[],
): EngineSet {
  if (settings.image !== null && !IMAGE_BY_DIGEST.test(settings.image)) {
    throw new Fault('bad-config', `[sandbox.run] image ${JSON.stringify(settings.image)} is not named by its digest`, {
      remedy: 'Write name@sha256:… with the 64 digits: a tag may be another image tomorrow.',
    })
  }
  const place = stagePlace(machine.cacheDir)
  reapStages(place)
  let groups: { readonly host: CgroupHost | null } | null = null
  const cgroups = () => {
    groups ??= { host: openCgroups() }
    return groups.host
  }
  const found = folders === undefined ? {} : { folders }
  const make = (name: EngineName): ContainerEngine => {
    if (name === 'os')
      return osEngine({ place, backend, reports: (asked) => osReports(asked, cgroups()?.support ?? null) })
    if (name === 'docker') return dockerEngine({ place, env: machine.env, ...found })
    return localEngine(name, { place, cgroups, ...found })
  }
  const names = settings.engines.filter((name): name is EngineName =>
    (ENGINE_NAMES as readonly string[]).includes(name),
  )
  return openEngineSet(names.map(make), limits, probeMemory(machine, limits, folders))
}

/** Probes every engine. */
export function surveyEngines(machine: Machine, backend: Backend): ReturnType<EngineSet['survey']> {
  const settings = { engines: ENGINE_NAMES, image: null, memoryBytes: 256 * 1024 ** 2, seconds: 30 }
  return openEngines(settings, containerLimits(settings, 1024 ** 2), machine, backend).survey()
}

function osReports({ memoryBytes, cpus, processes, fileBytes }: ContainerLimits, support: CgroupSupport | null) {
  return reportLimits({ memoryBytes, cpus, processes, fileBytes }, support, process.getuid?.() ?? 0, false)
}

const MEMORY_FILE = 'engines.json'
/** Probe results expire after this time. */
const REMEMBERED_MS: number = 24 * 3600 * 1000

interface ProbeResult {
  readonly key: string
  readonly at: number
  readonly support: EngineSupport
}

/** A result is valid for the same program, boot and kernel; only successes are kept. */
function probeMemory(machine: Machine, limits: ContainerLimits, folders: readonly string[] | undefined): ProbeMemory {
  const keyOf = (name: EngineName): string => {
    const program = name === 'os' ? null : findEngineProgram(name, folders)
    const file = program === null ? null : statSync(program, { bigint: true, throwIfNoEntry: false })
    const seen = file ? [file.ino, file.size, file.mtimeNs].map(String) : []
    return JSON.stringify([name, program, seen, bootId(), process.getuid?.() ?? 0, limits.memoryBytes, BUILD_TEXT])
  }
  const all = (): Record<string, ProbeResult> => {
    return attempt(
      () => JSON.parse(readFileSync(join(machine.stateDir, MEMORY_FILE), 'utf8')) as Record<string, ProbeResult>,
      {},
    )
  }
  return {
    recall: (name) => {
      const known = all()[name]
      return known && known.key === keyOf(name) && Date.now() - known.at < REMEMBERED_MS ? known.support : null
    },
    keep: (name, support) => {
      const next = { ...all(), [name]: { key: keyOf(name), at: Date.now(), support } }
      writeOwnJson(join(openOwnDirectory(machine.stateDir), MEMORY_FILE), next)
    },
  }
}

/** Results of another version are ignored. */
const BUILD_TEXT = '2'

function bootId(): string {
  return attempt(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(), '')
}
