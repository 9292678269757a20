/** What the grants of a command give it: by the words that a person typed, or by the section of a server. PURE. */

import type { SuffixLookup } from '../hosts/suffix.ts'
import type { McpServerSetting } from '../manifest/schema/settings.ts'
import { pathsOfGrants } from '../policy/evaluate/carried-paths.ts'
import { grantMatches } from '../policy/evaluate/command-match.ts'
import { hostsOfCommand, usesNetwork } from '../policy/evaluate/network-use.ts'
import type { HostRule, PathRule } from '../policy/policy.ts'
import type { HeldHosts } from '../policy/programs/callers.ts'
import { keepsHosts, knownTool } from '../policy/programs/tools.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { Word } from '../shell/facts.ts'
import { type RunGrants, toolHosts, type Variables } from './run-grants.ts'
import { typedText } from './typed-words.ts'

export interface Entitlement {
  /** How events and summaries call the command. */
  readonly name: string
  /** All of it, for a person who is asked about a host. */
  readonly whole?: string
  /** The words of the patterns that grant it: they decide which bundles come along. */
  readonly patterns: readonly (readonly string[])[]
  /** The same patterns as they are written, for the record. */
  readonly grants: readonly string[]
  /** What they carry along: shown, and writable. */
  readonly paths: readonly PathRule[]
  /** Names of variables. */
  readonly envVars: readonly string[]
  readonly hosts: readonly HostRule[]
  /** Those of them that are for some of its programs alone; absent where all are for all. */
  readonly held?: HeldHosts
  /** The programs that it is known to start. */
  readonly programs: readonly string[]
  /** Of hosts with wildcards that are not the manifest's. */
  readonly suffixes?: SuffixLookup
}

/** Of what Cordon itself starts, such as the script of a tool: nothing but what is said. */
export function entitleOwn(
  name: string,
  own: Partial<Pick<Entitlement, 'envVars' | 'hosts' | 'suffixes'>> = {},
): Entitlement {
  return { name, patterns: [], grants: [], paths: [], envVars: [], hosts: [], programs: [], ...own }
}

/**
 * Of a command that the person typed: it needs no grant, but the grant that covers it decides hosts and variables, and its own
 * words decide the bundles. `env`: where the person's keys are, when the command's tools may have them brokered.
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
  const rules = [
    ...(known === null ? [] : hosts.filter((rule) => !policy.commands.defaultDomains.includes(rule) && isOwn(rule))),
    ...byTool.filter(({ tool }) => knownTool(tool) !== null).flatMap((one) => one.rules),
  ]
  const programs = [program, ...byTool.flatMap((one) => one.programs)].filter((name) => knownTool(name) !== null)
  const own = (words: readonly string[]): readonly HostRule[] => {
    const matching = policy.commands.allow.filter((rule) => grantMatches(rule.pattern, words.map(asWord)))
    return hostsOfCommand({ commands }, matching, words)
  }
  return {
    ...(rules.length > 0 && { held: { rules, programs, own } }),
    name: grants[0]?.pattern.text ?? shorten(command.slice(0, 3).join(' '), command.length > 3),
    whole: typedText(command),
    // Named for this run: whichever of their programs it starts, and however.
    patterns: [command, ...tools.named.map(({ programs }) => programs.slice(0, 1))],
    grants: grants.map((grant) => grant.pattern.text),
    paths: pathsOfGrants(grants),
    envVars: grants.flatMap((grant) => grant.envVars),
    hosts: [...hosts, ...byTool.flatMap((one) => one.rules), ...granted.flatMap(({ hosts }) => hosts)],
    programs: command.slice(0, 1),
  }
}

/** Of an MCP server with a section: that, and the hosts of its own program, in place of what a grant gives. */
export function entitleServer(
  { policy }: LoadedPolicy,
  words: Entitlement,
  { name, argv, domains, envVars }: McpServerSetting,
): Entitlement {
  const tools = (policy.commands.toolDomains.get(argv[0] ?? '') ?? []).filter((rule) =>
    usesNetwork(rule.commands, argv.slice(1)),
  )
  const { held: _, ...rest } = words
  return { ...rest, name: `MCP server ${name}`, paths: [], envVars, hosts: [...domains, ...tools] }
}

export function asWord(text: string): Word {
  return { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span: { start: 0, end: 0 } }
}

/** A name of a command that fits into a line. */
export function shorten(text: string, isCut: boolean): string {
  return text.length > 60 || isCut ? `${text.slice(0, 60)} …` : text
}
