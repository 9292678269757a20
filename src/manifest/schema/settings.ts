/** Settings beyond decisions: the contents of the sandbox, limits, records. */

import type { McpRules } from '../../policy/mcp-rules.ts'
import type { Verdict } from '../../policy/order.ts'
import type { HostRule, PathRule, Sourced } from '../../policy/policy.ts'
import type { ReviewBound } from '../../policy/review-bound.ts'

/** `[sandbox.os] backend`, on Linux. */
type CommandBackend = 'bwrap' | 'landlock' | 'runc' | 'runsc'

/** `[sandbox.os] require`: what a machine must support for a command to run. */
type Requirement = 'nothing' | 'namespaces'

export type CommandFs = 'none' | 'system' | 'permissive' | 'all'

/** A bundle that the manifest asks for; null knobs have the bundle's own default. */
export interface BundleSetting {
  readonly tool: string
  readonly fetch: boolean | null
  readonly install: boolean | null
  readonly domains: readonly HostRule[]
  /** False: without the bundle's own hosts. */
  readonly defaultDomains: boolean
  /** Its own wrappers and those of the section. */
  readonly wrappers: readonly string[]
}

export interface SecretSource {
  readonly kind: 'env' | 'keychain' | 'file'
  readonly name: string
}

/** A secret that stays outside the sandbox (N7). */
export interface SecretSetting {
  readonly name: string
  readonly source: SecretSource
  readonly hosts: readonly HostRule[]
  /** Lower-case; null when only a query parameter carries it. */
  readonly header: string | null
  /** The query parameter that carries it. */
  readonly query?: string
  /** `password`: of the URL at the source. */
  readonly part?: 'password'
  /** The secret is what follows this text at the source. */
  readonly after?: string
  /** The variable names a file with the secret. */
  readonly asFile?: true
  /** Requests are signed with it outside, and it goes nowhere. */
  readonly signs?: 'aws'
  /** The password of a database with this protocol; Cordon logs in outside the sandbox. */
  readonly login?: 'postgres' | 'redis'
  /** Every request to its hosts carries it: an agent's provider would take data for somebody else's account. */
  readonly exclusive?: boolean
  /** Headers and parameters that may go to its hosts although they could carry another credential. Lower-case. */
  readonly passHeaders?: readonly string[]
  readonly passParameters?: readonly string[]
  /** Paths that a bundle's program asks for by GET without it. */
  readonly openPaths?: readonly string[]
}

/** `[packages]` (N10). */
export interface PackageSettings {
  /** In seconds; null: of any age. */
  readonly minimumAge: number | null
  readonly newDependencies: Verdict
  readonly installScripts: Verdict
  readonly lookAlikes: Verdict
  readonly trusted: readonly string[]
}

/** Limits of one command; null means none. Times are seconds, sizes are bytes. */
export interface LimitSettings {
  readonly commandTimeout: Sourced<number>
  readonly maxOutputBytes: Sourced<number>
  readonly memory: Sourced<number | null>
  readonly processes: Sourced<number>
  readonly cpu: Sourced<number | null>
}

export interface SandboxSettings {
  readonly backend: Sourced<CommandBackend>
  readonly require: Sourced<Requirement>
  readonly commandFs: Sourced<CommandFs>
  readonly maskSecrets: Sourced<boolean>
  /** `mask_tracked`: what git has in HEAD is hidden as well. */
  readonly maskTracked: Sourced<boolean>
  /** Basename globs that the manifest denies to read at any depth: they are masked like secrets (O4). */
  readonly maskedNames: readonly Sourced<string>[]
  readonly bundles: readonly Sourced<BundleSetting>[]
  /** Null: the platform's default list. A trailing `*` matches any ending. */
  readonly envAllowlist: readonly Sourced<string>[] | null
  /** Variables that no command sees, whatever grants them. */
  readonly envDenied: readonly Sourced<string>[]
  readonly devServerPorts: readonly Sourced<number>[]
  readonly secrets: readonly Sourced<SecretSetting>[]
  /** Files with further certificate authorities, absolute. */
  readonly caFiles: readonly string[]
  /** The proxy that this machine is behind. */
  readonly parent: ParentSetting
  readonly limits: LimitSettings
  /** Null where nothing is said of packages: they are not judged. */
  readonly packages: PackageSettings | null
}

export interface ParentSetting {
  /** A URL, `environment` or `none`. */
  readonly proxy: string
  readonly login: SecretSetting['source'] | null
  /** Null: as the environment says. */
  readonly bypass: readonly string[] | null
}

/** Limits of the agents in one ring (P8); null means none. */
export interface RingSettings {
  readonly callsPerMinute: number | null
  readonly seconds: number | null
  readonly memory: number | null
}

export interface CustomToolSettings {
  readonly enabled: Sourced<boolean>
  readonly requireConfirmation: Sourced<boolean | null>
  readonly timeout: number | null
  readonly maxOutputBytes: number | null
  /** Null: all that the tool declares; else those of them that are listed. The same for hosts. */
  readonly envVars: readonly string[] | null
  readonly domains: readonly HostRule[] | null
}

/** An agent that is a WASM component (T6). */
export interface ComponentSetting {
  readonly name: string
  readonly sha256: string | null
  readonly tools: readonly string[]
  readonly model: boolean
  readonly storageBytes: number
  readonly memoryBytes: number
}

/** Where code of a model runs in containers (T4). */
export interface ContainerSettings {
  /** In the order of choice; empty after layers met: none. */
  readonly engines: readonly string[]
  /** By digest; null: the programs of this machine. */
  readonly image: string | null
  readonly memoryBytes: number
  readonly seconds: number
}

export type ServerRequest = 'elicitation' | 'sampling' | 'roots'

/** A header and the source of its value. */
export interface HeaderSetting {
  readonly name: string
  /** The text before the value, such as `Bearer `. */
  readonly prefix: string
  readonly from: SecretSource
  readonly source: string
}

/** An MCP server and the contents of its sandbox (X2). */
export interface McpServerSetting {
  readonly name: string
  /** Empty for a server elsewhere. */
  readonly argv: readonly string[]
  /** Of a server elsewhere (streamable HTTP); null for one that runs here. */
  readonly url: string | null
  /** For the origin of `url`. */
  readonly headers: readonly HeaderSetting[]
  /** Null: what commands may read and write. */
  readonly files: { readonly read: readonly PathRule[]; readonly write: readonly PathRule[] } | null
  readonly domains: readonly HostRule[]
  readonly envVars: readonly string[]
  /** Names of brokered secrets. */
  readonly secrets: readonly string[]
  readonly requests: readonly ServerRequest[]
}

/** How a person is notified of questions while the page is open (X6). */
interface ApprovalSettings {
  readonly webhook: string | null
  readonly format: 'json' | 'ntfy'
  readonly answerUrl: string | null
  readonly desktop: boolean
}

/** `[review]` (P11). */
export interface ReviewSettings {
  /** The program and its arguments; empty for none. */
  readonly command: readonly string[]
  readonly upTo: ReviewBound | 'none'
  readonly perHour: number
  readonly seconds: number
  readonly instructions: string | null
}

/** The settings of session, tools and record. */
export interface SessionSettings {
  readonly hideModel: Sourced<boolean>
  /** After a result with instructions aimed at the agent, what writes or reaches out asks again (A3). */
  readonly rings: Readonly<Record<1 | 2 | 3, RingSettings>>
  readonly breaker: { readonly failures: number; readonly cooldown: number }
  readonly audit: { readonly maxBytes: number; readonly arguments: Sourced<boolean> }
  readonly approvals: ApprovalSettings
  readonly review: ReviewSettings
  readonly tools: ReadonlyMap<string, CustomToolSettings>
  /** `[mcp.SERVER]`, by server. */
  readonly mcpRules: ReadonlyMap<string, McpRules>
  readonly mcpServers: readonly McpServerSetting[]
  readonly containers: ContainerSettings
  readonly components: readonly ComponentSetting[]
  readonly python: {
    /** Null: every module; `[]` after layers met: none. */
    readonly allowedModules: readonly string[] | null
    readonly blockedModules: readonly string[]
  }
  /** Absolute path of the brief that seeds the change envelope, or null. */
  readonly discoveryBrief: string | null
  /** Where a session writes (F7). */
  readonly directory: 'own' | 'project'
  readonly dumpProviderPayloads: Sourced<boolean>
}
