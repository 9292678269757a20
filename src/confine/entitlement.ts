/** What grants give a command: by typed words, or by the section of a server. PURE. */

import { posix } from 'node:path'
import type { Ecosystem } from '../egress/packages/release.ts'
import type { PackageRules } from '../egress/packages/rules.ts'
import type { EgressRules } from '../egress/route/rules.ts'
import type { SuffixLookup } from '../hosts/suffix.ts'
import type { McpServerSetting, SecretSetting } from '../manifest/schema/settings.ts'
import { type Decision, soleDecision } from '../policy/decision.ts'
import { pathsOfGrants } from '../policy/evaluate/carried-paths.ts'
import { grantMatches } from '../policy/evaluate/command-match.ts'
import { hostsOfCommand, keepsHosts, knownTool, usesNetwork } from '../policy/evaluate/network-use.ts'
import type { HostRule, PathRule, Policy } from '../policy/policy.ts'
import type { HeldHosts } from '../policy/programs/callers.ts'
import type { AnsweredPolicy } from '../project/answers.ts'
import { checkRules, declinedHosts, keylessHosts } from '../project/load/extend.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { builtInBundle } from '../sandbox/bundles/built-in.ts'
import type { AppliedBundle, RegistryFacts } from '../sandbox/bundles/bundle.ts'
import type { Word } from '../shell/facts.ts'
import { type RunGrants, toolHosts, type Variables } from './run-grants.ts'

/** Quotes words so that a shell reads them back unchanged. */
export function typedText(argv: readonly string[]): string {
  return argv.map(quoted).join(' ')
}

/**
 * Whether a written rule or a mode could deny a typed command. Otherwise it is not parsed: loading
 * the parser takes a fifth of the time of `cordon run -- true`.
 */
export function canBeDenied({ loaded: { policy } }: AnsweredPolicy, server: boolean): boolean {
  const { commands, shellPolicy, envelope, reads, writes, http, flags, flows } = policy
  const { mode, agent, agents, tools } = policy
  if (envelope !== null || flows.some(({ level }) => level === 'deny')) return true
  if (!server && (mode.value === 'plan' || agent.value === 'plan' || agents.size + tools.size > 0)) return true
  const denials = [commands.deny, commands.deniedDomains, http.denied, reads.deny, writes.deny]
  const off = Object.values(flags).filter(({ value }) => value !== true && value !== 'all')
  return [...denials.flat(), ...shellPolicy.allow, ...shellPolicy.deny, ...off].some(
    ({ source }) => source !== 'built-in',
  )
}

/** The decision about a command that nothing denies. */
export function undeniable(command: string, grants: readonly string[]): Decision {
  const subject = { kind: 'command', text: command } as const
  if (grants.length > 0) return soleDecision('allow', subject, { code: 'granted', message: `${grants[0]} grants it.` })
  return typedDecision(command, null)
}

/** A typed command runs even if an agent would be asked about it or denied it. */
export function typedDecision(command: string, judged: Decision | null): Decision {
  const asked = judged?.decision === 'deny' ? 'would be denied it' : 'would be asked about it'
  const message = `It was typed; an agent ${asked}${judged ? `: ${judged.reason.message}` : '.'}`
  return soleDecision('allow', { kind: 'command', text: command }, { code: 'typed', message }, judged?.rules ?? [])
}

/** Quotes a word; plain words stay readable. */
function quoted(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) && !KEYWORDS.has(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'if then elif else fi time for in until while do done case esac coproc select function'.split(' '),
)

/** More words than this are data. */
const MOST_WORDS = 200

/** Where projects keep their Python virtual environment. */
const ENVIRONMENTS = ['.venv', 'venv', 'env']

/**
 * Words of a text that may name programs, and the project's own Python, which git hooks and
 * Makefiles start. A false match only shows a useless folder.
 */
export function programWords(
  text: string,
  { root, cwd }: { readonly root: string; readonly cwd: string },
): readonly string[] {
  const words = text.split(/[\s;|&<>()"'`=]+/, MOST_WORDS).filter((word) => /^[\w~/.][\w@.+~/-]*$/.test(word))
  const named = words.map((word) => (/^[^~/].*\//.test(word) ? posix.resolve(cwd, word) : word))
  return [...new Set([...named, ...ENVIRONMENTS.map((name) => `${root}/${name}/bin/python`)])]
}

export interface Entitlement {
  /** The command's name in events and summaries. */
  readonly name: string
  /** The full command, for questions about hosts. */
  readonly whole?: string
  /** The words of its granting patterns; they select bundles. */
  readonly patterns: readonly (readonly string[])[]
  /** The same patterns as text, for the record. */
  readonly grants: readonly string[]
  /** Paths that the grants bring: visible and writable. */
  readonly paths: readonly PathRule[]
  /** Names of variables. */
  readonly envVars: readonly string[]
  readonly hosts: readonly HostRule[]
  /** Hosts that are for some of its programs alone; absent if all are for all. */
  readonly limited?: HeldHosts
  /** Programs that the command is known to start. */
  readonly programs: readonly string[]
  /** Suffixes of wildcard hosts that are not the manifest's. */
  readonly suffixes?: SuffixLookup
}

/** For what Cordon itself starts, such as a tool's script: only what is given here. */
export function entitleOwn(
  name: string,
  own: Partial<Pick<Entitlement, 'envVars' | 'hosts' | 'suffixes'>> = {},
): Entitlement {
  return { name, patterns: [], grants: [], paths: [], envVars: [], hosts: [], programs: [], ...own }
}

/**
 * For a command that a person typed. It needs no grant; a covering grant decides hosts and
 * variables, and its words select bundles.
 */
export function entitleWords(
  loaded: LoadedPolicy,
  command: readonly string[],
  granted: readonly RunGrants[],
  env: Variables | null,
): Entitlement {
  const { policy } = loaded
  const words = command.map(asWord)
  const covering = policy.commands.allow.filter((rule) => grantMatches(rule.pattern, words))
  const grants = covering.sort((a, b) => b.pattern.words.length - a.pattern.words.length).slice(0, 1)
  const tools = toolHosts(loaded, command, granted, env)
  const commands = { ...policy.commands, toolDomains: tools.domains }
  const hosts = hostsOfCommand({ commands }, grants, command)
  const byTool = tools.named.map(({ tool, programs }) => ({ tool, programs, rules: tools.domains.get(tool) ?? [] }))
  const program = command[0] ?? ''
  const known = knownTool(program)
  const isOwn = (rule: HostRule): boolean =>
    tools.domains.get(program)?.includes(rule) === true || keepsHosts(known!, command.slice(1))
  const toAll = granted.flatMap((one) => one.hosts.map(({ pattern }) => pattern.text))
  const rules = [
    ...(known === null ? [] : hosts.filter((rule) => !policy.commands.defaultDomains.includes(rule) && isOwn(rule))),
    ...byTool.filter(({ tool }) => knownTool(tool) !== null).flatMap((one) => one.rules),
  ].filter(({ pattern }) => !toAll.includes(pattern.text))
  const programs = [program, ...byTool.flatMap((one) => one.programs)].filter((name) => knownTool(name) !== null)
  const own = (words: readonly string[]): readonly HostRule[] => {
    const matching = policy.commands.allow.filter((rule) => grantMatches(rule.pattern, words.map(asWord)))
    return hostsOfCommand({ commands }, matching, words)
  }
  return {
    ...(rules.length > 0 && { limited: { rules, programs, own } }),
    name: grants[0]?.pattern.text ?? shorten(command.slice(0, 3).join(' '), command.length > 3),
    whole: typedText(command),
    // Bundles named for this run apply whatever program it starts.
    patterns: [command, ...tools.named.map(({ programs }) => programs.slice(0, 1))],
    grants: grants.map((grant) => grant.pattern.text),
    paths: pathsOfGrants(grants),
    envVars: grants.flatMap((grant) => grant.envVars),
    hosts: [...hosts, ...byTool.flatMap((one) => one.rules), ...granted.flatMap(({ hosts }) => hosts)],
    programs: command.slice(0, 1),
  }
}

/** For an MCP server: its section and the hosts of its program, instead of grants. */
export function entitleServer(
  { policy }: LoadedPolicy,
  words: Entitlement,
  { name, argv, domains, envVars }: McpServerSetting,
): Entitlement {
  const tools = (policy.commands.toolDomains.get(argv[0] ?? '') ?? []).filter((rule) =>
    usesNetwork(rule.commands, argv.slice(1)),
  )
  const { limited: _, ...rest } = words
  return { ...rest, name: `MCP server ${name}`, paths: [], envVars, hosts: [...domains, ...tools] }
}

export function asWord(text: string): Word {
  return { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span: { start: 0, end: 0 } }
}

/** Shortens a command to one line. */
export function shorten(text: string, isCut: boolean): string {
  return text.length > 60 || isCut ? `${text.slice(0, 60)} …` : text
}

/** The host rules of one command (N1). This machine's addresses are added if it has any network. */
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
    // Without a network there is nothing to check.
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

/** Package rules of a command; null without `[packages]`. */
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

/** Every host granted to some command: what a git remote may name. */
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
