/** The package registries that were signed with a manifest, as hosts of the programs that use them (O5). */

import { parseHost } from '../../../hosts/host.ts'
import type { HostRule } from '../../../policy/policy.ts'
import { builtInBundle } from '../../../sandbox/bundles/built-in.ts'
import { onlineCommands, type RegistryFacts } from '../../../sandbox/bundles/bundle.ts'
import type { LoadedPolicy } from '../load.ts'

/** The policy with the registries of its bundles among the hosts of their programs. */
export function withRegistries<T extends LoadedPolicy>(loaded: T, registries: RegistryFacts): T {
  const toolDomains = new Map(loaded.policy.commands.toolDomains)
  for (const { value, rule, source } of loaded.sandbox.bundles) {
    const known = registries[value.tool] ?? []
    const bundle = known.length === 0 ? null : builtInBundle(value.tool)
    if (!bundle || !(value.fetch ?? bundle.fetch) || !value.defaultDomains) continue
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
    for (const program of [...bundle.programs, ...value.wrappers]) {
      const commands = bundle.programs.includes(program) ? onlineCommands(bundle, program) : undefined
      const own = commands ? hosts.map((host) => ({ ...host, commands })) : hosts
      if (own.length > 0) toolDomains.set(program, [...(toolDomains.get(program) ?? []), ...own])
    }
  }
  const { policy } = loaded
  return { ...loaded, registries, policy: { ...policy, commands: { ...policy.commands, toolDomains } } }
}
