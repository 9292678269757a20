/** Compiles the effective manifest to the policy. */

import { isInside } from '../files/baseline.ts'
import { exactPath } from '../files/path-pattern.ts'
import type { SpecialRange } from '../hosts/address.ts'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import { FILES, type FlowRule, readFlow } from '../policy/labels.ts'
import type { Verdict } from '../policy/order.ts'
import {
  type AgentRule,
  type CommandRule,
  type HostRule,
  type HostRules,
  type Mode,
  type NearbyKind,
  type PathRule,
  type PathRules,
  type Policy,
  type RuleRef,
  ref,
  type ShellFlags,
  type Sourced,
} from '../policy/policy.ts'
import { compileSandbox, compileSession } from './compile-settings.ts'
import { OBSERVE_PATH } from './layers.ts'
import { type CompileContext, Lookup, sourced } from './lookup.ts'
import { didYouMean } from './schema/format.ts'
import type { CommandEntry, HostEntry, Item, Manifest, PathEntry } from './schema/manifest.ts'
import type { BundleSetting, SandboxSettings, SessionSettings } from './schema/settings.ts'
import { nearest } from './schema/suggest.ts'
import type { Problem } from './toml/problem.ts'
import { joinKey, quoteShort, splitKey } from './toml/tree.ts'

export interface CompiledPolicy {
  readonly policy: Policy
  readonly sandbox: SandboxSettings
  readonly session: SessionSettings
  readonly warnings: readonly Problem[]
}

type CompileResult = CompiledPolicy | { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] }

export interface CompileOptions extends CompileContext {
  /** The hosts that a bundle brings along, by program; without it bundles bring only their written `domains`. */
  readonly bundleHosts?: (bundle: BundleSetting) => ReadonlyMap<string, readonly string[]>
  /** The subcommands of a bundle's program that have its hosts; undefined for every use. */
  readonly bundleCommands?: (bundle: BundleSetting, program: string) => readonly string[] | undefined
}

/** Compiles an effective manifest for one project in one environment. */
export function compileManifest(manifest: Manifest, options: CompileOptions): CompileResult {
  const lookup = new Lookup(manifest, options)
  const sandbox = compileSandbox(lookup)
  const session = compileSession(lookup)
  const secretFiles = secretFileRules(sandbox, session, lookup)
  const deniedEverywhere = lookup.hosts(lookup.items<string>('security.deny_domains'))
  const policy: Policy = {
    root: options.root,
    home: options.home,
    additionalDirectories: additionalDirectories(lookup),
    mode: lookup.scalar<Mode>('permission.mode'),
    agent: agent(lookup),
    agents: agents(lookup),
    interactive: lookup.scalar('permission.interactive'),
    observe: observeRule(lookup),
    autoAccept: lookup.scalar('permission.auto_accept'),
    tools: levels('permission.tools', lookup),
    flags: shellFlags(lookup),
    everyProgram: lookup.scalar('security.every_program'),
    runtimeGrants: lookup.scalar('security.runtime_grants'),
    outsideRoots: lookup.scalar('security.outside_roots'),
    promptReads: lookup.scalar('security.prompt_reads'),
    filterListings: lookup.scalar('security.filter_listings'),
    reads: withDenials(pathRules('read', lookup), secretFiles),
    nearby: lookup
      .items<NearbyKind>('capabilities.allow.read.nearby')
      .map((item) => ({ ...sourced(item), value: item.value })),
    writes: withDenials(pathRules('write', lookup), [...secretFiles, ...briefRule(session.discoveryBrief)]),
    envelope: envelope(lookup),
    readSizeLimit: lookup.scalar<number>('files.read_size_limit').value,
    commands: {
      allow: commandRules('capabilities.allow.commands.patterns', lookup),
      deny: commandRules('capabilities.deny.commands.patterns', lookup),
      declared: manifest.declared.has('capabilities.allow.commands'),
      defaultDomains: lookup.hosts(lookup.items<HostEntry>('capabilities.allow.commands.default_domains')),
      deniedDomains: [...deniedEverywhere, ...lookup.hosts(lookup.items<string>('capabilities.deny.commands.domains'))],
      toolDomains: toolDomains(sandbox.bundles, options, lookup),
    },
    flows: flows(lookup),
    shellPolicy: { allow: shellAllow(lookup), deny: lookup.texts('shell_policy.deny') },
    http: httpRules(lookup, deniedEverywhere),
    maskSecrets: sandbox.maskSecrets.value,
  }
  warnOfDangers(lookup)
  const { problems, warnings } = lookup
  return problems.length > 0 ? { problems, warnings } : { policy, sandbox, session, warnings }
}

/** Settings that warn at every load, and why (S4, A6). */
const DANGERS: readonly (readonly [path: string, why: string])[] = [
  ['security.privilege_wrappers', 'sudo and doas can be granted, and gain nothing inside the sandbox'],
  ['debug.dump_provider_payloads', 'prompts, results and answers are written to disk in clear text'],
]

function warnOfDangers(lookup: Lookup): void {
  for (const [path, message] of DANGERS) {
    const setting = lookup.scalar<boolean>(path)
    if (setting.value) lookup.warn(setting, { code: 'dangerous-setting', message, suggestion: 'delete it' })
  }
}

/**
 * The directories beside the root, at the end of their links. A link that is in another of these places may be the work of a
 * command there: it makes nothing a root.
 */
function additionalDirectories(lookup: Lookup): Sourced<string>[] {
  const { realpath, root } = lookup.context
  const written = lookup.items<string>('capabilities.allow.additional_directories').flatMap((item) => {
    const pattern = lookup.path(item.value, null, item)
    return pattern === null ? [] : [{ item, path: pattern.absolute }]
  })
  return written.flatMap(({ item, path }) => {
    const value = realpath === undefined ? path : realpath(path)
    const others = [root, ...written.filter((other) => other.path !== path).map((other) => other.path)]
    if (value !== null && (value === path || !others.some((other) => isInside(path, other)))) {
      return [{ ...sourced(item), value }]
    }
    lookup.warn(item, {
      code: 'unused',
      message:
        value === null
          ? `there is no directory ${quoteShort(item.value)}, so it is left out`
          : `${quoteShort(item.value)} is a link in a directory that commands may change, so it is left out`,
      suggestion:
        value === null
          ? 'create the directory, or delete the entry'
          : `write the path it points to: ${quoteShort(value)}`,
    })
    return []
  })
}

/** `[flows]`. What steers the agent reaches no file either where `taint_asks` says so. */
function flows(lookup: Lookup): FlowRule[] {
  const asks = lookup.scalar<boolean>('security.taint_asks')
  return [
    ...lookup.namesUnder('flows').flatMap((name): FlowRule[] => {
      const flow = readFlow(name)
      const { value: level, ...from } = lookup.scalar<Verdict>(joinKey('flows', name), 'flows.*')
      return flow === null ? [] : [{ ...from, ...flow, level }]
    }),
    ...(asks.value ? [{ ...ref(asks), from: 'instructions', to: FILES, level: 'ask' as const }] : []),
  ]
}

function observeRule({ manifest }: Lookup): RuleRef | null {
  const setting = manifest.settings.get(OBSERVE_PATH)
  return setting === undefined ? null : { rule: 'permission.mode', source: setting.source }
}

function agent(lookup: Lookup): Sourced<string> {
  const found = lookup.scalar<string>('permission.agent')
  const known = ['build', 'plan', ...lookup.namesUnder('agents')]
  if (!known.includes(found.value)) {
    const near = nearest(found.value, known)
    lookup.error(found, {
      code: 'bad-value',
      message: `there is no agent ${quoteShort(found.value)}`,
      expected: `one of ${known.join(', ')}, or a section [agents.${found.value}]`,
      found: quoteShort(found.value),
      suggestion: near === null ? null : didYouMean(JSON.stringify(near)),
    })
  }
  return found
}

function agents(lookup: Lookup): Map<string, AgentRule> {
  return new Map(
    lookup.namesUnder('agents').map((name) => {
      const path = joinKey('agents', name)
      const rule: AgentRule = {
        trustScore: lookup.scalar(`${path}.trust_score`, 'agents.*.trust_score'),
        mode: lookup.manifest.settings.has(`${path}.mode`) ? lookup.scalar(`${path}.mode`, 'agents.*.mode') : null,
        tools: levels(`${path}.tools`, lookup),
      }
      return [name, rule]
    }),
  )
}

function levels(section: string, lookup: Lookup): Map<string, Sourced<Verdict>> {
  const result = new Map<string, Sourced<Verdict>>()
  for (const path of lookup.manifest.settings.keys()) {
    if (path.startsWith(`${section}.`)) result.set(splitKey(path).at(-1)!, lookup.scalar<Verdict>(path))
  }
  return result
}

function shellFlags(lookup: Lookup): ShellFlags {
  const flag = <T>(name: string): Sourced<T> => lookup.scalar<T>(`security.${name}`)
  return {
    background: flag('background'),
    case_terminator: flag('case_terminator'),
    compound: flag('compound'),
    parameter_expansion: flag('parameter_expansion'),
    pipes: flag('pipes'),
    command_substitution: flag('command_substitution'),
    redirects: flag('redirects'),
    implicit_coordinators: flag('implicit_coordinators'),
    privilege_wrappers: flag('privilege_wrappers'),
    system_python: flag('system_python'),
  }
}

function pathRules(verb: 'read' | 'write', lookup: Lookup): PathRules {
  const rules = (path: string): PathRule[] =>
    lookup.items<PathEntry>(path).flatMap((item) => {
      const { path: text, files, prompt = false } = item.value
      const pattern = lookup.path(text, files, item)
      return pattern === null ? [] : [{ pattern, prompt, rule: item.rule, source: item.source }]
    })
  return {
    allow: rules(`capabilities.allow.${verb}.paths`),
    deny: rules(`capabilities.deny.${verb}.paths`),
    declared: lookup.manifest.declared.has(`capabilities.allow.${verb}`),
  }
}

function withDenials(rules: PathRules, denials: readonly PathRule[]): PathRules {
  return { ...rules, deny: [...rules.deny, ...denials] }
}

/** The agent must not write the brief, because the brief decides what the next session may change. */
function briefRule(brief: string | null): PathRule[] {
  return brief === null
    ? []
    : [{ pattern: exactPath(brief), prompt: false, rule: 'files.discovery_brief', source: 'built-in' }]
}

/** The files of brokered secrets: a command that reads one bypasses the broker, and one that writes one chooses who logs in. */
function secretFileRules(
  { secrets, parent }: SandboxSettings,
  { mcpServers }: SessionSettings,
  { manifest, context }: Lookup,
): PathRule[] {
  const login = manifest.settings.get('network.parent_proxy_login')
  const all = [
    ...secrets.map(({ value, rule, source }) => ({ from: value.source, rule, source })),
    ...mcpServers.flatMap(({ name, headers }) =>
      headers.map(({ from, source }) => ({ from, rule: `mcp_servers.${name}.headers`, source })),
    ),
    ...(parent.login && login ? [{ from: parent.login, rule: login.rule, source: login.source }] : []),
  ]
  return all
    .filter(({ from }) => from.kind === 'file')
    .flatMap(({ from, rule, source }) =>
      [...new Set([from.name, context.realpath?.(from.name) ?? from.name])].map((path) => ({
        ...{ pattern: exactPath(path), prompt: false, rule, source },
      })),
    )
}

function envelope(lookup: Lookup): PathRule[] | null {
  const items = lookup.items<string>('files.change_envelope')
  if (items.length === 0 && !lookup.manifest.settings.get('files.change_envelope')?.closed) return null
  return items.flatMap((item) => {
    const pattern = lookup.path(item.value, null, item)
    return pattern === null ? [] : [{ pattern, prompt: false, rule: item.rule, source: item.source }]
  })
}

function commandRules(path: string, lookup: Lookup): CommandRule[] {
  const defaults = lookup.texts('capabilities.allow.commands.default_env_vars').map((name) => name.value)
  const granted = path.includes('.allow.')
  return lookup.items<CommandEntry>(path).flatMap((item) => {
    const entry = item.value
    const parsed = parseCommandPattern(entry.command)
    if ('problem' in parsed) {
      lookup.error(item, { code: 'bad-command', message: parsed.problem, found: quoteShort(entry.command) })
      return []
    }
    const own = entry.env_vars?.map((name) => name.value) ?? []
    return [
      {
        pattern: parsed.pattern,
        prompt: entry.prompt ?? false,
        paths: (entry.paths ?? []).flatMap((path) => lookup.path(path.value, null, path) ?? []),
        envVars: granted ? [...new Set([...own, ...defaults])] : [],
        domains: lookup.hosts(entry.domains ?? []),
        inheritDefaultDomains: entry.inherit_default_domains ?? true,
        rule: item.rule,
        source: item.source,
      },
    ]
  })
}

/** Hosts of the bundles by program: a bundle applies to its tool and to its wrappers (O5). */
function toolDomains(
  bundles: readonly Sourced<BundleSetting>[],
  options: CompileOptions,
  lookup: Lookup,
): Map<string, HostRule[]> {
  const result = new Map<string, HostRule[]>()
  const add = (program: string, hosts: readonly HostRule[]): void => {
    if (hosts.length > 0) result.set(program, [...(result.get(program) ?? []), ...hosts])
  }
  for (const { value: bundle, rule, source } of bundles) {
    // Programs of a bundle mostly share one list of hosts.
    const rules = new Map<readonly string[], readonly HostRule[]>()
    const own = options.bundleHosts?.(bundle) ?? new Map<string, readonly string[]>()
    const item = (value: string): Item<string> => ({ value, rule, source, at: -1 })
    for (const program of new Set([bundle.tool, ...own.keys()])) {
      const names = own.get(program) ?? []
      const parsed = rules.get(names) ?? lookup.hosts(names.map(item))
      rules.set(names, parsed)
      const commands = options.bundleCommands?.(bundle, program)
      const hosts = [...bundle.domains, ...parsed].map((host) => (commands ? { ...host, commands } : host))
      add(program, hosts)
      // Programs go by their name here; a wrapper of several words is the sandbox's to recognize.
      const wrappers = program === bundle.tool ? bundle.wrappers.filter((wrapper) => !/[\s:]/.test(wrapper)) : []
      // A wrapper decides itself which word calls what.
      for (const wrapper of wrappers) add(wrapper, [...bundle.domains, ...parsed])
    }
  }
  return result
}

/** No command contains a NUL, so this matches nothing: where two layers disagree, it is closed. */
const NOTHING = '\0'

function shellAllow(lookup: Lookup): Sourced<string>[] {
  const setting = lookup.manifest.settings.get('shell_policy.allow')
  return setting?.closed
    ? [{ value: NOTHING, rule: setting.rule, source: setting.source }]
    : lookup.texts('shell_policy.allow')
}

function httpRules(lookup: Lookup, denied: readonly HostRule[]): HostRules {
  const written = lookup.manifest.settings.get('http.allowed_hosts')
  const items = lookup.items<HostEntry>('http.allowed_hosts')
  const special = lookup.texts('network.special_ranges').map((range) => range.value as SpecialRange)
  const allowPrivate = lookup.scalar<boolean>('http.allow_private_hosts').value
  const isWritten = lookup.manifest.settings.has('http.allow_private_hosts')
  return {
    // An empty list that was written is open; one that lost its entries to unset variables or a meeting is not.
    allowed: written === undefined || (items.length === 0 && !written.closed) ? null : lookup.hosts(items),
    denied,
    allowPrivate,
    ...(isWritten && !allowPrivate && { privateClosed: true }),
    ...(special.length > 0 && { specialRanges: special }),
  }
}
