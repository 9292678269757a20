/** What the way out of a command goes by: the hosts it has, and what closes some of them. PURE. */

import { posix } from 'node:path'
import type { Ecosystem } from '../egress/packages/release.ts'
import type { PackageRules } from '../egress/packages/rules.ts'
import type { EgressRules } from '../egress/route/rules.ts'
import type { SecretSetting } from '../manifest/schema/settings.ts'
import type { Policy } from '../policy/policy.ts'
import { checkRules, declinedHosts, keylessHosts } from '../project/load/keyed-hosts.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { builtInBundle } from '../sandbox/bundles/built-in.ts'
import type { AppliedBundle, RegistryFacts } from '../sandbox/bundles/bundle.ts'
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
    // Where there is not a network at all there is nothing to check.
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

/** What packages of a command are judged by; null where `[packages]` is not written. */
export function packageRules(
  { sandbox, root }: Pick<LoadedPolicy, 'sandbox' | 'root'>,
  { programs }: Pick<Entitlement, 'programs'>,
  applied: readonly AppliedBundle[],
  facts: RegistryFacts,
): PackageRules | null {
  if (sandbox.packages === null) return null
  const registries = Object.entries(facts).flatMap(([tool, found]) => {
    const ecosystem = builtInBundle(tool)?.packages
    if (ecosystem === undefined) return []
    return found.map(({ url, subdomains }) => ({ ecosystem, url: url.endsWith('/') ? url : `${url}/`, subdomains }))
  })
  const named = programs.map((program) => builtInBundle(posix.basename(program))?.packages)
  const managers = [...applied.map(({ bundle }) => bundle.packages), ...named].filter((one) => one !== undefined)
  return { ...sandbox.packages, registries, managers: [...new Set<Ecosystem>(managers)], root }
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
