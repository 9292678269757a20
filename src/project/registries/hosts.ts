/** Turns signed package registries into hosts of the programs that use them (O5). */

import { parseHost } from '../../hosts/host.ts'
import type { BundleSetting } from '../../manifest/schema/settings.ts'
import type { HostRule, Sourced } from '../../policy/policy.ts'
import { builtInBundle } from '../../sandbox/bundles/built-in.ts'
import { onlineCommands, type RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import { extendPolicy } from '../load/extend.ts'
import type { LoadedPolicy } from '../load/load.ts'

export function withRegistries<Loaded extends LoadedPolicy>(loaded: Loaded, registries: RegistryFacts): Loaded {
  return extendPolicy(loaded, { registries, toolHosts: registryHosts(loaded.sandbox.bundles, registries) })
}

export function registryHosts(
  bundles: readonly Sourced<BundleSetting>[],
  registries: RegistryFacts,
): readonly (readonly [program: string, rules: readonly HostRule[]])[] {
  return bundles.flatMap(({ value, rule, source }) => {
    const known = registries[value.tool] ?? []
    const bundle = known.length === 0 ? null : builtInBundle(value.tool)
    if (!bundle || !(value.fetch ?? bundle.fetch) || !value.defaultDomains) return []
    const hosts = known.flatMap(({ host, subdomains }) => {
      const parsed = parseHost(host.replace(/:\d+$/, ''))
      if ('problem' in parsed) return []
      const port = /:(\d+)$/.exec(host)?.[1]
      const pattern = {
        text: host,
        host: parsed.host,
        kind: parsed.kind,
        wildcard: false,
        port: port ? Number(port) : null,
      }
      const whole: HostRule = { pattern, rule, source }
      return subdomains
        ? [whole, { pattern: { ...pattern, text: `*.${host}`, wildcard: true }, rule, source }]
        : [whole]
    })
    if (hosts.length === 0) return []
    return [...bundle.programs, ...value.wrappers].map((program) => {
      const commands = bundle.programs.includes(program) ? onlineCommands(bundle, program) : undefined
      return [program, commands ? hosts.map((host) => ({ ...host, commands })) : hosts] as const
    })
  })
}
