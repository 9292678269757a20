/** A tool call as the decision sees it: facts that were resolved before, nothing left to look up. */

import type { PathPattern } from '../files/path-pattern.ts'
import type { ProtectedPlace } from '../files/protected-paths.ts'
import type { UrlFacts } from '../hosts/url.ts'
import type { Sending, ShellAnalysis } from '../shell/facts.ts'
import type { FlowRule, Labels } from './labels.ts'
import type { McpCall, ToolGrant } from './mcp-rules.ts'
import type { Verdict } from './order.ts'
import type { CommandRule, HostRule, Mode, NearbyKind, PathRule, Sourced } from './policy.ts'

/** A path of the call: as it was given and as the kernel resolves it. */
export interface PathFact {
  readonly given: string
  /** Canonical: absolute, symlinks followed, `..` removed. */
  readonly path: string
  /** The absolute path before links were followed, where that is another one. */
  readonly written?: string
  /** Why it is protected as a part of a git directory that is not called `.git`. */
  readonly gitInternal?: string
}

/** A URL of the call, with the addresses and redirects to judge instead of DNS and the network. */
export interface HostFact {
  readonly given: string
  /** The parsed URL, or why it cannot be judged. */
  readonly url: { readonly url: UrlFacts } | { readonly problem: string }
  readonly resolved?: readonly string[]
  readonly hops?: readonly string[]
  /** Upper-case. */
  readonly method: string
  /** Addresses of this machine's own interfaces. */
  readonly ownAddresses: readonly string[]
}

/** A command text with its analysis. */
export interface ShellFact {
  readonly command: string
  /** It runs on after the call has returned, without a word of the text saying so. */
  readonly background?: boolean
  readonly analysis: ShellAnalysis
  /** What `bash -n` said, when the facts asked for it; null when it had nothing to say. */
  readonly syntaxError: string | null
  /** Follows the symlinks of an absolute path as far as it exists. */
  readonly canonical: (path: string) => string
  /** Why a file may not run as a script, such as a skill's unapproved one; null if it may. */
  readonly scriptProblem?: ((path: string) => string | null) | undefined
  /** The same of the first such script that a path is, or that lies below it. */
  readonly scriptBelow?: ((path: string) => string | null) | undefined
}

export interface ToolCall {
  readonly tool: string
  readonly reads: readonly PathFact[]
  readonly writes: readonly PathFact[]
  /** Paths whose metadata or listing is asked for. */
  readonly lists: readonly PathFact[]
  readonly hosts: readonly HostFact[]
  readonly shell: ShellFact | null
  /** A custom tool that wants a confirmation (P5). */
  readonly requireConfirmation: boolean
  /** Touches only what this session started itself, which was allowed then. */
  readonly ownOnly?: boolean
  /** The tool of an MCP server. */
  readonly mcp?: McpCall
}

/** Copies of the project's files, as denied paths need them. */
export interface RepositoryFacts {
  /** The original in the project, if this path lies in its working tree or clone; or null. */
  readonly originalOf: (path: string) => string | null
  /** Whether the repository contains a file that the pattern reaches. */
  readonly tracks: (pattern: PathPattern) => boolean
  /** Null if it is not certain; undefined where no repository is. */
  readonly destination: (sending: Sending) => Destination | null | undefined
}

/** Where a repository sends. */
export interface Destination {
  /** One name for all spellings, such as `github.com/acme/shop`. */
  readonly address: string
  /** It is the project's own repository. */
  readonly isOwn: boolean
}

/** The current facts of the session. */
export interface SessionFacts {
  readonly agent: string | null
  readonly mode: Mode | null
  /** Levels changed live by `/perm`. */
  readonly levels: ReadonlyMap<string, Sourced<Verdict>>
  readonly grants: {
    readonly reads: readonly PathRule[]
    readonly writes: readonly PathRule[]
    readonly commands: readonly CommandRule[]
    readonly hosts: readonly HostRule[]
    /** Answers about tools of MCP servers, denials too. */
    readonly tools?: readonly ToolGrant[]
    /** Answers about where labelled data may go. */
    readonly flows?: readonly FlowRule[]
  }
  /** Directories that answers of this session added to the roots. */
  readonly roots: readonly string[]
  /** The rule under which a path is ordinary source near the project; null otherwise. */
  readonly nearby?: (path: string) => Sourced<NearbyKind> | null
  /** Globs that widened the change envelope. */
  readonly envelope: readonly PathRule[]
  /** The agent's circuit breaker (P8): seconds until the next probe, or null when closed. */
  readonly breakerOpenFor: number | null
  /** True if undo (F9) keeps what a command loses in the roots: such a loss does not ask. */
  readonly undo?: boolean
  /** True where each program start is judged by its real words: a denial that a text may hide is then no reason to ask. */
  readonly judged?: boolean
  /** This very command was seen to change what cannot be kept: nothing of it runs unasked. */
  readonly unkept?: boolean
  /** Whether commands see a secret-shaped file, because git has the same content in HEAD. */
  readonly isShown?: (path: string, what?: 'secret' | 'configuration') => boolean
  /** The hidden file that a file is as well, by a hard link. */
  readonly hiddenName?: (path: string) => string | null
  /** Why the configuration of the repository that git finds from a directory is not taken on trust: `absent` for a directory that is not there. */
  readonly repositoryProblem?: (directory: string) => string | null
  /** The project's repository; without it nothing is known of copies of its files. */
  readonly repository?: RepositoryFacts
  /** What the session has read, for flow rules. */
  readonly labels?: Labels
  /** Places that belong to Cordon itself. */
  readonly own: {
    readonly configDir: string
    readonly stateDir: string
    readonly manifestPath: string
    /** Cordon's own package, where it is installed among those of a project. */
    readonly program?: string | null
    /** Folders on PATH, and what else of this machine is protected. */
    readonly places?: readonly ProtectedPlace[]
  }
}
