/**
 * Finds grants of an interpreter or another user's rights by their names. Small, because every
 * start loads it.
 */

const families: Readonly<Record<string, string>> = {
  python: 'python python2 python3 pypy pypy3 ipython ipython3 micropython jython',
  javascript: 'node nodejs deno bun ts-node tsx esno zx vite-node jiti coffee babel-node',
  perl: 'perl raku rakudo',
  ruby: 'ruby irb pry jruby',
  php: 'php php-cgi',
  lua: 'lua luajit',
  tcl: 'tclsh wish expect',
  shell:
    'sh bash dash ash zsh ksh mksh lksh oksh loksh pdksh hush rbash yash fish csh tcsh rc es ion pwsh powershell nu xonsh elvish osh ysh busybox toybox',
  applescript: 'osascript',
  r: 'R Rscript',
  julia: 'julia',
  haskell: 'ghci runghc runhaskell',
  lisp: 'sbcl clisp racket guile scheme csi chez emacs',
  prolog: 'swipl gprolog',
  ocaml: 'ocaml utop',
  erlang: 'erl escript iex elixir',
  jvm: 'java jshell groovy groovysh scala kotlin clojure clj bb jbang',
  dotnet: 'dotnet-script fsi fsharpi',
}

/** Interpreters that share the common spelling of the options that matter: `-e` code, `-l` loads, `-i` reads. */
export const smallInterpreters: string =
  'irb pry ghci ocaml utop erl sbcl clisp racket guile scheme csi chez swipl gprolog R Rscript julia lua luajit tclsh wish groovy ' +
  'groovysh jshell scala pwsh powershell octave-cli php php-cgi escript raku rakudo nu xonsh elvish osh ysh clj clojure bb gjs qjs d8 ' +
  'jrunscript jjs rhino hy gforth csharp mono wasmtime wasmer janet fennel io newlisp picolisp jruby'

/** Database shells run text, but hold no files of the machine. */
const databaseShells = 'sqlite3 psql mysql mariadb mongosh mongo redis-cli duckdb'

/** The family of an interpreter by its plain name. */
export const familyOf: ReadonlyMap<string, string> = new Map([
  ...smallInterpreters.split(' ').map((name) => [name, 'other'] as const),
  ...Object.entries(families).flatMap(([family, names]) => names.split(' ').map((name) => [name, family] as const)),
  ...databaseShells.split(' ').map((name) => [name, 'database'] as const),
])

/** Programs that run another program under other rights. */
const privileged: ReadonlySet<string> = new Set(
  'sudo sudo-rs doas su pkexec run0 runuser sudoedit gosu setpriv nsenter unshare chroot capsh machinectl systemd-run sg newgrp'.split(
    ' ',
  ),
)

/** Wrappers before the granted program, with the number of words they take. */
const wrappers: Readonly<Record<string, number>> = {
  env: 0,
  command: 0,
  builtin: 0,
  exec: 0,
  nohup: 0,
  time: 0,
  nice: 0,
  ionice: 0,
  setsid: 0,
  stdbuf: 0,
  timeout: 1,
  xargs: 0,
  caffeinate: 0,
  arch: 0,
}

/** Runners whose next word is a program of the project's environment. */
const runners: readonly (readonly string[])[] = [
  ['uv', 'run'],
  ['uv', 'tool', 'run'],
  ['uvx'],
  ['poetry', 'run'],
  ['pipenv', 'run'],
  ['pdm', 'run'],
  ['hatch', 'run'],
  ['rye', 'run'],
  ['pipx', 'run'],
  ['conda', 'run'],
  ['mamba', 'run'],
  ['micromamba', 'run'],
  ['bundle', 'exec'],
  ['pyenv', 'exec'],
  ['rbenv', 'exec'],
  ['nodenv', 'exec'],
  ['asdf', 'exec'],
  ['mise', 'exec'],
  ['nix-shell'],
  ['nix', 'run'],
  ['nix', 'develop'],
  ['nix', 'shell'],
  ['npm', 'exec'],
  ['pnpm', 'exec'],
  ['yarn', 'exec'],
  ['yarn', 'node'],
  ['npx'],
  ['bunx'],
  ['pnpx'],
  ['pnpm', 'dlx'],
  ['yarn', 'dlx'],
]
const runnerNames: ReadonlySet<string> = new Set(runners.map(([name]) => name!))

/** Runners that fetch and run named packages: their bare grant opens everything, but they are not interpreters by name. */
const openRunners: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'npm', 'pnpm', 'yarn', 'bundle'])

/** Why a grant is refused at load: the flag of `[security]` for it, and an alternative. */
export interface GrantRefusal {
  readonly flag: 'system_python' | 'privilege_wrappers'
  readonly message: string
}

/** Whether these arguments fix the script that an interpreter runs; only its option table knows. */
export type PinsScript = (program: string, rest: readonly string[]) => boolean

/**
 * Refuses grants of an interpreter or of another user's rights. A grant that fixes a script
 * (`python3 scripts/build.py`) is fine: the file rules and the sandbox cover that file. Without
 * `pinsScript`, undecided names are `unknown`, never fine.
 */
export function judgeGrant(words: readonly string[], pinsScript: PinsScript | null): GrantRefusal | 'unknown' | null {
  const inner = unwrap(words)
  const [name, ...rest] = inner
  if (name === undefined) return null
  const base = plainName(name, (candidate) => privileged.has(candidate) || runnerNames.has(candidate))
  if (privileged.has(base))
    return {
      flag: 'privilege_wrappers',
      message: `\`${words.join(' ')}\` grants another user's rights; grant the command itself, without \`${base}\``,
    }
  const runner = runners.find((candidate) =>
    candidate.every((word, index) => (index === 0 ? base : inner[index]) === word),
  )
  if (runner !== undefined) {
    const command = withoutOptions(inner.slice(runner.length))
    if (command.length > 0) return judgeGrant(command, pinsScript)
    if (openRunners.has(base) || base.startsWith('nix')) return null
    return refuse(words, `name the program it may run, such as \`${runner.join(' ')} pytest:*\``)
  }
  const family = familyOf.get(plainName(name, (candidate) => familyOf.has(candidate)))
  if (family === undefined || family === 'database') return null
  if (pinsScript === null) return 'unknown'
  return pinsScript(name, rest)
    ? null
    : refuse(words, 'name the script, such as `python3 scripts/build.py:*` or `python3 -m pytest:*`')
}

/** The name that a list knows a program by: without its directory and, where that is how it is listed, its version. */
function plainName(text: string, isListed: (name: string) => boolean): string {
  const file = text.slice(text.lastIndexOf('/') + 1)
  const base = file.includes('.') ? file.replace(/\.exe$/i, '') : file
  if (isListed(base)) return base
  const plain = /[\d.]$/.test(base) ? base.replace(/-?\d[\d.]*$/, '') : base
  return isListed(plain) ? plain : base
}

function refuse(words: readonly string[], remedy: string): GrantRefusal {
  return {
    flag: 'system_python',
    message: `\`${words.join(' ')}\` grants an interpreter, which runs any code; ${remedy}, or set \`system_python = true\``,
  }
}

/** The words of the program itself, by its plain name: `git status` of `env -i /usr/bin/git status`. */
export function programWords(words: readonly string[]): readonly string[] {
  const [name = '', ...rest] = unwrap(words)
  return [name.slice(name.lastIndexOf('/') + 1), ...rest]
}

function unwrap(words: readonly string[]): readonly string[] {
  let rest = words
  for (;;) {
    const own = wrappers[plainName(rest[0] ?? '', (candidate) => Object.hasOwn(wrappers, candidate))]
    if (own === undefined) return rest
    const next = withoutOptions(rest.slice(1)).filter((_, index, all) => index >= leadingAssignments(all))
    if (next.length <= own) return rest
    rest = next.slice(own)
  }
}

function leadingAssignments(words: readonly string[]): number {
  const first = words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word))
  return first < 0 ? words.length : first
}

/** The words from the first that is not an option. */
export function withoutOptions(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !word.startsWith('-'))
  return first < 0 ? [] : words.slice(first)
}

/** True for a program that runs the file it is given, by its name alone. */
export function isInterpreterName(name: string): boolean {
  return familyOf.has(plainName(name, (candidate) => familyOf.has(candidate)))
}
