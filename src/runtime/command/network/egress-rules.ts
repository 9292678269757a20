/** What the way out of a command goes by: the hosts it has, and what closes some of them. */

import type { EgressRules } from '../../../egress/rules.ts'
import type { HostRule, Policy } from '../../../policy/policy.ts'
import { keylessHosts } from '../../policy/keyed-hosts.ts'
import type { LoadedPolicy } from '../../policy/load.ts'

/** The rules of one command (N1). Without any host it has no network. */
export function egressRules(
  loaded: Pick<LoadedPolicy, 'policy' | 'sandbox'>,
  command: string,
  allowed: readonly HostRule[],
  programs: readonly string[],
  ownAddresses: () => readonly string[],
): EgressRules {
  const { policy } = loaded
  const keyless = keylessHosts(loaded, programs)
  return {
    command,
    allowed,
    denied: policy.commands.deniedDomains,
    allowPrivate: policy.http.allowPrivate,
    ownAddresses: allowed.length > 0 ? ownAddresses() : [],
    ...(policy.http.specialRanges && { specialRanges: policy.http.specialRanges }),
    ...(keyless.length > 0 && { keyless }),
    ...(policy.http.suffixes && { suffixes: policy.http.suffixes }),
  }
}

/** Every host that the policy or this command's answers grant to some command, as patterns: what a remote of git may name. */
export function grantedHosts(policy: Policy, rules: EgressRules): readonly string[] {
  const { commands } = policy
  const granted = [
    ...(rules.allowed ?? []),
    ...commands.defaultDomains,
    ...commands.allow.flatMap((grant) => grant.domains),
    ...[...commands.toolDomains.values()].flat(),
  ]
  const named = granted.filter(({ pattern }) => pattern.kind !== 'unix')
  const patterns = named.map(({ pattern }) => (pattern.wildcard ? `*.${pattern.host}` : pattern.host))
  return [...new Set(rules.allowed === null ? ['*', ...patterns] : patterns)]
}
