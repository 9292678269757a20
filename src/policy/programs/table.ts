/** The table of program starts that the init reports (native/programs/table.c). PURE. */

import { posix } from 'node:path'
import { knownTool } from '../evaluate/network-use.ts'
import type { Policy } from '../policy.ts'
import type { HeldHosts } from './callers.ts'

/** Folders of programs, beside those on the PATH. */
export const PROGRAM_FOLDERS: readonly string[] = [
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/usr/sbin',
  '/sbin',
  '/usr/lib/git-core',
]
const INTERPRETERS = 'sh bash dash zsh ksh fish python3 python node deno bun perl ruby php lua'.split(' ')
const LOADERS = ['/lib64', '/lib', '/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu']

/** The rules that select starts. */
export interface TableScene {
  readonly policy: Policy
  readonly by: StartedFor
  /** Programs that ask because they change something elsewhere (P10): lines of `changingPrograms`. */
  readonly changing: readonly string[]
  /** Grants are needed by every program, so every start matters. */
  readonly every?: boolean
  /** Null without any. */
  readonly scripts?: UnapprovedScripts | null
  /** Starts with consequences that the person did not ask for; null without any. */
  readonly refused?: RefusedStarts | null
}

/** Starts that a surface refuses by itself. */
export interface RefusedStarts {
  readonly lines: readonly string[]
  /** Why a start is refused, and what to do instead; null lets it run. */
  readonly why: (start: {
    readonly path: string
    readonly argv: readonly string[]
    readonly cwd: string
  }) => string | null
}

/** Scripts of the project's skills that nobody has approved (T3). */
export interface UnapprovedScripts {
  readonly paths: readonly string[]
  /** Why a file may not run; null if it may. */
  readonly problem: (path: string) => string | null
}

/** The lines for one command; none where every program start is allowed. `path`: the PATH that it has. */
export function programTable(scene: TableScene, path: string): readonly string[] {
  const { policy, by, changing, every, scripts, refused } = scene
  const { deny } = policy.commands
  const lines = new Set<string>(every ? ['*'] : [])
  const programs = new Set<string>()
  for (const { pattern } of deny) {
    const [program, ...words] = pattern.words
    // A text rule is only certain about the beginning of the text.
    if (program === undefined || isOdd(pattern.words)) lines.add('*')
    else {
      lines.add([`n ${posix.basename(program)}`, ...words].join('\t'))
      programs.add(posix.basename(program))
    }
  }
  for (const { value } of policy.shellPolicy.deny) lines.add(isOdd([value]) ? '*' : `s ${value}`)
  if (by === 'agent' && !policy.flags.privilege_wrappers.value) for (const name of PRIVILEGED) lines.add(`n ${name}`)
  for (const line of [...changing, ...(refused?.lines ?? [])]) lines.add(`n ${line}`)
  const files = scripts?.paths ?? []
  for (const file of files) lines.add(`f ${file}`)
  // A copy of an interpreter reads its words as the interpreter does.
  for (const name of files.length > 0 ? INTERPRETERS : []) programs.add(name)
  if (programs.size === 0) return [...lines]
  const folders = [...new Set([...path.split(':').filter((folder) => folder.startsWith('/')), ...PROGRAM_FOLDERS])]
  for (const name of programs) for (const folder of folders) lines.add(`i ${name}\t${posix.join(folder, name)}`)
  for (const name of RUNS_INSIDE)
    for (const folder of name.startsWith('ld') ? LOADERS : PROGRAM_FOLDERS)
      lines.add(`i ${name}\t${posix.join(folder, name)}`)
  return [...lines].filter((line) => !line.includes('\0'))
}

/** The lines by which the init reports who connects, and knows programs that have their own hosts. */
export function callerLines(limited: Pick<HeldHosts, 'programs'> | null, path: string): readonly string[] {
  const names = new Set((limited?.programs ?? []).flatMap((name) => knownTool(name)?.programs ?? []))
  const folders = [...new Set([...path.split(':').filter((folder) => folder.startsWith('/')), ...PROGRAM_FOLDERS])]
  const links = [...names]
    .filter((name) => !name.includes('*'))
    .flatMap((name) => folders.map((folder) => `i ${name}\t${posix.join(folder, name)}`))
  // What lies between git and its connection by ssh has its hosts by where it comes from, and needs no name.
  return ['h', ...Array.from(names, (name) => `h ${name}`), ...links]
}

/** Whether a line of the table cannot express the words. */
function isOdd(words: readonly string[]): boolean {
  return words.some((word) => word === '' || /[\t\0]/.test(word))
}

/** For whom a start is judged: built-in rules are for agents, whose commands nobody reads first. */
export type StartedFor = 'agent' | 'person'

/** Programs that run the work of others by themselves, without starting them. */
export const RUNS_INSIDE: ReadonlySet<string> = new Set(
  'busybox toybox coreutils ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1 ld-musl-aarch64.so.1'.split(
    ' ',
  ),
)

/** What asks for other rights (S4). */
export const PRIVILEGED: ReadonlySet<string> = new Set('sudo sudo-rs sudoedit doas su pkexec run0 sg newgrp'.split(' '))

/** Programs that only start another one, which is judged then. */
export const ONLY_RUNS: ReadonlySet<string> = new Set(
  'env nice ionice nohup setsid stdbuf time timeout xargs'.split(' '),
)
