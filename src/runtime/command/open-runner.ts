/** Opens what a surface needs to run commands: the backend of this platform and a runner for the project. */

import { socketMeaning } from '../../hosts/unix-socket.ts'
import type { SandboxSettings } from '../../manifest/schema/settings.ts'
import type { CommandRule } from '../../policy/policy.ts'
import { pathsOfGrants } from '../../policy/shell/carried-paths.ts'
import { grantMatches } from '../../policy/shell/command-match.ts'
import { hostsOfCommand } from '../../policy/shell/network-use.ts'
import type { Backend } from '../../sandbox/backend.ts'
import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import type { Bundle } from '../../sandbox/bundles/bundle.ts'
import { type BwrapOptions, createBwrapBackend } from '../../sandbox/bwrap/backend.ts'
import { describePlan, formatPlan, type PlanReport, type Support } from '../../sandbox/report.ts'
import type { Word } from '../../shell/facts.ts'
import { Fault } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { LoadedPolicy } from '../policy/load.ts'
import { egressRules } from './network/egress-rules.ts'
import type { NetworkOptions } from './network/network.ts'
import type { RunRequest } from './run-request.ts'
import { CommandRunner } from './runner.ts'
import type { OneOffGrants } from './typed/one-off.ts'

export type { LaunchIo, LaunchResult } from '../../sandbox/backend.ts'
export { builtInBundle, builtInBundles, bundleNames } from '../../sandbox/bundles/built-in.ts'
export type { RunRequest } from './run-request.ts'
export { CommandRunner, type RunOutcome } from './runner.ts'
export { formatPlan, type PlanReport, type Support }

/** A bundle as a page; only `cordon bundles` shows one. */
export async function renderBundle(bundle: Bundle): Promise<string> {
  return (await import('../../sandbox/bundles/doc.ts')).renderBundle(bundle)
}

/** Signals that a wrapper passes on to its command, which decides what they mean. */
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

/** What the settings ask for where nobody wrote anything. */
export const BUILT_IN_BACKEND = { backend: { value: 'bwrap' } } as const

/**
 * The sandbox of this platform that the settings ask for. No sandbox, no run. `commands`: what the caller has, where it is known.
 * The other backends are loaded where they are asked for: most starts have no use for them.
 */
export async function openBackend(
  { backend }: { readonly backend: Pick<SandboxSettings['backend'], 'value'> },
  options: Pick<BwrapOptions, 'commands' | 'stateDir'> = {},
): Promise<Backend> {
  const { value } = backend
  if (process.platform === 'linux') {
    if (value === 'bwrap') return createBwrapBackend(options)
    const { createContainerBackend } = await import('../../sandbox/oci/command-backend.ts')
    return createContainerBackend(value, options)
  }
  if (process.platform === 'darwin' && value === 'bwrap') {
    const { createSeatbeltBackend } = await import('../../sandbox/seatbelt/backend.ts')
    return createSeatbeltBackend()
  }
  const here = process.platform === 'darwin' ? `[sandbox.os] backend = "${value}" is` : 'Cordon has'
  throw new Fault('no-sandbox', `${here} no sandbox on ${process.platform}, and nothing runs without one`, {
    remedy: 'Leave the key out on macOS; elsewhere run Cordon on Linux, macOS, or in a virtual machine.',
  })
}

/** A runner for one session in this project. */
export function openRunner(
  loaded: LoadedPolicy,
  machine: Machine,
  files: Files,
  backend: Backend,
  network: Pick<NetworkOptions, 'ask'> = {},
): CommandRunner {
  return new CommandRunner(loaded, machine, files, backend, network)
}

/**
 * What a command that the person typed comes with: it needs no grant, but the grant that covers it decides hosts and
 * variables, and its own words decide the bundles.
 */
export function typedGrants(
  loaded: LoadedPolicy,
  machine: Machine,
  command: readonly string[],
  more: Partial<Pick<OneOffGrants, 'hosts' | 'env' | 'tools'>> = {},
): Pick<RunRequest, 'patterns' | 'grants' | 'paths' | 'envVars' | 'rules'> {
  const words = command.map(
    (text): Word => ({
      text,
      values: [text],
      dynamic: [],
      prefix: text,
      pattern: null,
      splits: false,
      span: { start: 0, end: 0 },
    }),
  )
  const covering = loaded.policy.commands.allow.filter((rule) => grantMatches(rule.pattern, words))
  const grants = covering.sort((a, b) => b.pattern.words.length - a.pattern.words.length).slice(0, 1)
  // Named for this run: whichever of their programs it starts, and however.
  const named = [...new Set(more.tools)].flatMap((tool) => builtInBundle(tool) ?? [])
  const toolHosts = named.flatMap(({ tool }) => loaded.policy.commands.toolDomains.get(tool) ?? [])
  return {
    patterns: [command, ...named.map(({ programs }) => programs.slice(0, 1))],
    grants: grants.map((grant) => grant.pattern.text),
    paths: pathsOfGrants(grants),
    envVars: [...grants.flatMap((grant) => grant.envVars), ...(more.env ?? [])],
    rules: egressRules(
      loaded,
      shortName(command, grants),
      [...hostsOfCommand(loaded.policy, grants, command), ...toolHosts, ...(more.hosts ?? [])],
      command.slice(0, 1),
      machine.ownAddresses,
    ),
  }
}

/** How events and summaries call a command: its grant, or its first words. */
function shortName(command: readonly string[], [grant]: readonly CommandRule[]): string {
  const words = command.slice(0, 3).join(' ')
  return grant?.pattern.text ?? (words.length > 60 || command.length > 3 ? `${words.slice(0, 60)} …` : words)
}

/** A plan with what holds of it on this machine. */
export async function reportPlan(
  plan: Parameters<typeof describePlan>[0],
  backend: Backend,
  { allowed }: RunRequest['rules'],
): Promise<PlanReport> {
  const hosts = (allowed ?? []).map(
    ({ pattern, tls, ssh, rule }) =>
      `${pattern.text} (${rule})${tls === 'pass' ? ': TLS is passed on, and not seen' : ''}${
        ssh ? `: git ${ssh === 'push' ? 'reads and writes' : 'reads'} there with your ssh keys` : ''
      }${pattern.kind === 'unix' ? `: ${socketMeaning(pattern.host)}` : ''}`,
  )
  return describePlan(plan, await backend.probe(), [...new Set(hosts)])
}
