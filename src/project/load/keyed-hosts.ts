/**
 * Hosts of a bundle that take one of its keys. They open only if that key is brokered: with any
 * other key, data could go to somebody else's account (N7).
 */

import { parseHostPattern } from '../../hosts/pattern.ts'
import type { BundleSetting } from '../../manifest/schema/settings.ts'
import type { HostRule, Sourced } from '../../policy/policy.ts'
import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import type { Bundle } from '../../sandbox/bundles/bundle.ts'

/** A closed host with the keys that would open it. */
export interface KeylessHost {
  readonly host: string
  readonly names: readonly string[]
}

/** The bundle's hosts that need no key. */
export function freeHosts(bundle: Bundle): readonly string[] {
  if (bundle.secrets.length === 0) return bundle.hosts
  const keyed = new Set(bundle.secrets.flatMap((secret) => secret.hosts))
  return bundle.hosts.filter((host) => !keyed.has(host))
}

/** Hosts of the brokered keys, by program. */
export function keyedHosts(
  bundles: readonly Sourced<BundleSetting>[],
  names: ReadonlySet<string>,
): readonly (readonly [program: string, rules: readonly HostRule[]])[] {
  return withKeys(bundles).flatMap(({ bundle, choice }) => {
    const hosts = bundle.secrets.flatMap((secret) => (names.has(secret.name) ? secret.hosts : []))
    const rules = [...new Set(hosts)].flatMap((host): HostRule[] => {
      const parsed = parseHostPattern(host, null)
      return 'problem' in parsed ? [] : [{ pattern: parsed.pattern, rule: choice.rule, source: choice.source }]
    })
    const programs = [...new Set([bundle.tool, ...bundle.programs, ...choice.value.wrappers])]
    return rules.length === 0 ? [] : programs.map((program) => [program, rules] as const)
  })
}

/** Hosts that a program's bundles would have with a key. */
export function keylessHosts(
  bundles: readonly Sourced<BundleSetting>[],
  programs: readonly string[],
  brokered: ReadonlySet<string>,
): KeylessHost[] {
  const found = new Map<string, Set<string>>()
  for (const { bundle } of withKeys(bundles)) {
    if (!bundle.programs.some((program) => programs.includes(program))) continue
    for (const host of new Set(bundle.secrets.flatMap((secret) => secret.hosts))) {
      const names = bundle.secrets.filter((secret) => secret.hosts.includes(host)).map((secret) => secret.name)
      if (names.some((name) => brokered.has(name))) continue
      found.set(host, new Set([...(found.get(host) ?? []), ...names]))
    }
  }
  return Array.from(found, ([host, names]) => ({ host, names: [...names] }))
}

/** Requests that a program's bundles make at start: GET, at exactly that path. */
export function checkRules(bundles: readonly Sourced<BundleSetting>[], programs: readonly string[]): HostRule[] {
  return bundles.flatMap(({ value, rule, source }) => {
    const bundle = builtInBundle(value.tool)
    if (!bundle?.programs.some((program) => programs.includes(program))) return []
    return bundle.checks.flatMap((check): HostRule[] => {
      const [, host = '', path = ''] = /^([^/]+)(\/.*)$/.exec(check) ?? []
      const parsed = parseHostPattern(host, null)
      return 'problem' in parsed ? [] : [{ pattern: parsed.pattern, methods: ['GET'], paths: [path], rule, source }]
    })
  })
}

/** Hosts that a program's bundles decline. They are never asked about. */
export function declinedHosts(
  bundles: readonly Sourced<BundleSetting>[],
  programs: readonly string[],
): ReadonlyMap<string, string> {
  const chosen = bundles.flatMap((choice) => builtInBundle(choice.value.tool) ?? [])
  const own = chosen.filter((bundle) => bundle.programs.some((program) => programs.includes(program)))
  return new Map(own.flatMap(({ tool, declined }) => declined.map((host) => [host, tool] as const)))
}

function withKeys(bundles: readonly Sourced<BundleSetting>[]) {
  return bundles.flatMap((choice) => {
    const bundle = builtInBundle(choice.value.tool)
    const fetches = bundle && (choice.value.fetch ?? bundle.fetch) && choice.value.defaultDomains
    return fetches && bundle.secrets.length > 0 ? [{ bundle, choice }] : []
  })
}
