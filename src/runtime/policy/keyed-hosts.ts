/**
 * Hosts of a bundle that take one of its keys: open only where that key is brokered. Without it anybody's key would do, and
 * data could be carried out to an account of somebody else (N7).
 */

import { parseHostPattern } from '../../hosts/pattern.ts'
import type { HostRule } from '../../policy/policy.ts'
import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import type { Bundle } from '../../sandbox/bundles/bundle.ts'
import type { LoadedPolicy } from './load.ts'

/** A host that stays closed, and the keys of which one would open it. */
export interface KeylessHost {
  readonly host: string
  readonly names: readonly string[]
}

/** The bundle's hosts that any command of its programs may reach, key or not. */
export function freeHosts(bundle: Bundle): readonly string[] {
  if (bundle.secrets.length === 0) return bundle.hosts
  const keyed = new Set(bundle.secrets.flatMap((secret) => secret.hosts))
  return bundle.hosts.filter((host) => !keyed.has(host))
}

/** The policy with the hosts of keys that are brokered by these names among those of the bundles' programs. */
export function withKeyedHosts<T extends Pick<LoadedPolicy, 'policy' | 'sandbox'>>(
  loaded: T,
  names: ReadonlySet<string>,
): T {
  const opened = chosenBundles(loaded).flatMap(({ bundle, choice }) => {
    const hosts = bundle.secrets.flatMap((secret) => (names.has(secret.name) ? secret.hosts : []))
    return [...new Set(hosts)].map((host) => ({ bundle, choice, host }))
  })
  if (opened.length === 0) return loaded
  const toolDomains = new Map(loaded.policy.commands.toolDomains)
  for (const { bundle, choice, host } of opened) {
    const parsed = parseHostPattern(host, null)
    if ('problem' in parsed) continue
    const rule: HostRule = { pattern: parsed.pattern, rule: choice.rule, source: choice.source }
    for (const program of new Set([bundle.tool, ...bundle.programs, ...choice.value.wrappers])) {
      toolDomains.set(program, [...(toolDomains.get(program) ?? []), rule])
    }
  }
  const { policy } = loaded
  return { ...loaded, policy: { ...policy, commands: { ...policy.commands, toolDomains } } }
}

/** Hosts that a program's bundles would have, were one of their keys there. */
export function keylessHosts(
  loaded: Pick<LoadedPolicy, 'policy' | 'sandbox'>,
  programs: readonly string[],
): KeylessHost[] {
  const brokered = new Set(loaded.sandbox.secrets.map((secret) => secret.value.name))
  const found = new Map<string, Set<string>>()
  for (const { bundle } of chosenBundles(loaded)) {
    if (!bundle.programs.some((program) => programs.includes(program))) continue
    for (const host of new Set(bundle.secrets.flatMap((secret) => secret.hosts))) {
      const names = bundle.secrets.filter((secret) => secret.hosts.includes(host)).map((secret) => secret.name)
      if (names.some((name) => brokered.has(name))) continue
      found.set(host, new Set([...(found.get(host) ?? []), ...names]))
    }
  }
  return Array.from(found, ([host, names]) => ({ host, names: [...names] }))
}

function chosenBundles({ sandbox }: Pick<LoadedPolicy, 'sandbox'>) {
  return sandbox.bundles.flatMap((choice) => {
    const bundle = builtInBundle(choice.value.tool)
    const fetches = bundle && (choice.value.fetch ?? bundle.fetch) && choice.value.defaultDomains
    return fetches && bundle.secrets.length > 0 ? [{ bundle, choice }] : []
  })
}
