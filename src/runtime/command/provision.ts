/** What the policy and its bundles give a command beside its places: variables, limits, and what its program needs. */

import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import { type AppliedBundle, type BundleFurnishing, furnish, selectBundles } from '../../sandbox/bundles/bundle.ts'
import { commandEnvironment } from '../../sandbox/environment.ts'
import { DEFAULT_MEMORY_SHARE, DEFAULT_OPEN_FILES, type Limits } from '../../sandbox/limits.ts'
import type { Machine } from '../../system/machine.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import type { RunRequest } from './run-request.ts'

/** What commands of one session are given. */
export class Provision {
  readonly #loaded: LoadedPolicy
  readonly #machine: Machine

  constructor(loaded: LoadedPolicy, machine: Machine) {
    this.#loaded = loaded
    this.#machine = machine
  }

  /** The places and variables of the bundles that come along with the granting patterns. */
  furnishing(request: RunRequest): BundleFurnishing {
    return furnish(this.#bundles(request), { home: this.#machine.home, registries: this.#loaded.registries })
  }

  /** The variables that the command sees; `fixed` are those of the way out. */
  environment(
    request: RunRequest,
    furnished: BundleFurnishing,
    place: {
      readonly fixed: Readonly<Record<string, string>>
      readonly temporary: string
      readonly writable: readonly string[]
    },
  ): Readonly<Record<string, string>> {
    const { sandbox } = this.#loaded
    const { variables } = commandEnvironment({
      parent: { ...furnished.defaults, ...this.#machine.env },
      platform: process.platform === 'darwin' ? 'darwin' : 'linux',
      allowlist: sandbox.envAllowlist?.map((name) => name.value) ?? null,
      declared: [...request.envVars, ...furnished.env, ...Object.keys(furnished.defaults)],
      denied: sandbox.envDenied.map((name) => name.value),
      fixed: { ...furnished.variables, ...place.fixed },
      temporary: place.temporary,
      writable: place.writable,
    })
    return variables
  }

  /** The manifest's limits; `asked` is a time limit in place of the built-in one. */
  limits(asked: number | undefined): Limits {
    const { commandTimeout, maxOutputBytes, memory, processes, cpu } = this.#loaded.sandbox.limits
    const written = commandTimeout.source !== 'built-in' || asked === undefined
    const timeoutMs = Math.min(
      written ? commandTimeout.value * 1000 : Number.POSITIVE_INFINITY,
      asked ?? Number.POSITIVE_INFINITY,
    )
    return {
      ...(Number.isFinite(timeoutMs) && { timeoutMs }),
      outputBytes: maxOutputBytes.value,
      processes: processes.value,
      openFiles: DEFAULT_OPEN_FILES,
      ...(memory.value === null ? { memoryShare: DEFAULT_MEMORY_SHARE } : { memoryBytes: memory.value }),
      ...(cpu.value !== null && { cpuSeconds: cpu.value }),
    }
  }

  /** Registries of the bundles that have changed since they were signed, in words. */
  async drift(request: RunRequest): Promise<string | null> {
    const applied = this.#bundles(request)
    if (!applied.some(({ bundle }) => bundle.registries.length > 0)) return null
    const { driftLine, registryDrift } = await import('../policy/registries/drift.ts')
    const drift = registryDrift(this.#loaded, this.#machine, applied)
    return drift && driftLine(drift)
  }

  #bundles(request: RunRequest): AppliedBundle[] {
    const choices = this.#loaded.sandbox.bundles.map((choice) => choice.value)
    if (choices.length === 0) return []
    const applied = request.patterns.flatMap((words) => selectBundles(choices, words, builtInBundle))
    return [...new Map(applied.map((bundle) => [bundle.bundle.tool, bundle])).values()]
  }
}
