/**
 * The only way to extend a loaded policy: denials, a brief, tool hosts, another directory. PURE.
 */

import { isInside } from '../../files/baseline.ts'
import { type PathPattern, splitPath, wholeTree } from '../../files/path-pattern.ts'
import { parseHostPattern } from '../../hosts/pattern.ts'
import type { BundleSetting } from '../../manifest/schema/settings.ts'
import type {
  CommandDenial,
  CommandRule,
  HostRule,
  PathDenial,
  PathRule,
  PathRules,
  Policy,
  Sourced,
} from '../../policy/policy.ts'
import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import type { Bundle, RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import type { LoadedPolicy } from './load.ts'

/** Denials from outside the manifest. They bind like its own deny rules. */
export interface Denials {
  readonly reads: readonly PathDenial[]
  readonly writes: readonly PathDenial[]
  readonly commands: readonly CommandDenial[]
  readonly hosts: readonly HostRule[]
}

export interface Envelope {
  /** True if a brief limits writes although the manifest does not. */
  readonly limits: boolean
  readonly rules: readonly PathRule[]
}

export interface Extension {
  readonly denials?: Partial<Denials>
  readonly envelope?: Envelope
  /** Hosts of programs beyond the manifest's. */
  readonly toolHosts?: readonly (readonly [program: string, rules: readonly HostRule[]])[]
  readonly registries?: RegistryFacts
  /** Visible, read-only places. */
  readonly shown?: readonly Sourced<string>[]
  /** The session's own directory (F7) instead of the project. */
  readonly directory?: string
}

/** Returns an extended copy. */
export function extendPolicy<Loaded extends LoadedPolicy>(base: Loaded, extension: Extension): Loaded {
  const { directory, registries = base.registries } = extension
  const loaded = directory === undefined ? base : movedTo(base, directory)
  const { policy } = loaded
  const { reads = [], writes = [], commands = [], hosts = [] } = extension.denials ?? {}
  const { envelope, shown = [], toolHosts = [] } = extension
  const frozen = shown.map(({ value, rule, source }) => ({ pattern: wholeTree(value), prompt: false, rule, source }))
  const limited = policy.envelope !== null || envelope?.limits === true
  return {
    ...loaded,
    registries,
    policy: {
      ...policy,
      additionalDirectories: [...policy.additionalDirectories, ...shown],
      reads: {
        ...policy.reads,
        allow: policy.reads.declared ? [...policy.reads.allow, ...frozen] : policy.reads.allow,
        deny: [...policy.reads.deny, ...reads],
      },
      writes: { ...policy.writes, deny: [...policy.writes.deny, ...writes, ...frozen] },
      envelope: limited ? [...(policy.envelope ?? []), ...(envelope?.rules ?? [])] : null,
      commands: {
        ...policy.commands,
        deny: [...policy.commands.deny, ...commands],
        deniedDomains: [...policy.commands.deniedDomains, ...hosts],
        toolDomains: withHosts(policy.commands.toolDomains, toolHosts),
      },
      http: { ...policy.http, denied: [...policy.http.denied, ...hosts] },
    },
  }
}

function withHosts(
  known: Policy['commands']['toolDomains'],
  added: NonNullable<Extension['toolHosts']>,
): Policy['commands']['toolDomains'] {
  if (added.length === 0) return known
  const all = new Map(known)
  for (const [program, rules] of added) all.set(program, [...(all.get(program) ?? []), ...rules])
  return all
}

function movedTo<Loaded extends LoadedPolicy>(base: Loaded, directory: string): Loaded {
  const { policy } = base
  const { root } = policy
  const pattern = (old: PathPattern): PathPattern => {
    if (!isInside(old.absolute, root)) return old
    const absolute = directory + old.absolute.slice(root.length)
    return { ...old, absolute, segments: splitPath(absolute) }
  }
  const moved = <Rule extends PathRule>(rules: readonly Rule[]): Rule[] =>
    rules.map((rule) => ({ ...rule, pattern: pattern(rule.pattern) }))
  const both = (rules: PathRules): PathRules => ({ ...rules, allow: moved(rules.allow), deny: moved(rules.deny) })
  const command = <Rule extends CommandRule>(rule: Rule): Rule => ({ ...rule, paths: rule.paths.map(pattern) })
  return {
    ...base,
    root: directory,
    standsFor: root,
    policy: {
      ...policy,
      root: directory,
      reads: both(policy.reads),
      writes: both(policy.writes),
      envelope: policy.envelope === null ? null : moved(policy.envelope),
      commands: {
        ...policy.commands,
        allow: policy.commands.allow.map(command),
        deny: policy.commands.deny.map(command),
      },
    },
  }
}

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
