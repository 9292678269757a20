/** What a row says about a program that runs another: how to find the command among its arguments. */

import type { Hazard } from '../facts.ts'

/** One way in which a program runs another, as data. `wrap/unwrap.ts` is the one mechanism that reads it. */
export interface Wrap {
  /** Subcommand that must follow: `bisect run`. */
  readonly sub?: string
  /** Options before the subcommand, as in every row. */
  readonly before?: string
  /**
   * The wrapper's own options, as in every row. Beside `text` these roles matter: `idle` runs no command, `wary` reaches further than
   * running it, `shell` is text that a shell runs, `split` is split into words in front of the command, `mark` sets the
   * placeholder, `chdir` the directory, `unset` takes a variable away, `script` names the file that holds the commands.
   */
  readonly options?: string
  /** Words of the wrapper's own before the command. */
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
  /** Arguments come from input: appended, or put where the placeholder stands. */
  readonly input?: 'append' | 'replace'
  /** Words behind which arguments stand instead of the command (`parallel rm ::: a b`). */
  readonly ends?: readonly string[]
  /** A command is run only with this option. */
  readonly needs?: string
  /** Run when no command is given: `xargs` runs echo. Undefined: nothing is run. */
  readonly otherwise?: 'echo' | 'shell'
  readonly hazard?: Omit<Hazard, 'span'>
  /** The command runs with functions and builtins of this shell, as `command` does. */
  readonly builtins?: boolean
  /** The command may stand behind the name of an environment: `hatch run dev:pytest`. */
  readonly environment?: boolean
  /** Paths, hosts and effects of the wrapper's own arguments matter as well. */
  readonly inspect?: boolean
  /** Only a wrapper is taken out (`npx cross-env … rm`); anything else is judged as this program's own work. */
  readonly nested?: boolean
  /** Without a command it runs what an image brings, which its own options hold. */
  readonly image?: boolean
  /** What runs inside does so elsewhere (another machine, a container). */
  readonly elsewhere?: boolean
}

/** Needs rights that this session does not have. */
export const privilege = (name: string): NonNullable<Wrap['hazard']> => ({
  code: 'privilege',
  message: `\`${name}\` asks for other rights than this session has; use an unprivileged way, or hand the command to the user`,
  verdict: 'deny',
})

/** Runs on another machine or in a container. */
export const remote = (name: string): NonNullable<Wrap['hazard']> => ({
  code: 'remote-command',
  message: `\`${name}\` runs the command somewhere else`,
  verdict: 'ask',
})

/** Controls what it runs. */
export const traced = (name: string): NonNullable<Wrap['hazard']> => ({
  code: 'wrapper',
  message: `\`${name}\` controls the program it runs`,
  verdict: 'ask',
})

/** Runs commands when this session is over. */
export const deferred: NonNullable<Wrap['hazard']> = {
  code: 'deferred',
  message: 'it runs commands later, outside this session',
  verdict: 'ask',
}

/** A wrapper whose own options no row lists: what it runs is looked for behind its name. */
export const controls: readonly Wrap[] = [{ hazard: traced('this wrapper'), run: 'words' }]
