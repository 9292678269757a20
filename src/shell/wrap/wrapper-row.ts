/** What a row of the wrapper table says: how to find the command among a program's arguments. */

/** One wrapper, as data. `unwrap.ts` is the one mechanism that reads it. */
export interface WrapperRow {
  readonly names: readonly string[]
  /** Subcommand that must follow: `git bisect run`. */
  readonly sub?: readonly string[]
  /** Options before the subcommand, in the same two notations as below. */
  readonly before?: { readonly short?: string; readonly long?: string }
  /** Short options in getopt notation: `k:` takes a value, `i::` only a glued one. */
  readonly short?: string
  /** Long options, space-separated: `signal=` takes a value, `replace=?` only after `=`. */
  readonly long?: string
  /** Single-dash long options (`-rcfile`) are written with their dash in `long`. */
  readonly operands?: number
  /** The command starts only after `--`. */
  readonly afterDashes?: boolean
  /** The options go on behind operands (GNU permutation); otherwise the first operand ends them. */
  readonly permutes?: boolean
  /** The operands end the options: what follows belongs to the command. */
  readonly stops?: boolean
  readonly assignments?: boolean
  /**
   * `words`: the rest is argv. `joined`: the rest is joined and run by a shell. `shell`: a shell with `-c`.
   * `exec`: `-exec … ;` inside an expression. `text`: only options hold commands.
   */
  readonly run: 'words' | 'joined' | 'shell' | 'exec' | 'text'
  /** The commands come from standard input: as a script, or as the lines of a table of jobs. */
  readonly script?: 'shell' | 'crontab'
  /** Options whose value is the file that holds them instead. */
  readonly scriptFile?: readonly string[]
  /** Options whose value is shell text that is run. */
  readonly text?: readonly string[]
  /** Options whose value is split into words in front of the command (`env -S`). */
  readonly splits?: readonly string[]
  /** Arguments come from input: appended, or put where the placeholder stands. */
  readonly input?: 'append' | 'replace'
  /** Options that set the placeholder (their value) instead of appending. */
  readonly placeholder?: readonly string[]
  /** Words behind which arguments stand instead of the command (`parallel rm ::: a b`). */
  readonly ends?: readonly string[]
  readonly chdir?: readonly string[]
  /** Options with which no command is run. */
  readonly idle?: readonly string[]
  /** A command is run only with this option. */
  readonly needs?: string
  /** Options that reach further than running the command. */
  readonly wary?: readonly string[]
  /** Run when no command is given: `xargs` runs echo. Undefined: nothing is run. */
  readonly otherwise?: 'echo' | 'shell'
  readonly hazard?: { readonly code: string; readonly message: string; readonly verdict: 'ask' | 'deny' }
  /** The command runs with functions and builtins of this shell, as `command` does. */
  readonly builtins?: boolean
  /** The command may stand behind the name of an environment: `hatch run dev:pytest`. */
  readonly environment?: boolean
  /** Paths, hosts and effects of the wrapper's own arguments matter as well. */
  readonly inspect?: boolean
  /** Only a wrapper is taken out (`npx cross-env … rm`); anything else is judged as this program's own work. */
  readonly nested?: boolean
  /** Options that take a variable out of the environment. */
  readonly unsets?: readonly string[]
  /** Without a command it runs what an image brings, which its own options hold. */
  readonly image?: boolean
  /** What runs inside does so elsewhere (another machine, a container). */
  readonly elsewhere?: boolean
}

/** Needs rights that this session does not have. */
export const privilege = (name: string): NonNullable<WrapperRow['hazard']> => ({
  code: 'privilege',
  message: `\`${name}\` asks for other rights than this session has; use an unprivileged way, or hand the command to the user`,
  verdict: 'deny',
})

/** Runs on another machine or in a container. */
export const remote = (name: string): NonNullable<WrapperRow['hazard']> => ({
  code: 'remote-command',
  message: `\`${name}\` runs the command somewhere else`,
  verdict: 'ask',
})

/** Controls what it runs. */
export const traced = (name: string): NonNullable<WrapperRow['hazard']> => ({
  code: 'wrapper',
  message: `\`${name}\` controls the program it runs`,
  verdict: 'ask',
})
