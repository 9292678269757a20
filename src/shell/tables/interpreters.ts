/** Which programs are interpreters, and which command grants would hand out all of them. */

import { type Arg, parseArgs } from './options.ts'
import { smallInterpreters } from './programs/interpreters.ts'
import { findProgram, programName } from './programs/registry.ts'
import { compileSpec } from './spec.ts'

const families: Readonly<Record<string, string>> = {
  python: 'python python2 python3 pypy pypy3 ipython ipython3 micropython jython',
  javascript: 'node nodejs deno bun ts-node tsx esno zx vite-node jiti',
  perl: 'perl raku rakudo',
  ruby: 'ruby irb pry jruby',
  php: 'php php-cgi',
  lua: 'lua luajit',
  tcl: 'tclsh wish expect',
  shell:
    'sh bash dash ash zsh ksh mksh rbash yash fish csh tcsh pwsh powershell nu xonsh elvish osh ysh busybox toybox',
  applescript: 'osascript',
  r: 'R Rscript',
  julia: 'julia',
  haskell: 'ghci runghc runhaskell',
  lisp: 'sbcl clisp racket guile scheme csi chez emacs',
  prolog: 'swipl gprolog',
  ocaml: 'ocaml utop',
  erlang: 'erl escript iex elixir',
  jvm: 'java jshell groovy groovysh scala kotlin clojure clj bb',
}

/** Database shells run text as well, but hold no files of the machine by themselves. */
const databaseShells = 'sqlite3 psql mysql mariadb mongosh mongo redis-cli duckdb'

const familyOf: ReadonlyMap<string, string> = new Map([
  ...smallInterpreters.split(' ').map((name) => [name, 'other'] as const),
  ...Object.entries(families).flatMap(([family, names]) => names.split(' ').map((name) => [name, family] as const)),
  ...databaseShells.split(' ').map((name) => [name, 'database'] as const),
])

/** The family of an interpreter by the name of its program (`python3.11`, `/usr/bin/node`); null for anything else. */
export function interpreterOf(name: string): { family: string } | null {
  const base = programName(name)
  const family = familyOf.get(base) ?? familyOf.get(base.replace(/-?\d[\d.]*$/, ''))
  return family === undefined ? null : { family }
}

/** Programs that run another program under other rights. */
const privileged: ReadonlySet<string> = new Set(
  'sudo sudo-rs doas su pkexec run0 runuser sudoedit gosu setpriv nsenter unshare chroot capsh machinectl systemd-run sg newgrp'.split(
    ' ',
  ),
)

/** Wrappers in front of what a grant is really about, with the words they take themselves. */
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
/** Runners that fetch and run named packages: their bare grant opens everything, but they are not interpreters by name. */
const openRunners: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'npm', 'pnpm', 'yarn', 'bundle'])

/** Subcommands of deno and bun that are fixed jobs rather than any code. */
const fixedJobs: Readonly<Record<string, RegExp>> = {
  deno: /^(test|fmt|lint|check|task|bench|doc|compile|bundle|cache|info|coverage|types|publish|add|remove|install|outdated|--version|--help)$/,
  bun: /^(run|test|install|i|add|remove|rm|update|outdated|pm|build|create|init|link|unlink|publish|x|audit|why|patch|info|--version|--help)$/,
}

const openModule = /^(code|pdb|runpy|timeit|trace|cProfile|profile|asyncio|IPython|idlelib|ptpython|bpython)$/

/** Why a grant is refused at load: which flag of `[security]` would admit it, and what to do instead. */
export interface GrantRefusal {
  readonly flag: 'system_python' | 'privilege_wrappers'
  readonly message: string
}

/**
 * Refuses grants that hand out an interpreter or another user's rights. A grant that pins a script (`python3
 * scripts/build.py`) is fine: what runs is a file of the project, held by the file rules and the sandbox, and not text
 * that the agent makes up.
 */
export function grantRefusal(words: readonly string[]): GrantRefusal | null {
  const inner = unwrap(words)
  const [name, ...rest] = inner
  if (name === undefined) return null
  const base = programName(name)
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
    if (command.length > 0) return grantRefusal(command)
    if (openRunners.has(base) || base.startsWith('nix')) return null
    return refuse(words, `name the program it may run, such as \`${runner.join(' ')} pytest:*\``)
  }
  const family = interpreterOf(name)?.family
  if (family === undefined || family === 'database') return null
  return pinsScript(base, rest)
    ? null
    : refuse(words, 'name the script, such as `python3 scripts/build.py:*` or `python3 -m pytest:*`')
}

function refuse(words: readonly string[], remedy: string): GrantRefusal {
  return {
    flag: 'system_python',
    message: `\`${words.join(' ')}\` grants an interpreter, which runs any code; ${remedy}, or set \`system_python = true\``,
  }
}

function unwrap(words: readonly string[]): readonly string[] {
  let rest = words
  for (;;) {
    const own = wrappers[programName(rest[0] ?? '')]
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

function withoutOptions(words: readonly string[]): readonly string[] {
  const first = words.findIndex((word) => !word.startsWith('-'))
  return first < 0 ? [] : words.slice(first)
}

const span = { start: 0, end: 0 }
const asArg = (text: string): Arg => ({
  text,
  prefix: text,
  pattern: null,
  word: { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span },
})

function pinsScript(base: string, rest: readonly string[]): boolean {
  if (rest.length > 0 && rest.every((word) => /^(--version|-V|--help|-h|-v|-version)$/.test(word))) return true
  const jobs = fixedJobs[base]
  if (jobs !== undefined) {
    const words = withoutOptions(rest)
    if (jobs.test(rest[0] ?? '')) return true
    if (base === 'deno' && words[0] === 'run')
      return words.length > 1 && words.slice(1).some((word) => !word.startsWith('-'))
    return words.length > 0 && rest[0] === words[0] && /[./]/.test(words[0] ?? '') && words[0] !== '-'
  }
  const spec = findProgram(base)
  const parsed = parseArgs(rest.map(asArg), compileSpec(spec ?? { stops: true }))
  const module = parsed.options.find((option) => option.name === '-m')?.value?.text
  if (parsed.options.some((option) => option.row?.role === 'code' || option.row?.role === 'load')) return false
  if (module !== undefined && module !== null) return !openModule.test(module)
  if (parsed.options.some((option) => option.name === '--test' || option.name === '-jar')) return true
  const script = parsed.operands[0]?.text
  return script != null && script !== '-' && script !== '' && !/^\/(dev|proc)\//.test(script)
}
