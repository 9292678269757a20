/** Keys of the person that a bundle's tool needs: brokered, so that the tool inside holds a placeholder (N7). */

import { parseHostPattern } from '../../../hosts/pattern.ts'
import type { SecretSetting } from '../../../manifest/schema/settings.ts'
import type { HostRule, Sourced } from '../../../policy/policy.ts'
import { builtInBundle } from '../../../sandbox/bundles/built-in.ts'
import { type AppliedBundle, selectBundles } from '../../../sandbox/bundles/bundle.ts'
import type { Machine } from '../../../system/machine.ts'
import { withKeyedHosts } from '../../policy/keyed-hosts.ts'
import type { LoadedPolicy } from '../../policy/load.ts'

/**
 * The policy with the keys of the bundles that apply to a command which the person typed. A key goes to the bundle's own hosts
 * alone, and no other credential goes there; an entry of the manifest with the same name stands in its place, and a key that is
 * not set is not there.
 */
export function withBundleSecrets(loaded: LoadedPolicy, machine: Machine, command: readonly string[]): LoadedPolicy {
  const choices = loaded.sandbox.bundles.map((choice) => choice.value)
  if (choices.length === 0) return loaded
  const applied = selectBundles(choices, command, builtInBundle)
  const named = new Map(applied.flatMap(({ bundle }) => bundle.secrets.map((secret) => [secret.name, secret] as const)))
  const written = loaded.sandbox.secrets.map((secret) => {
    const own = named.get(secret.value.name)
    if (!own) return secret
    const { passHeaders = [], passParameters = [] } = secret.value
    const passed = {
      passHeaders: [...passHeaders, ...own.passHeaders],
      passParameters: [...passParameters, ...own.passParameters],
    }
    return { ...secret, value: { ...secret.value, exclusive: true, ...passed } }
  })
  const brokered = applied
    .flatMap((bundle) => secretsOf(bundle))
    .filter(({ value: { name } }) => (machine.env[name] ?? '') !== '')
    .filter(({ value: { name } }) => !written.some((secret) => secret.value.name === name))
  const unique = [...new Map(brokered.map((secret) => [secret.value.name, secret])).values()]
  const known = { ...loaded, sandbox: { ...loaded.sandbox, secrets: [...written, ...unique] } }
  return withKeyedHosts(known, new Set(unique.map((secret) => secret.value.name)))
}

function secretsOf({ bundle, fetch, defaultDomains }: AppliedBundle): Sourced<SecretSetting>[] {
  if (!fetch || !defaultDomains) return []
  const rule = `bundle ${bundle.tool}`
  const placed = bundle.secrets.filter(({ hosts }) => hosts.length > 0)
  return placed.map(({ name, hosts, header, passHeaders, passParameters }) => ({
    value: {
      name,
      header,
      source: { kind: 'env', name },
      hosts: hosts.flatMap((host) => hostRule(host, rule)),
      exclusive: true,
      passHeaders,
      passParameters,
    },
    rule,
    source: 'built-in',
  }))
}

function hostRule(host: string, rule: string): HostRule[] {
  const parsed = parseHostPattern(host, null)
  return 'pattern' in parsed ? [{ pattern: parsed.pattern, rule, source: 'built-in' }] : []
}
