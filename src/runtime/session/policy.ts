/** The policy of a session at this moment: the manifest's, with what answers denied, where it works, and what its ring allows. */

import { isInside } from '../../files/baseline.ts'
import { exactPath, type PathPattern, splitPath, wholeTree } from '../../files/path-pattern.ts'
import { protectedPath } from '../../files/protected-paths.ts'
import type { SessionFacts } from '../../policy/call.ts'
import type { CommandRule, HostRule, PathRule, PathRules, Policy, Sourced } from '../../policy/policy.ts'
import type { LoadedPolicy } from '../policy/load.ts'

/** What answers closed. They bind like deny rules of the manifest. */
export interface SavedDenials {
  readonly reads: readonly PathRule[]
  readonly writes: readonly PathRule[]
  readonly commands: readonly CommandRule[]
  readonly hosts: readonly HostRule[]
}

export interface Envelope {
  /** True when a discovery brief limits writes although the manifest does not. */
  readonly limits: boolean
  readonly rules: readonly PathRule[]
}

/** The policy that calls are decided on. */
export function decidingPolicy(base: LoadedPolicy, denials: SavedDenials, envelope: Envelope): LoadedPolicy {
  const { policy } = base
  const { commands, http } = policy
  const limited = policy.envelope !== null || envelope.limits
  return {
    ...base,
    policy: {
      ...policy,
      reads: withDenials(policy.reads, denials.reads),
      // What may not be read is not written either: a write would replace what nobody should touch.
      writes: withDenials(policy.writes, [...denials.writes, ...denials.reads, ...briefDenial(base)]),
      envelope: limited ? [...(policy.envelope ?? []), ...envelope.rules] : null,
      commands: {
        ...commands,
        deny: [...commands.deny, ...denials.commands],
        deniedDomains: [...commands.deniedDomains, ...denials.hosts],
      },
      http: { ...http, denied: [...http.denied, ...denials.hosts] },
    },
  }
}

/** What one command may reach beyond the manifest, because a person said so. */
export interface CallReach {
  /** Canonical directories or files, to read and write. */
  readonly roots: readonly string[]
  /** The same, to read only. */
  readonly readOnly: readonly string[]
  /** Files that were named by themselves: they are there although they look like secrets. */
  readonly named: readonly string[]
  readonly hosts: readonly HostRule[]
}

export const NO_REACH: CallReach = { roots: [], readOnly: [], named: [], hosts: [] }

/** The policy that a command's sandbox is made from: roots and files that answers opened are there as well. */
export function placingPolicy(
  deciding: LoadedPolicy,
  facts: SessionFacts,
  reach: CallReach,
  memory: number | null,
): LoadedPolicy {
  const { policy, sandbox } = deciding
  const places = { root: policy.root, home: policy.home, ...facts.own }
  // A saved answer never names a protected path open: only the manifest does.
  const writes = facts.grants.writes.filter((rule) => protectedPath(rule.pattern.absolute, places) === null)
  const frozen = reach.readOnly.map(
    (path): PathRule => ({ pattern: wholeTree(path), prompt: false, rule: 'answered for reading', source: 'session' }),
  )
  const added = [...facts.roots, ...reach.roots, ...reach.readOnly].map(
    (value): Sourced<string> => ({ value, rule: 'answered', source: 'session' }),
  )
  return {
    ...deciding,
    policy: {
      ...policy,
      additionalDirectories: [...policy.additionalDirectories, ...added],
      reads: withNamed(withGrants(policy.reads, facts.grants.reads, added, policy), reach.named),
      writes: withDenials(withGrants(policy.writes, writes, added, policy), frozen),
    },
    sandbox: { ...sandbox, limits: { ...sandbox.limits, memory: stricter(sandbox.limits.memory, memory) } },
  }
}

/** Whoever writes the brief says what the next session may change: that is not the agent. */
function briefDenial({ session }: LoadedPolicy): PathRule[] {
  const path = session.discoveryBrief
  if (path === null) return []
  return [{ pattern: exactPath(path), prompt: false, rule: 'files.discovery_brief', source: 'built-in' }]
}

function withDenials(rules: PathRules, denials: readonly PathRule[]): PathRules {
  return denials.length === 0 ? rules : { ...rules, deny: [...rules.deny, ...denials] }
}

// Where grants of a kind are declared, the sandbox shows those alone: an answered root has to be one of them.
function withGrants(
  rules: PathRules,
  grants: readonly PathRule[],
  roots: readonly Sourced<string>[],
  { root }: Policy,
): PathRules {
  if (!rules.declared) return rules
  const opened = roots
    .filter(({ value }) => !isInside(value, root))
    .map(({ value, rule, source }): PathRule => ({ pattern: wholeTree(value), prompt: false, rule, source }))
  return { ...rules, allow: [...rules.allow, ...grants, ...opened] }
}

/** A secret is opened by a grant of its own name, whether or not grants are declared. */
function withNamed(rules: PathRules, named: readonly string[]): PathRules {
  if (named.length === 0) return rules
  const opened = named.map(
    (path): PathRule => ({ pattern: exactPath(path), prompt: false, rule: 'answered by name', source: 'session' }),
  )
  return { ...rules, allow: [...rules.allow, ...opened] }
}

function stricter(written: Sourced<number | null>, limit: number | null): Sourced<number | null> {
  if (limit === null || (written.value !== null && written.value <= limit)) return written
  return { value: limit, rule: 'rings.memory', source: 'ring' }
}

/** F7: the same policy for a session that works in a directory of its own instead of the project. */
export function movedPolicy(base: LoadedPolicy, directory: string): LoadedPolicy {
  const { policy } = base
  const { root } = policy
  const pattern = (old: PathPattern): PathPattern => {
    if (!isInside(old.absolute, root)) return old
    const absolute = directory + old.absolute.slice(root.length)
    return { ...old, absolute, segments: splitPath(absolute) }
  }
  const moved = (rules: readonly PathRule[]): PathRule[] =>
    rules.map((rule) => ({ ...rule, pattern: pattern(rule.pattern) }))
  const both = (rules: PathRules): PathRules => ({ ...rules, allow: moved(rules.allow), deny: moved(rules.deny) })
  const command = (rule: CommandRule): CommandRule => ({ ...rule, paths: rule.paths.map(pattern) })
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
