/**
 * The only way to extend a loaded policy: denials, a brief, tool hosts, another directory. PURE.
 */

import { isInside } from '../../files/baseline.ts'
import { type PathPattern, splitPath, wholeTree } from '../../files/path-pattern.ts'
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
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import type { LoadedPolicy } from './load.ts'

/** Denials from outside the manifest. They bind like its own deny rules. */
export interface Denials {
  readonly reads: readonly PathDenial[]
  readonly writes: readonly PathDenial[]
  readonly commands: readonly CommandDenial[]
  readonly hosts: readonly HostRule[]
}

export const NO_DENIALS: Denials = { reads: [], writes: [], commands: [], hosts: [] }

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
