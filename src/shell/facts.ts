/** The facts about a command text before bash runs it: the values that the policy decides on. */

/** A half-open range of the command text, so that a prompt can underline it. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** Why the value of a word cannot be known beforehand. */
export type Dynamic =
  | 'variable' // a variable whose value the text does not determine
  | 'substitution' // $(…), `…`
  | 'process' // <(…), >(…)
  | 'arithmetic' // $((…)) with a value that is not constant
  | 'glob' // a pattern that becomes names of files
  | 'tilde' // ~user, ~+, ~-
  | 'positional' // $1, $@, $*, $#, $?, $$, $!, $_, $-
  | 'input' // appended from standard input (xargs, parallel, find -exec {})
  | 'transform' // ${x@P}, ${x@E}, ${!x}: text that bash evaluates once more

/** One word of a command, as bash will see it after quote removal and expansion. */
export interface Word {
  /** The value if there is exactly one; else the source text, for people. */
  readonly text: string
  /** Every value the word can take, when that is a finite, known set; null when it cannot be known. A glob is null. */
  readonly values: readonly string[] | null
  /** Why `values` is null; empty otherwise. */
  readonly dynamic: readonly Dynamic[]
  /** Literal text that every value starts with: `src/` for `src/$x` and `src/*.ts`. */
  readonly prefix: string
  /** For a glob: the pattern with quoted parts escaped by backslash, the way bash matches it. */
  readonly pattern: string | null
  /** True when the word may become zero or several arguments (unquoted expansions, globs). */
  readonly splits: boolean
  readonly span: Span
}

export interface AssignmentFact {
  readonly name: string
  /** The value's word; null for arrays and for names assigned by a builtin (read, mapfile, printf -v …). */
  readonly value: Word | null
  readonly append: boolean
  /** In the environment of one command (`A=1 cmd`), set in the shell (`A=1`), or exported. */
  readonly scope: 'command' | 'shell' | 'export'
  readonly span: Span
}

export interface RedirectFact {
  readonly operator: string
  /** The file a redirect opens, or null for descriptors, here-documents and here-strings. */
  readonly target: Word | null
  readonly access: 'read' | 'write' | 'read-write' | null
  /** `stream`: fd merges and closes, here-documents, here-strings, /dev/null; `file`: everything else. */
  readonly kind: 'stream' | 'file'
  /** Working directory in which a relative target is opened; null if unknown. */
  readonly cwd: string | null
  readonly span: Span
}

/** Syntax that a `[security]` flag of the same name governs. */
export type SyntaxKind =
  | 'background'
  | 'case_terminator'
  | 'compound'
  | 'parameter_expansion'
  | 'pipes'
  | 'command_substitution'

export interface SyntaxUse {
  readonly kind: SyntaxKind
  readonly span: Span
}

/** Something that keeps a command from being fully understood: it turns an allow into an ask (or a deny). */
export interface Hazard {
  /** Stable kebab-case code: `dynamic-name`, `option-runs-program`, `env-changes-program`, `eval`, `prompt-transform` … */
  readonly code: string
  /** One sentence for a person, without a trailing period. */
  readonly message: string
  readonly verdict: 'ask' | 'deny'
  readonly span: Span
}

/** A file that a word of a command names, resolved lexically at the tracked working directory. */
export interface PathUse {
  /** Absolute, `.` and `..` removed; a glob keeps its pattern characters. Null when it cannot be known. */
  readonly path: string | null
  readonly access: 'read' | 'write' | 'execute'
  /** How it was written: a relative word that climbs out of the project is judged more strictly than an absolute one. */
  readonly written: 'absolute' | 'relative' | 'home'
  readonly glob: boolean
  /** True when everything below it is touched as well (rm -r, cp -r, grep -r). */
  readonly recursive: boolean
  readonly span: Span
}

/** A host that a word of a command names (curl, wget, git clone …), as written. */
export interface HostUse {
  readonly url: string
  readonly span: Span
}

/** What a command does outside the sandbox (P10). `unknown` runs contained, without network. */
export type Effect =
  | 'local'
  | 'remote-read'
  | 'loss' // local files or history are lost, unless undo keeps them
  | 'remote-write'
  | 'destructive' // cannot be undone by anything here
  | 'unknown'

/** How a command came to be run by another. */
export interface Via {
  /** `timeout`, `xargs`, `sh -c`, `$(…)`, `<(…)`, `function f`, `trap`, `eval` … */
  readonly name: string
  readonly kind: 'wrapper' | 'shell' | 'substitution' | 'function' | 'hook'
}

/** The address that a push or a forge's tool takes from the configuration of a repository. */
export interface Sending {
  /** Where it looks for the repository; null if unknown. */
  readonly directory: string | null
  /** The name of a remote. Empty: the usual one. `*`: any of them. */
  readonly remote: string
}

/** A kind of change elsewhere: see `tables/kinds.ts`. */
export interface ChangeKind {
  /** Such as `git push origin`. */
  readonly words: readonly string[]
  readonly sending: Sending | null
}

/** One simple command, wherever it is in the tree. */
export interface CommandFact {
  /** argv with its expansions; empty for a bare assignment or a bare redirect. */
  readonly argv: readonly Word[]
  /** What argv[0] resolves to in this text; `unknown` when the name is dynamic. */
  readonly resolves: 'program' | 'builtin' | 'function' | 'none' | 'unknown'
  readonly assignments: readonly AssignmentFact[]
  readonly redirects: readonly RedirectFact[]
  /** Where it runs, as far as cd and pushd can be tracked; null when that cannot be known. */
  readonly cwd: string | null
  /** Outermost first; empty for a command that the text runs directly. */
  readonly via: readonly Via[]
  /** Index of the wrapper command this one was taken out of, or null. */
  readonly parent: number | null
  /**
   * For a wrapper (`timeout 5 x`, `sh -c x`): `all` when every command it runs is listed as its own fact, so that it
   * needs no grant itself; `some` when more may run than is listed. `none` for an ordinary command.
   */
  readonly unwrapped: 'all' | 'some' | 'none'
  readonly hazards: readonly Hazard[]
  readonly paths: readonly PathUse[]
  readonly hosts: readonly HostUse[]
  readonly effect: Effect
  /** The reason for the effect, for a prompt: "pushes commits to a remote"; empty if local. */
  readonly effectNote: string
  readonly kind?: ChangeKind | null
  /** Commands that it runs as its own work: `npx eslint x` runs `eslint x`. */
  readonly delegates?: readonly (readonly Word[])[]
  readonly background: boolean
  readonly span: Span
}

export interface ShellFacts {
  readonly source: string
  readonly commands: readonly CommandFact[]
  readonly syntax: readonly SyntaxUse[]
  /** Redirects of compound commands (`while …; done < f`); a simple command lists its own. */
  readonly redirects: readonly RedirectFact[]
  /** Hazards of the text as a whole, such as an arithmetic evaluation of data outside any command. */
  readonly hazards: readonly Hazard[]
  /** Names defined as functions or aliases in this text. */
  readonly defines: readonly string[]
  /** The second gate: run `bash -n` on the source before trusting these facts. */
  readonly needsSyntaxCheck: boolean
}

/** The text could not be understood with certainty: it is denied. */
export interface ShellRejection {
  readonly code: 'too-long' | 'bad-character' | 'syntax' | 'unsupported-syntax' | 'too-complex'
  readonly message: string
  readonly position: number
}

export type ShellAnalysis = { readonly facts: ShellFacts } | { readonly rejection: ShellRejection }

/** The state in which the shell starts. */
export interface ShellContext {
  /** Absolute working directory at the start. */
  readonly cwd: string
  readonly home: string
  /** Directories whose files are kept, even below /tmp. Default: the working directory. */
  readonly roots?: readonly string[]
  /** Variables with a known value at the start (HOME, PWD, USER …); others are unknown. */
  readonly variables?: Readonly<Record<string, string>>
  /** True where bash may start in another charset than UTF-8 or the plain bytes of the C locale. */
  readonly foreignCharset?: boolean
}
