/** Opens the backend of this platform, and describes plans. */

import type { EgressRules } from '../egress/route/rules.ts'
import { socketMeaning } from '../hosts/pattern.ts'
import type { SandboxSettings } from '../manifest/schema/settings.ts'
import type { Backend } from '../sandbox/backend.ts'
import { type BwrapOptions, createBwrapBackend } from '../sandbox/bwrap/backend.ts'
import { namespacesRefused } from '../sandbox/bwrap/namespaces.ts'
import { describePlan, formatPlan, type PlanReport, type Support } from '../sandbox/report.ts'
import { Fault } from '../system/fault.ts'

export type { LaunchIo, LaunchResult } from '../sandbox/backend.ts'
export { builtInBundle, builtInBundles, bundleNames } from '../sandbox/bundles/built-in.ts'
export { CommandRunner, type RunIo, type RunOutcome } from './runner.ts'

export { formatPlan, type PlanReport, type Support }

/** Signals that a wrapper passes to its command. */
export const PASSED_SIGNALS: readonly NodeJS.Signals[] = [
  'SIGINT',
  'SIGTERM',
  'SIGHUP',
  'SIGQUIT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGCONT',
  'SIGTSTP',
]

/** The settings that choose the sandbox. */
export interface OpenSettings {
  readonly backend: Pick<SandboxSettings['backend'], 'value'>
  readonly require?: Pick<SandboxSettings['require'], 'value'>
}

/** The default settings. */
export const BUILT_IN_BACKEND = { backend: { value: 'bwrap' } } as const

/**
 * The sandbox that the settings ask for; without one, nothing runs. `commands`: the caller's
 * commands, if known. Other backends are loaded on demand.
 */
export async function openBackend(
  { backend, require }: OpenSettings,
  options: Pick<BwrapOptions, 'commands' | 'stateDir'> = {},
): Promise<Backend> {
  const { value } = backend
  if (process.platform === 'linux') {
    const refused = value === 'bwrap' && require?.value !== 'namespaces' ? await namespacesRefused() : null
    if (value === 'landlock' || refused !== null) {
      const { createLandlockBackend } = await import('../sandbox/landlock/backend.ts')
      return createLandlockBackend({ ...options, refused })
    }
    if (value === 'bwrap') return createBwrapBackend(options)
    const { createContainerBackend } = await import('../sandbox/oci/gvisor-backend.ts')
    return createContainerBackend(value, options)
  }
  if (process.platform === 'darwin' && value === 'bwrap') {
    const { createSeatbeltBackend } = await import('../sandbox/experimental/seatbelt/backend.ts')
    return createSeatbeltBackend()
  }
  const here = process.platform === 'darwin' ? `[sandbox.os] backend = "${value}" is` : 'Cordon has'
  throw new Fault('no-sandbox', `${here} no sandbox on ${process.platform}, and nothing runs without one`, {
    remedy: 'Omit the key on macOS; elsewhere run Cordon on Linux, macOS, or in a virtual machine.',
  })
}

/** A plan with the protections that this machine enforces. */
export async function reportPlan(
  plan: Parameters<typeof describePlan>[0],
  backend: Backend,
  { allowed }: EgressRules,
): Promise<PlanReport> {
  const hosts = (allowed ?? []).map(
    ({ pattern, tls, ssh, signs, rule }) =>
      `${pattern.text} (${rule})${tls === 'pass' ? ': TLS is passed on, and not seen' : ''}${
        ssh ? `: git ${ssh === 'push' ? 'reads and writes' : 'reads'} there with your ssh keys` : ''
      }${pattern.kind === 'unix' ? `: ${socketMeaning(pattern.host, signs)}` : ''}`,
  )
  return describePlan(plan, await backend.probe(), [...new Set(hosts)])
}
