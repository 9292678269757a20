/**
 * Which hosts a program has that connects (N9): those that its own words give it, and those of the tool that it is a helper of.
 * The init says which program it is and from which it comes (native/programs/callers.c). PURE.
 */

import { posix } from 'node:path'
import { isInterpreterName } from '../../shell/tables/interpreter-names.ts'
import { type KnownTool, knownTool } from '../evaluate/network-use.ts'
import type { HostRule } from '../policy.ts'
import { PROGRAM_FOLDERS } from './table.ts'

/** A program that connects. */
export interface CallerFact {
  readonly parent: number
  readonly plain: boolean
  readonly cut: boolean
  readonly file: string
  readonly aliases: readonly string[]
  readonly argv: readonly string[]
  readonly variables: readonly string[]
}

/** Hosts of a command that belong to some of its programs. */
export interface HeldHosts {
  readonly rules: readonly HostRule[]
  /** Names of the programs that have them. */
  readonly programs: readonly string[]
  /** Which of them a use has: the program first. */
  readonly own: (words: readonly string[]) => readonly HostRule[]
}

export interface CallerScene {
  readonly limited: HeldHosts
  /** The PATH of the command. */
  readonly path: string
  /** The folder of Cordon's own scripts for clients. */
  readonly scripts: string
  /** The real path of a program that nothing in the sandbox can write; null for any other. */
  readonly fixed: (path: string) => string | null
}

export interface CallerHosts {
  readonly rules: readonly HostRule[]
  /** Whose helpers have them too. */
  readonly tool: KnownTool | null
}

/** Files of a tool's own installation that it starts: programs, or scripts of an interpreter. By the tool's first program. */
const HELPERS: Readonly<Record<string, readonly RegExp[]>> = {
  git: [/\/(?:lib|libexec)\/git-core\/[^/]+$/, /\/git(?:-lfs)?$/],
  cargo: [/\/bin\/cargo$/],
  go: [/\/bin\/go$/],
  npm: [/\/npm\/(?:bin|lib|node_modules)\//],
  pip: [/\/pip\/__(?:main|pip-runner)__\.py$/],
  ssh: [/\/ssh$/],
}
/** Tools that reach hosts by ssh, through the scripts that Cordon gives them. */
const BY_SSH: ReadonlySet<string> = new Set(['git', 'cargo', 'ssh'])

const NONE: CallerHosts = { rules: [], tool: null }

/** Variables by which a program loads code, and those that it is harmless to set. */
const LOADING =
  /^(?:LD_|GCONV_PATH|GLIBC_|LOCPATH|OPENSSL_|KRB5|GSS_|SASL_|P11_|PKCS11|NODE_|PYTHON|PERL|RUBY|GEM_|BUNDLE|JAVA|_JAVA|JDK_|CLASSPATH|BASH|SHELLOPTS|PS4=|ENV=|PHP|LUA|TCL)/
const HARMLESS =
  /^(?:NODE_ENV|NODE_DEBUG|PYTHON(?:NOUSERSITE|DONTWRITEBYTECODE|UNBUFFERED|HASHSEED|IOENCODING|UTF8|WARNINGS)|PERL_HASH_SEED|PERL_PERTURB_KEYS)=/
/** An interpreter that is not a shell also looks in the home. */
const HOME = /^(?:HOME|XDG_\w+)=/
const SHELL = /^(?:ba|da)?sh$/

/** The hosts of a program that comes from one with these. */
export function hostsOfCaller(scene: CallerScene, caller: CallerFact, from: CallerHosts = NONE): CallerHosts {
  if (caller.plain || caller.cut || caller.variables.some((one) => loadsCode(scene, one))) return NONE
  const file = scene.fixed(caller.file)
  if (file === null) return NONE
  const { tool, rules } = from
  const inherits =
    tool !== null && (isHelper(tool, file) || (BY_SSH.has(tool.programs[0]!) && carriesSsh(scene, caller)))
  const script = scriptOf(scene, caller)
  if (script !== null) {
    if (!SHELL.test(posix.basename(file)) && caller.variables.some((one) => HOME.test(one))) return NONE
    if (tool !== null && isHelper(tool, script.file)) return from
  } else if (inherits && !isInterpreterName(posix.basename(file))) return merged(from, ownOf(scene, caller, file))
  if (inherits && carriesSsh(scene, caller)) return { tool, rules }
  return script === null ? ownOf(scene, caller, file) : ownBy(scene, [script.name], caller.argv.slice(2))
}

/** Libraries of folders that nothing inside can write may be added: rustup does. */
function loadsCode({ fixed }: CallerScene, variable: string): boolean {
  const folders = /^LD_LIBRARY_PATH=(.*)$/s.exec(variable)?.[1]
  // Its folders are parted by semicolons as well.
  if (folders !== undefined) return !folders.split(/[:;]/).every((folder) => fixed(folder) !== null)
  return LOADING.test(variable) && !HARMLESS.test(variable)
}

function merged(from: CallerHosts, own: CallerHosts): CallerHosts {
  return { tool: from.tool, rules: [...new Set([...from.rules, ...own.rules])] }
}

function isHelper({ programs: [first] }: KnownTool, file: string): boolean {
  return HELPERS[first!]?.some((helper) => helper.test(file)) ?? false
}

/** By what it is called in a folder of programs. One file may have several names there, and goes by the one it is called by. */
function ownOf(scene: CallerScene, { file, aliases, argv }: CallerFact, real: string): CallerHosts {
  const folders = foldersOf(scene)
  const names = [
    ...new Set([file, real].filter((path) => folders.has(posix.dirname(path))).map((path) => posix.basename(path))),
  ]
  const called = posix.basename(argv[0] ?? '')
  const all = aliases.includes(called) ? [called] : [...names, ...aliases]
  return isInterpreterName(posix.basename(file)) ? NONE : ownBy(scene, [...new Set(all)], argv.slice(1))
}

function ownBy({ limited }: CallerScene, names: readonly string[], words: readonly string[]): CallerHosts {
  const name = names.find((one) => knownTool(one) !== null)
  if (name === undefined) return NONE
  // `git-lfs` is a subcommand by itself.
  const joined = name.startsWith('git-') ? limited.own(['git', name.slice('git-'.length), ...words]) : []
  return { tool: knownTool(name), rules: [...limited.own([name, ...words]), ...joined] }
}

/** The script of an interpreter that was started with nothing before it. */
function scriptOf(
  scene: CallerScene,
  { file, argv }: CallerFact,
): { readonly name: string; readonly file: string } | null {
  const [, script = ''] = argv
  if (!isInterpreterName(posix.basename(file)) || !script.startsWith('/')) return null
  const real = scene.fixed(script)
  if (real === null) return null
  return { name: foldersOf(scene).has(posix.dirname(script)) ? posix.basename(script) : '', file: real }
}

function foldersOf({ path }: CallerScene): ReadonlySet<string> {
  return new Set([...path.split(':').filter((folder) => folder.startsWith('/')), ...PROGRAM_FOLDERS])
}

/** What lies between a tool and its connection by ssh: Cordon's scripts, the shells that start them, and ssh. */
function carriesSsh(scene: CallerScene, { file, argv, variables }: CallerFact): boolean {
  const [, first = '', text = ''] = argv
  const [gitSsh, connect] = [`${scene.scripts}/git-ssh`, `${scene.scripts}/ssh-connect`]
  // They find programs by the PATH. git puts its own folder before it.
  const folders = foldersOf(scene)
  const path =
    variables
      .find((one) => one.startsWith('PATH='))
      ?.slice('PATH='.length)
      .split(':') ?? []
  if (!path.every((folder) => folders.has(folder))) return false
  if (posix.basename(file) === 'ssh') return folders.has(posix.dirname(file))
  if (first === gitSsh || first === connect) return true
  if (first !== '-c') return false
  return (
    text === `'${gitSsh}' "$@"` ||
    (text.startsWith(`exec '${connect}' `) && /^[\w.:-]+ \d+$/.test(text.slice(`exec '${connect}' `.length)))
  )
}
