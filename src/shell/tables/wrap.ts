/** The rows of programs that run another: how to find the command among their arguments. */

import type { Hazard } from '../facts.ts'

/** One way for a program to run another, as data. Only `wrap/unwrap.ts` reads it. */
export interface Wrap {
  /** Subcommand that must follow: `bisect run`. */
  readonly sub?: string
  /** Options before the subcommand, as in every row. */
  readonly before?: string
  /**
   * The wrapper's own options, as in every row. Besides `text`: `idle` runs no command, `wary`
   * reaches further than running it, `shell` is text for a shell, `split` is split into words
   * before the command, `mark` sets the placeholder, `chdir` the directory, `unset` removes a
   * variable, `script` names the file of commands.
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
  /** Arguments come from input: appended, or inserted at the placeholder. */
  readonly input?: 'append' | 'replace'
  /** Words followed by arguments instead of the command (`parallel rm ::: a b`). */
  readonly ends?: readonly string[]
  /** A command is run only with this option. */
  readonly needs?: string
  /** Run when no command is given: `xargs` runs echo. Undefined: nothing is run. */
  readonly otherwise?: 'echo' | 'shell'
  readonly hazard?: Omit<Hazard, 'span'>
  /** The command runs with functions and builtins of this shell, as `command` does. */
  readonly builtins?: boolean
  /** The command may follow the name of an environment: `hatch run dev:pytest`. */
  readonly environment?: boolean
  /** Paths, hosts and effects of the wrapper's own arguments matter as well. */
  readonly inspect?: boolean
  /** Only a wrapper is taken out (`npx cross-env … rm`); anything else is judged as this program's own work. */
  readonly nested?: boolean
  /** Without a command it runs the one of an image, which its options name. */
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

/** A wrapper with unlisted options: its command is searched for after its name. */
export const controls: readonly Wrap[] = [{ hazard: traced('this wrapper'), run: 'words' }]

/** Ways to run another program that rows of several families share. */
const PACKAGE_OPTIONS = `
  -p -w -j <text>
  -y -q -A -R -W -v -i -t -s
  --package --workspace --from --with --python --spec --jobs --include --exclude --with-editable --with-requirements --constraints --overrides <text>
  --yes --no --quiet --no-install --ignore-existing --prefer-offline --offline --workspaces --bun --all --recursive --worktree --no-private --parallel
  --interlaced --topological --topological-dev --verbose --silent --isolated
  --since [text]`

/** Runs a program of a package: a wrapper among its words is taken out (`uvx cross-env … rm`), anything else is the package's own work. */
export const packageRun: Wrap = {
  options: `
  -c <text>${PACKAGE_OPTIONS}`,
  inspect: true,
  nested: true,
  run: 'words',
}

/** The same by npm and its like: `-c` is a line of shell. */
export const npmRun: Wrap = {
  ...packageRun,
  options: `
  -c --call <shell>${PACKAGE_OPTIONS}`,
}

/** Runs a program with variables set. */
export const envRun: Wrap = {
  options: `
  -i !wary
  -0 -v
  -u <unset>
  -C <chdir>
  -S <split>
  -a <text>
  --ignore-environment !wary
  --null --debug --list-signal-handling
  --unset <unset>
  --chdir <chdir>
  --split-string <split>
  --block-signal --default-signal --ignore-signal [text]
  --help --version !idle
  --argv0 <text>`,
  assignments: true,
  run: 'words',
}

export const shellRun: Wrap = {
  options: `
  -a -k -p -t -B -P -i -l -r -D !wary
  -b -e -f -h -m -n -u -v -x -C -E -H -T -s
  -o <text>
  -O <wary>
  --norc --noprofile --verbose --dump-strings --noediting --pretty-print
  --posix --login --restricted --debugger !wary
  --rcfile --init-file <wary>
  --help --version !idle`,
  run: 'shell',
}

/** Measures a program. */
export const timeRun: Wrap = {
  options: `
  -a -p -q -v
  -o <wary>
  -f <text>
  -h -V !idle
  --append --portability --quiet --verbose
  --output <wary>
  --format <text>
  --help --version !idle`,
  run: 'words',
}

/** Runs a program as another user. */
export const sudoRun: Wrap = {
  options: `
  -A -b -B -E -e -H -h -i -K -k -l -n -N -P
  -S -s -v -V
  -C -c -D -g -p -R -r -T -t -U -u <text>
  --user --group --chdir --host --prompt --role --type <text>
  --login --shell --non-interactive --stdin --set-home --edit --list --validate --background --askpass
  --preserve-env [text]`,
  assignments: true,
  hazard: privilege('sudo'),
  run: 'words',
}

/** Runs a program with another priority. */
export const niceRun: Wrap = {
  options: `
  -n <text>
  -0 -1 -2 -3 -4 -5 -6 -7 -8 -9
  --adjustment <text>
  --help --version !idle`,
  run: 'words',
}

/** Runs a program with other buffers. */
export const stdbufRun: Wrap = {
  options: `
  -i -o -e <text>
  --input --output --error <text>
  --help --version !idle`,
  run: 'words',
}
