/**
 * Explains why a command may have failed: hidden paths, a missing bundle, a missing git identity.
 */

import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { typedText } from '../confine/entitlement.ts'
import { isInside } from '../files/baseline.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import type { RunOutcome } from '../run/runner.ts'
import type { BundleChoice } from '../sandbox/bundles/bundle.ts'
import { analyze } from '../shell/walk/analyze.ts'
import { attempt, Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { explainOffline } from './bundle-hint.ts'
import { requireGrantable } from './grants.ts'
import { hiddenProgram, type ProgramPlaces } from './hidden-program.ts'
import { outsideWords, shellText, spokenWords, withTilde } from './outside-words.ts'

export interface FailedRun {
  readonly command: readonly string[]
  readonly cwd: string
  readonly outcome: RunOutcome
  readonly loaded: LoadedPolicy
  /** Bundles of the manifest and of this run. */
  readonly bundles: readonly BundleChoice[]
  readonly machine: Machine
  readonly files: Files
}

/** Hints with remedies. They rest on the plan and the disk, not on the output. */
export function runHints(run: FailedRun): readonly string[] {
  const { command, outcome, bundles } = run
  const offline =
    outcome.plan.network.kind === 'none' || outcome.egress.some(({ verdict }) => verdict === 'deny')
      ? explainOffline(command, bundles)
      : null
  return [...unseen(run), offline, identity(run), signature(run)].filter((line) => line !== null)
}

/** What the sandbox hides of a program, with a remedy; null if nothing. */
export function hiddenWords(
  program: string,
  { loaded, machine, files, isShown }: Pick<FailedRun, 'loaded' | 'machine' | 'files'> & Pick<ProgramPlaces, 'isShown'>,
): string | null {
  const { cwd, home, env } = machine
  const hidden = hiddenProgram(program, { cwd: files.canonical(cwd), home, path: env.PATH ?? '', files, isShown })
  if (hidden === null) return null
  const { place, why } = hidden
  try {
    requireGrantable(files.canonical(place), 'read', loaded, machine)
    return `${why}; to show it: cordon run --read ${withTilde(place, home)} …`
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return `${why}: ${error.message.replace(/^.*?: /, '')}`
  }
}

/** How a shell ends when a program does not start. */
const NOT_STARTED: ReadonlySet<number> = new Set([126, 127])

function unseen({ command, cwd, outcome, loaded, machine, files }: FailedRun): readonly string[] {
  const { binds, masks } = outcome.plan
  const isShown = (path: string): boolean =>
    binds.some((bind) => isInside(path, bind.path)) || masks.some((mask) => isInside(path, mask))
  if (NOT_STARTED.has(outcome.result.exitCode))
    for (const word of spokenWords(command).filter((one) => one.includes('/'))) {
      const said = hiddenWords(word, { loaded, machine, files, isShown })
      if (said !== null) return [`${word} did not start. ${said}`]
    }
  const written = writtenPaths(command, cwd, machine, files)
  return outsideWords(command, { cwd, home: machine.home, files, isShown }).map(({ typed, path }) => {
    const how = written.has(path) ? 'write' : 'read'
    const why =
      /^\/(?:var\/)?tmp\//.test(path) && !isInside(path, machine.home)
        ? `${typed} is in this machine's ${path.startsWith('/var') ? '/var/tmp' : '/tmp'}, and the command has a private one`
        : `${typed} is outside the project, and the command does not see it`
    try {
      requireGrantable(path, how, loaded, machine)
      return `${why}; to ${how === 'write' ? 'let it change it' : 'show it'}: cordon run --${how} ${typed} …`
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return `${why}: ${error.message.replace(/^.*?: /, '')}`
    }
  })
}

/** A new working tree where only the command would see it: the project would keep a branch and an entry without files. */
export function lostWorktree(
  { command, cwd, machine, files }: Pick<FailedRun, 'command' | 'cwd' | 'machine' | 'files'>,
  isShown: (path: string) => boolean,
): string | null {
  const analysis = analyze(shellText(command) ?? typedText(command), { cwd, home: machine.home })
  const commands = 'facts' in analysis ? analysis.facts.commands : []
  const uses = commands.flatMap((fact) => {
    const words = fact.argv.map((word) => word.values?.[0] ?? '')
    const at = words.indexOf('worktree')
    return posix.basename(words[0] ?? '') === 'git' && at > 0 ? [{ fact, verb: words[at + 1] ?? '' }] : []
  })
  // What is removed in the same text was meant to be temporary.
  if (uses.some(({ verb }) => verb === 'remove')) return null
  const lost = uses
    .filter(({ verb }) => verb === 'add')
    .flatMap(({ fact }) =>
      fact.paths.flatMap(({ access, path }) => (access === 'write' && path !== null ? [path] : [])),
    )
    .map((path) => files.canonical(path))
    .find((path) => !isShown(path))
  if (lost === undefined) return null
  const place = withTilde(lost, machine.home)
  return `${place} is outside the project, so the new working tree would be lost, and the project would keep its branch. To keep it: mkdir -p ${place} && cordon run --write ${place} …; or name a folder in the project [outside-roots]`
}

/** Canonical paths that the command's text shows it writes. */
function writtenPaths(command: readonly string[], cwd: string, { home }: Machine, files: Files): ReadonlySet<string> {
  const analysis = analyze(shellText(command) ?? typedText(command), { cwd, home })
  if (!('facts' in analysis)) return new Set()
  const { commands, redirects } = analysis.facts
  const named = commands.flatMap(({ paths }) =>
    paths.flatMap(({ access, path }) => (access === 'write' && path !== null ? [path] : [])),
  )
  const opened = [...redirects, ...commands.flatMap((one) => one.redirects)].flatMap(({ access, target, cwd: at }) => {
    const [value, ...more] = target?.values ?? []
    return access === 'read' || value === undefined || more.length > 0 ? [] : [posix.resolve(at ?? cwd, value)]
  })
  return new Set([...named, ...opened].map((path) => files.canonical(path)))
}

/** Git commands that write a name into history. */
const SIGNED_WORK = /^(?:commit|merge|rebase|cherry-pick|revert|am|tag|stash|pull|notes)$/

/** The git words of a command that writes history; otherwise null. */
function historyWords(command: readonly string[]): readonly string[] | null {
  const words = spokenWords(command)
  const git = words.findIndex((word) => posix.basename(word) === 'git')
  const own = words.slice(git + 1)
  return git >= 0 && own.some((word) => SIGNED_WORK.test(word)) ? own : null
}

/** Signing keys stay outside: the person's agent signs, if the manifest grants its socket. */
function signature({ command, outcome, loaded, machine, files }: FailedRun): string | null {
  const words = historyWords(command)
  const { sockets } = outcome.plan
  if (words === null || words.includes('--no-gpg-sign') || sockets.length > 0) return null
  const settings = ['.gitconfig', '.config/git/config'].map((name) => posix.join(machine.home, name))
  const text = [...settings, posix.join(loaded.root, '.git/config')].map((path) => textOf(path, files)).join('\n')
  const signs =
    /^\s*gpgsign\s*=\s*(?:true|yes|on|1)\b/im.test(text) || words.some((word) => /^(?:-S|--gpg-sign)/.test(word))
  if (!signs) return null
  const isSsh = /^\s*format\s*=\s*ssh\b/im.test(text)
  const key = /^\s*signingkey\s*=\s*(\S+)/im.exec(text)?.[1] ?? '~/.ssh/id_ed25519.pub'
  const file = key.replace(/^"|"$/g, '')
  const [shown, socket, which] = isSsh
    ? [withTilde(file, machine.home), '${SSH_AUTH_SOCK}', fingerprint(file.replace(/^~/, machine.home), files)]
    : ['~/.gnupg/pubring.kbx', '~/.gnupg/S.gpg-agent', 'KEYGRIP']
  const how = isSsh ? '' : ' (gpg -K --with-keygrip shows KEYGRIP)'
  return `git signs, and private keys stay outside. To sign by your ${isSsh ? 'ssh' : 'gpg'}-agent, put into cordon.toml the read path "${shown}" and { command = "git ${words.find((word) => SIGNED_WORK.test(word))}:*", domains = [{ host = "unix:${socket}", signs = "${which}" }] }${how}; without a signature: --no-gpg-sign`
}

/** As `ssh-keygen -lf` prints it. */
function fingerprint(path: string, files: Files): string {
  const key = textOf(path, files).split(/\s/)[1] ?? ''
  return `SHA256:${createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64').replace(/=+$/, '')}`
}

function textOf(path: string, files: Files): string {
  return attempt(() => (files.exists(path) ? files.readText(path, 1 << 20) : ''), '')
}

function identity({ command, outcome, loaded, machine, files }: FailedRun): string | null {
  if (historyWords(command) === null) return null
  const { env, binds } = outcome.plan
  if (env.GIT_AUTHOR_EMAIL || env.EMAIL) return null
  const named = (path: string): boolean => /^\s*email\s*=\s*\S/im.test(textOf(path, files))
  const own = ['.gitconfig', '.config/git/config'].map((name) => posix.join(machine.home, name)).filter(named)
  const shown = own.some((path) => binds.some((bind) => isInside(path, bind.path)))
  if (shown || named(posix.join(loaded.root, '.git/config'))) return null
  return own.length > 0
    ? `git does not know your name inside the sandbox: it is in ${withTilde(own[0]!, machine.home)}, which the bundle "git" shows; cordon run --tool git …`
    : 'git does not know your name, inside the sandbox or outside: git config --global user.name NAME, and user.email ADDRESS'
}
