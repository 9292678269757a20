/** What the way out of a command goes by: the hosts it has, and what closes some of them. PURE. */

import type { EgressRules } from '../egress/route/rules.ts'
import type { SecretSetting } from '../manifest/schema/settings.ts'
import type { Policy } from '../policy/policy.ts'
import { checkRules, declinedHosts, keylessHosts } from '../project/load/keyed-hosts.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { Entitlement } from './entitlement.ts'

/** The rules of one command (N1); addresses of this machine are added where it has a way out. */
export function egressRules(
  { policy, sandbox }: Pick<LoadedPolicy, 'policy' | 'sandbox'>,
  { name, whole, hosts, programs, suffixes = policy.http.suffixes }: Entitlement,
  secrets: readonly SecretSetting[],
): EgressRules {
  const brokered = new Set(secrets.map((secret) => secret.name))
  const keyless = keylessHosts(sandbox.bundles, programs, brokered)
  const declined = declinedHosts(sandbox.bundles, programs)
  return {
    command: name,
    ...(whole !== undefined && { whole }),
    // Where there is no network at all there is nothing to check.
    allowed: hosts === null || hosts.length === 0 ? hosts : [...hosts, ...checkRules(sandbox.bundles, programs)],
    denied: policy.commands.deniedDomains,
    allowPrivate: policy.http.allowPrivate,
    opensNamedLoopback: policy.http.privateClosed !== true,
    ...(policy.http.specialRanges && { specialRanges: policy.http.specialRanges }),
    ...(keyless.length > 0 && { keyless }),
    ...(declined.size > 0 && { declined }),
    ...(suffixes && { suffixes }),
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
