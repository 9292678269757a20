/** The effective policy as the decision sees it: every layer merged, every pattern parsed, every rule with its origin. */

import type { PathPattern } from '../files/path-pattern.ts'
import type { SpecialRange } from '../hosts/address.ts'
import type { HostPattern } from '../hosts/pattern.ts'
import type { SuffixLookup } from '../hosts/suffix.ts'
import type { CommandPattern } from './command-pattern.ts'
import type { FlowRule } from './labels.ts'
import type { Verdict } from './order.ts'

/** A rule and its source: `capabilities.deny.commands.patterns[0]`, `cordon.toml:12:3`. */
export interface RuleRef {
  readonly rule: string
  readonly source: string
}

/** The rule alone, without what else its value carries. */
export function ref({ rule, source }: RuleRef): RuleRef {
  return { rule, source }
}

/** A value together with the rule that set it. */
export interface Sourced<T> extends RuleRef {
  readonly value: T
}

/** The modes of P2 and P10. */
export const MODES = ['plan', 'default', 'custom', 'auto_accept', 'contained', 'auto'] as const
export type Mode = (typeof MODES)[number]

/** A path grant or denial: a pattern of directories or files, narrowed to basenames. */
export interface PathRule extends RuleRef {
  readonly pattern: PathPattern
  readonly prompt: boolean
}

/** A rule that closes paths. */
export interface PathDenial extends PathRule {
  /** It asks instead, whatever mode answers asks. */
  readonly asks?: true
}

/** A command grant or denial, and what it adds. */
export interface CommandRule extends RuleRef {
  readonly pattern: CommandPattern
  readonly prompt: boolean
  readonly paths: readonly PathPattern[]
  readonly envVars: readonly string[]
  readonly domains: readonly HostRule[]
  readonly inheritDefaultDomains: boolean
}

/** A rule that closes commands. */
export interface CommandDenial extends CommandRule {
  /** It asks instead, whatever mode answers asks. */
  readonly asks?: true
  /** Exceptions of a weaker rule, for agent hosts where the last rule wins. */
  readonly except?: readonly CommandPattern[]
}

export interface HostRule extends RuleRef {
  readonly pattern: HostPattern
  /** Upper-case methods and path globs that narrow the rule; undefined means any. */
  readonly methods?: readonly string[]
  readonly paths?: readonly string[]
  /** Requests, and bytes of requests, for a session; undefined means any number. */
  readonly maxRequests?: number
  readonly maxUpload?: number
  /** TLS passes through unopened: name and address are checked, the content is not. */
  readonly tls?: 'pass'
  /** git alone, over ssh that Cordon runs outside with the person's own keys: to read repositories, or to write them too. */
  readonly ssh?: 'fetch' | 'push'
  /** An agent behind a unix socket that signs commits by this key, and does nothing else. */
  readonly signs?: string
  /** Of a tool's own hosts: the subcommands that have it (`fetch`, `remote update`); undefined means any use of the tool. */
  readonly commands?: readonly string[]
}

/** `allowed` of null: the list was never written (public hosts are open to the http tools); `[]` after expansion stays closed. */
export interface HostRules {
  readonly allowed: readonly HostRule[] | null
  readonly denied: readonly HostRule[]
  readonly allowPrivate: boolean
  /** Somebody wrote `allow_private_hosts = false`: then a port of this machine that a grant names stays closed too. */
  readonly privateClosed?: true
  /** Ranges of special use that names may resolve into, by the person's own word. */
  readonly specialRanges?: readonly SpecialRange[]
  /** Given when a wildcard is listed: it then does not reach below another public suffix. */
  readonly suffixes?: SuffixLookup
}

/** Ordinary source outside the project: repositories in the same folder of the home, packages that are installed for the user. */
export type NearbyKind = 'repositories' | 'packages'

export interface PathRules {
  readonly allow: readonly PathRule[]
  readonly deny: readonly PathDenial[]
  /** True when the manifest wrote an allow section of this kind, even an empty one. */
  readonly declared: boolean
}

export interface ShellFlags {
  readonly background: Sourced<boolean>
  readonly case_terminator: Sourced<boolean>
  readonly compound: Sourced<boolean>
  readonly parameter_expansion: Sourced<boolean>
  readonly pipes: Sourced<boolean>
  readonly command_substitution: Sourced<boolean>
  readonly redirects: Sourced<'none' | 'streams' | 'all'>
  readonly implicit_coordinators: Sourced<boolean>
  readonly privilege_wrappers: Sourced<boolean>
  readonly system_python: Sourced<boolean>
}

export interface AgentRule {
  readonly trustScore: Sourced<number>
  readonly mode: Sourced<Mode> | null
  readonly tools: ReadonlyMap<string, Sourced<Verdict>>
}

export interface Policy {
  /** Canonical project root. */
  readonly root: string
  readonly home: string
  /** Canonical `additional_directories`. */
  readonly additionalDirectories: readonly Sourced<string>[]
  readonly mode: Sourced<Mode>
  readonly agent: Sourced<string>
  readonly agents: ReadonlyMap<string, AgentRule>
  readonly interactive: Sourced<boolean>
  /** The person's own `permission.mode = "observe"` (P11): nothing is asked; the mode of the project still decides what would be. */
  readonly observe?: RuleRef | null
  readonly autoAccept: Sourced<boolean>
  /** `[permission.tools]`, without `/perm` changes: those are session facts. */
  readonly tools: ReadonlyMap<string, Sourced<Verdict>>
  readonly flags: ShellFlags
  /** Grants are needed by every program that a command starts, not by its text alone (S8). */
  readonly everyProgram: Sourced<boolean>
  readonly runtimeGrants: Sourced<boolean>
  readonly outsideRoots: Sourced<'deny' | 'ask'>
  readonly promptReads: Sourced<boolean>
  readonly filterListings: Sourced<boolean>
  readonly reads: PathRules
  /** What a call may read outside the project by name. */
  readonly nearby: readonly Sourced<NearbyKind>[]
  readonly writes: PathRules
  /** `change_envelope`: null when none is set; otherwise a write must match one. */
  readonly envelope: readonly PathRule[] | null
  readonly readSizeLimit: number
  readonly commands: {
    readonly allow: readonly CommandRule[]
    readonly deny: readonly CommandDenial[]
    readonly declared: boolean
    readonly defaultDomains: readonly HostRule[]
    readonly deniedDomains: readonly HostRule[]
    /** Hosts that bundles grant to their tool (`git` -> github.com), by program name. */
    readonly toolDomains: ReadonlyMap<string, readonly HostRule[]>
  }
  /** `[flows]`: where labelled data may go. */
  readonly flows: readonly FlowRule[]
  readonly shellPolicy: { readonly allow: readonly Sourced<string>[]; readonly deny: readonly Sourced<string>[] }
  /** Host rules of the http and webfetch tools. */
  readonly http: HostRules
  /** `command_mask_secrets`: secret-shaped files are hidden unless a grant names them. */
  readonly maskSecrets: boolean
}
