/** Which hosts a command may reach, from the policy and the grants that cover it. */

import type { EgressRules } from '../../egress/rules.ts'
import type { CommandRule, HostRule, Policy } from '../../policy/policy.ts'
import { keylessHosts } from '../policy/keyed-hosts.ts'
import type { LoadedPolicy } from '../policy/load.ts'

/**
 * The hosts of one command (N1): the domains of its grants, the default domains unless a grant opts out, and what bundles give
 * its programs. Without any the command has no network.
 */
export function egressRules(
  loaded: Pick<LoadedPolicy, 'policy' | 'sandbox'>,
  command: string,
  grants: readonly CommandRule[],
  programs: readonly string[],
  ownAddresses: () => readonly string[],
): EgressRules {
  const { policy } = loaded
  const keyless = keylessHosts(loaded, programs)
  const inherits = grants.length === 0 || grants.some((grant) => grant.inheritDefaultDomains)
  const allowed: readonly HostRule[] = [
    ...grants.flatMap((grant) => grant.domains),
    ...(inherits ? policy.commands.defaultDomains : []),
    ...programs.flatMap((program) => policy.commands.toolDomains.get(program) ?? []),
  ]
  return {
    command,
    allowed,
    denied: policy.commands.deniedDomains,
    allowPrivate: policy.http.allowPrivate,
    ownAddresses: allowed.length > 0 ? ownAddresses() : [],
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
  const patterns = granted.map(({ pattern }) => (pattern.wildcard ? `*.${pattern.host}` : pattern.host))
  return [...new Set(rules.allowed === null ? ['*', ...patterns] : patterns)]
}
