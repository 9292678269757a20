/** Compiles the effective manifest to the settings of sandbox and session. */

import type { Verdict } from '../policy/order.ts'
import type { Sourced } from '../policy/policy.ts'
import { compileMcpRules, compileServers } from './compile-servers.ts'
import { type Lookup, sourced } from './lookup.ts'
import type { BundleEntry, HostEntry, PathEntry, SecretEntry } from './schema/manifest.ts'
import type {
  BundleSetting,
  ComponentSetting,
  CustomToolSettings,
  PackageSettings,
  ParentSetting,
  ReviewSettings,
  RingSettings,
  SandboxSettings,
  SecretSetting,
  SessionSettings,
} from './schema/settings.ts'
import { joinKey } from './toml/tree.ts'

/** Compiles `[sandbox.os]`, `[limits]`, `[[secrets]]` and the denied names and variables. */
export function compileSandbox(lookup: Lookup): SandboxSettings {
  return {
    backend: lookup.scalar('sandbox.os.backend'),
    require: lookup.scalar('sandbox.os.require'),
    commandFs: lookup.scalar('sandbox.os.command_fs'),
    maskSecrets: lookup.scalar('sandbox.os.command_mask_secrets'),
    maskTracked: lookup.scalar('sandbox.os.mask_tracked'),
    maskedNames: maskedNames(lookup),
    bundles: bundles(lookup),
    envAllowlist: lookup.manifest.settings.has('sandbox.os.env_allowlist')
      ? lookup.texts('sandbox.os.env_allowlist')
      : null,
    envDenied: lookup.texts('capabilities.deny.commands.env_vars'),
    devServerPorts: lookup.items<number>('sandbox.os.dev_server_ports').map(sourced),
    caFiles: lookup.texts('sandbox.os.ca_files').map((file) => lookup.absolute(file.value)),
    parent: parent(lookup),
    secrets: lookup
      .items<SecretEntry>('secrets')
      .map((item) => ({ ...sourced(item), value: secret(item.value, lookup) })),
    limits: {
      commandTimeout: lookup.scalar('limits.command_timeout'),
      maxOutputBytes: lookup.scalar('limits.max_output_bytes'),
      memory: lookup.scalar('limits.memory'),
      processes: lookup.scalar('limits.processes'),
      cpu: lookup.scalar('limits.cpu'),
    },
    packages: packages(lookup),
  }
}

function packages(lookup: Lookup): PackageSettings | null {
  const { declared, settings } = lookup.manifest
  if (!declared.has('packages') && ![...settings.keys()].some((path) => path.startsWith('packages.'))) return null
  const level = (name: string): Verdict => lookup.scalar<Verdict>(`packages.${name}`).value
  return {
    minimumAge: lookup.scalar<number | null>('packages.minimum_age').value,
    newDependencies: level('new_dependencies'),
    installScripts: level('install_scripts'),
    lookAlikes: level('look_alikes'),
    trusted: lookup.texts('packages.trusted').map((name) => name.value),
  }
}

function maskedNames(lookup: Lookup): Sourced<string>[] {
  const denied = lookup.items<PathEntry>('capabilities.deny.read.paths')
  const seen = new Set<string>()
  return denied.flatMap((item) => {
    const names = item.value.path === '**' ? (item.value.files ?? []) : deniedEverywhere(item.value)
    return names
      .filter((name) => !/^[*?.]+$/.test(name) && !seen.has(name) && seen.add(name))
      .map((value) => ({ value, rule: item.rule, source: item.source }))
  })
}

/** The basename of a denial such as `**` + `/*.sqlite`, which matches at any depth. */
function deniedEverywhere(entry: PathEntry): readonly string[] {
  const name = /^\*\*\/([^/]+)$/.exec(entry.path)?.[1]
  return name === undefined || entry.files !== null ? [] : [name]
}

function bundles(lookup: Lookup): Sourced<BundleSetting>[] {
  const shared = lookup.texts('sandbox.os.wrappers').map((wrapper) => wrapper.value)
  return lookup.items<BundleEntry>('sandbox.os.command_tools').map((item) => {
    const { tool, fetch, install, domains, default_domains, wrappers } = item.value
    const value: BundleSetting = {
      tool,
      fetch: fetch ?? null,
      install: install ?? null,
      domains: lookup.hosts(domains ?? []),
      defaultDomains: default_domains ?? true,
      wrappers: [...new Set([...(wrappers ?? []).map((wrapper) => wrapper.value), ...shared])],
    }
    return { value, rule: item.rule, source: item.source }
  })
}

function parent(lookup: Lookup): ParentSetting {
  const login = lookup.scalar<string | null>('network.parent_proxy_login').value
  return {
    proxy: lookup.scalar<string>('network.parent_proxy').value,
    login: login === null ? null : lookup.secretSource(login),
    bypass: lookup.manifest.settings.has('network.no_proxy')
      ? lookup.texts('network.no_proxy').map((entry) => entry.value)
      : null,
  }
}

function secret(entry: SecretEntry, lookup: Lookup): SecretSetting {
  return {
    name: entry.name,
    source: lookup.secretSource(entry.source),
    hosts: lookup.hosts(entry.hosts),
    header: (entry.header ?? (entry.query === undefined ? 'authorization' : undefined))?.toLowerCase() ?? null,
    ...(entry.query !== undefined && { query: entry.query }),
    ...(entry.part === 'password' && { part: entry.part }),
    ...(entry.after !== undefined && entry.after !== '' && { after: entry.after }),
    ...(entry.as === 'file' && { asFile: true as const }),
    ...(entry.sign !== undefined && { signs: entry.sign }),
    ...(entry.login !== undefined && { login: entry.login }),
    ...(entry.pass_headers && { passHeaders: entry.pass_headers.map((item) => item.value.toLowerCase()) }),
    ...(entry.pass_parameters && { passParameters: entry.pass_parameters.map((item) => item.value.toLowerCase()) }),
  }
}

/** Compiles the settings of session, tools and record. */
export function compileSession(lookup: Lookup): SessionSettings {
  const modules = lookup.manifest.settings.get('capabilities.python.allowed_modules')
  const allowed = lookup.texts('capabilities.python.allowed_modules').map((module) => module.value)
  const brief = lookup.scalar<string | null>('files.discovery_brief').value
  return {
    hideModel: lookup.scalar('security.hide_model'),
    rings: { 1: ring(1, lookup), 2: ring(2, lookup), 3: ring(3, lookup) },
    breaker: {
      failures: lookup.scalar<number>('rings.breaker.failures').value,
      cooldown: lookup.scalar<number>('rings.breaker.cooldown').value,
    },
    audit: {
      maxBytes: lookup.scalar<number>('audit.max_bytes').value,
      arguments: lookup.scalar('audit.arguments'),
    },
    approvals: {
      webhook: lookup.scalar<string | null>('approvals.webhook').value,
      format: lookup.scalar<'json' | 'ntfy'>('approvals.format').value,
      answerUrl: lookup.scalar<string | null>('approvals.answer_url').value,
      desktop: lookup.scalar<boolean>('approvals.desktop').value,
    },
    review: {
      command: lookup.texts('review.with').map(({ value }) => value),
      upTo: lookup.scalar<ReviewSettings['upTo']>('review.up_to').value,
      perHour: lookup.scalar<number>('review.per_hour').value,
      seconds: lookup.scalar<number>('review.timeout').value,
      instructions: lookup.scalar<string | null>('review.instructions').value,
    },
    tools: new Map(lookup.namesUnder('tools').map((name) => [name, customTool(name, lookup)])),
    mcpRules: compileMcpRules(lookup),
    mcpServers: compileServers(lookup),
    components: lookup.namesUnder('components').map((name) => component(name, lookup)),
    containers: {
      engines: lookup.manifest.settings.has('sandbox.run.engines')
        ? lookup.texts('sandbox.run.engines').map((engine) => engine.value)
        : ALL_ENGINES,
      image: lookup.scalar<string | null>('sandbox.run.image').value,
      memoryBytes: lookup.scalar<number>('sandbox.run.memory').value,
      seconds: lookup.scalar<number>('sandbox.run.timeout').value,
    },
    python: {
      allowedModules: allowed.length === 0 && !modules?.closed ? null : allowed,
      blockedModules: lookup.texts('capabilities.python.blocked_modules').map((module) => module.value),
    },
    discoveryBrief: brief === null ? null : lookup.absolute(brief),
    directory: lookup.scalar<'own' | 'project'>('files.session_directory').value,
    dumpProviderPayloads: lookup.scalar('debug.dump_provider_payloads'),
  }
}

/** The strongest wall first. */
const ALL_ENGINES: readonly string[] = ['runsc', 'runc', 'crun', 'podman', 'docker', 'os']

function ring(number: 1 | 2 | 3, lookup: Lookup): RingSettings {
  return {
    callsPerMinute: lookup.scalar<number | null>(`rings.${number}.calls_per_minute`).value,
    seconds: lookup.scalar<number | null>(`rings.${number}.seconds`).value,
    // Ring 3 runs nothing that needs its own memory.
    memory: number === 3 ? null : lookup.scalar<number | null>(`rings.${number}.memory`).value,
  }
}

function component(name: string, lookup: Lookup): ComponentSetting {
  const path = joinKey('components', name)
  return {
    name,
    sha256: lookup.scalar<string | null>(`${path}.sha256`, 'components.*.sha256').value,
    tools: lookup.texts(`${path}.tools`).map((tool) => tool.value),
    model: lookup.scalar<boolean>(`${path}.model`, 'components.*.model').value,
    storageBytes: lookup.scalar<number>(`${path}.storage`, 'components.*.storage').value,
    memoryBytes: lookup.scalar<number>(`${path}.memory`, 'components.*.memory').value,
  }
}

function customTool(name: string, lookup: Lookup): CustomToolSettings {
  const path = joinKey('tools', name)
  const written = (key: string): boolean => lookup.manifest.settings.has(`${path}.${key}`)
  return {
    enabled: lookup.scalar(`${path}.enabled`, 'tools.*.enabled'),
    requireConfirmation: lookup.scalar(`${path}.require_confirmation`, 'tools.*.require_confirmation'),
    timeout: lookup.scalar<number | null>(`${path}.timeout`, 'tools.*.timeout').value,
    maxOutputBytes: lookup.scalar<number | null>(`${path}.max_output_bytes`, 'tools.*.max_output_bytes').value,
    envVars: written('env_vars') ? lookup.texts(`${path}.env_vars`).map((name) => name.value) : null,
    domains: written('domains') ? lookup.hosts(lookup.items<HostEntry>(`${path}.domains`)) : null,
  }
}
