/**
 * Grants typed with one run, and what they and bundles give: hosts of tools, brokered keys. PURE.
 */

import { parseHostPattern } from '../hosts/pattern.ts'
import type { BundleSetting, McpServerSetting, SecretSetting } from '../manifest/schema/settings.ts'
import type { HostRule, RuleRef, Sourced } from '../policy/policy.ts'
import { freeHosts, keyedHosts } from '../project/load/extend.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { registryHosts } from '../project/registries/hosts.ts'
import { builtInBundle } from '../sandbox/bundles/built-in.ts'
import { type AppliedBundle, type Bundle, type RegistryFacts, selectBundles } from '../sandbox/bundles/bundle.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export interface RunGrants {
  readonly hosts: readonly HostRule[]
  /** Canonical existing paths; those in `writes` may also change. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly ports: readonly number[]
  readonly env: readonly string[]
  /** Names of bundles for this command. */
  readonly tools: readonly string[]
  /** Registries of those bundles that no one signed. */
  readonly registries: RegistryFacts
}

export const NO_GRANTS: RunGrants = {
  hosts: [],
  reads: [],
  writes: [],
  ports: [],
  env: [],
  tools: [],
  registries: {},
}

const byFlag = (rule: string): RuleRef => ({ rule, source: 'command line' })

/** The rules of a run's grants, without values: those are the call's arguments. */
export function runGrantRules(grants: RunGrants): readonly RuleRef[] {
  const flags: readonly (readonly [Exclude<keyof RunGrants, 'registries'>, string])[] = [
    ['hosts', '--allow-host'],
    ['reads', '--read'],
    ['writes', '--write'],
    ['ports', '--port'],
    ['env', '--env'],
    ['tools', '--tool'],
  ]
  return flags.filter(([kind]) => grants[kind].length > 0).map(([, flag]) => byFlag(flag))
}

/** The manifest's bundles and those named for the run. */
export function chosenBundles(
  { sandbox: { bundles } }: Pick<LoadedPolicy, 'sandbox'>,
  granted: readonly RunGrants[],
): readonly Sourced<BundleSetting>[] {
  const tools = new Set(granted.flatMap((one) => one.tools))
  const added = [...tools].filter((tool) => !bundles.some(({ value }) => value.tool === tool))
  const knobs = { fetch: null, install: null, domains: [], defaultDomains: true, wrappers: [] }
  return [...bundles, ...added.map((tool) => ({ value: { tool, ...knobs }, ...byFlag('--tool') }))]
}

/** The bundles that a command's granting patterns select. */
export function appliedBundles(
  loaded: Pick<LoadedPolicy, 'sandbox'>,
  patterns: readonly (readonly string[])[],
  granted: readonly RunGrants[],
): AppliedBundle[] {
  const choices = chosenBundles(loaded, granted).map(({ value }) => value)
  if (choices.length === 0) return []
  const applied = patterns.flatMap((words) => selectBundles(choices, words, builtInBundle))
  return [...new Map(applied.map((bundle) => [bundle.bundle.tool, bundle])).values()]
}

/** Hosts by program, including those of the run's bundles and brokered keys. */
export function toolHosts(
  loaded: LoadedPolicy,
  command: readonly string[],
  granted: readonly RunGrants[],
  env: Variables | null,
): { readonly named: readonly Bundle[]; readonly domains: ReadonlyMap<string, readonly HostRule[]> } {
  const known = loaded.policy.commands.toolDomains
  const named = [...new Set(granted.flatMap((one) => one.tools))].flatMap((tool) => builtInBundle(tool) ?? [])
  if (named.length === 0 && env === null) return { named, domains: known }
  const domains = new Map(known)
  const add = (program: string, rules: readonly HostRule[]): void =>
    void domains.set(program, [...(domains.get(program) ?? []), ...rules])
  for (const bundle of named) {
    const hosts = freeHosts(bundle).flatMap((host) => hostRule(host, byFlag('--tool')))
    for (const program of new Set([bundle.tool, ...bundle.programs])) if (!known.has(program)) add(program, hosts)
  }
  const choices = chosenBundles(loaded, granted)
  for (const { registries } of granted)
    for (const [program, rules] of registryHosts(choices, registries)) add(program, rules)
  if (env !== null) {
    const own = new Set(bundleSecrets(loaded, command, granted, env).map(({ name }) => name))
    for (const [program, rules] of keyedHosts(choices, own)) add(program, rules)
  }
  return { named, domains }
}

/**
 * The secrets that the proxy adds. `keys`: the person's keys for a typed command's bundles; each
 * goes to its bundle's hosts only. A manifest entry of the same name replaces one. A server gets
 * those its section names.
 */
export function brokeredSecrets(
  loaded: Pick<LoadedPolicy, 'sandbox'>,
  keys: { readonly command: readonly string[]; readonly granted: readonly RunGrants[]; readonly env: Variables } | null,
  server: McpServerSetting | null,
): readonly SecretSetting[] {
  const written = loaded.sandbox.secrets.map(({ value }) => value)
  if (server !== null) return written.filter(({ name }) => server.secrets.includes(name))
  if (keys === null) return written
  const { command, granted, env } = keys
  const needed = appliedBundles(loaded, [command], granted).flatMap(({ bundle }) => bundle.secrets)
  const named = new Map(needed.map((secret) => [secret.name, secret]))
  const narrowed = written.map((secret): SecretSetting => {
    const own = named.get(secret.name)
    if (!own) return secret
    const { passHeaders = [], passParameters = [] } = secret
    return {
      ...secret,
      exclusive: true,
      passHeaders: [...passHeaders, ...own.passHeaders],
      passParameters: [...passParameters, ...own.passParameters],
      openPaths: own.openPaths,
    }
  })
  return [...narrowed, ...bundleSecrets(loaded, command, granted, env)]
}

/** Keys that the command's bundles broker, except those in the manifest. */
function bundleSecrets(
  loaded: Pick<LoadedPolicy, 'sandbox'>,
  command: readonly string[],
  granted: readonly RunGrants[],
  env: Variables,
): readonly SecretSetting[] {
  const written = new Set(loaded.sandbox.secrets.map(({ value }) => value.name))
  const found = appliedBundles(loaded, [command], granted).flatMap(({ bundle, fetch, defaultDomains }) => {
    if (!fetch || !defaultDomains) return []
    const rule = { rule: `bundle ${bundle.tool}`, source: 'built-in' }
    return bundle.secrets
      .filter(({ name, hosts }) => hosts.length > 0 && !written.has(name) && (env[name] ?? '') !== '')
      .map(
        ({ name, hosts, header, passHeaders, passParameters, openPaths }): SecretSetting => ({
          name,
          header,
          source: { kind: 'env', name },
          hosts: hosts.flatMap((host) => hostRule(host, rule)),
          exclusive: true,
          passHeaders,
          passParameters,
          openPaths,
        }),
      )
  })
  return [...new Map(found.map((secret) => [secret.name, secret])).values()]
}

function hostRule(host: string, rule: RuleRef): HostRule[] {
  const parsed = parseHostPattern(host, null)
  return 'pattern' in parsed ? [{ pattern: parsed.pattern, ...rule }] : []
}
