/**
 * What a host reads and runs by itself when a call is made, without showing it to its hook: memory files beside a file, what they
 * import, the files that arguments mention, the commands in a skill. They are judged with the call.
 */

import { lstatSync, readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { denial } from '../../policy/decision.ts'
import type { Machine } from '../../system/machine.ts'
import { type InlineCommands, inlineCommandFiles } from '../custom/inline-commands.ts'
import type { HookJudge, ReadCall } from './judge.ts'
import { mentionedPaths } from './mentions.ts'

/** How a host expands by itself. */
export interface Expansion {
  /** Names of memory files, which it reads in every folder from the project down to the file of a call. */
  readonly memory: readonly string[]
  /** It runs commands that stand in skills and commands of the project. */
  readonly runsInline: boolean
}

/** A file that a host reads by itself, and the file that says so. */
export interface Import {
  readonly from: string
  readonly path: string
}

const MAX_DEPTH = 5
const MAX_BYTES = 1024 * 1024

/** The denials of what the host would do unseen with these calls; none in most cases. */
export function unseenDenials(
  judge: HookJudge,
  calls: readonly ReadCall[],
  { memory, runsInline }: Expansion,
  machine: Machine,
): readonly ReadCall[] {
  const { root } = judge.loaded
  const folders = memory.length === 0 ? [] : foldersOf(calls, root)
  const imports = folders.flatMap((folder) =>
    memory.flatMap((name) => importsOf(posix.join(folder, name), machine.home)),
  )
  const skills = runsInline ? calls.flatMap(skillOf) : []
  const inline = skills.length === 0 ? [] : inlineCommandFiles(root, machine)
  return [
    ...imports.flatMap((found) => importDenial(judge, found)),
    ...inline.filter(({ name, status }) => skills.includes(name) && status !== 'ok').map((file) => inlineDenial(file)),
  ]
}

/** The denials of a text that is to be written into a memory file. */
export function writtenDenials(
  judge: HookJudge,
  calls: readonly ReadCall[],
  texts: readonly string[],
  home: string,
): readonly ReadCall[] {
  const targets = calls.flatMap(({ touches }) => ('denied' in touches ? [] : touches.writes.map(({ path }) => path)))
  return targets
    .filter(isMemoryFile)
    .flatMap((target) =>
      texts
        .flatMap(mentionedPaths)
        .flatMap((given) => importDenial(judge, { from: target, path: fullPath(given, target, home) })),
    )
}

/** Memory files of any host: what one agent writes another one reads. */
function isMemoryFile(path: string): boolean {
  return /^(?:CLAUDE(?:\.local)?|GEMINI|QWEN|AGENTS?|CONTEXT|SKILL)\.md$/i.test(posix.basename(path))
}

/** Files that a memory file imports, and those that these import, as far as they are there. */
export function importsOf(file: string, home: string, depth = 0, seen: Set<string> = new Set()): readonly Import[] {
  const text = seen.has(file) ? null : textOf(file)
  seen.add(file)
  if (text === null) return []
  return mentionedPaths(text).flatMap((given) => {
    const path = fullPath(given, file, home)
    if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return []
    return [{ from: file, path }, ...(depth < MAX_DEPTH ? importsOf(path, home, depth + 1, seen) : [])]
  })
}

/** Why what a host reads at its start may not be read: memory files from the project down to where it stands, and what they import. */
export function deniedImports(
  judge: HookJudge,
  names: readonly string[],
  cwd: string,
  home: string,
): readonly string[] {
  const folders = foldersTo(cwd, judge.loaded.root)
  const imports = folders.flatMap((folder) => names.flatMap((name) => importsOf(posix.join(folder, name), home)))
  return imports.flatMap((found) => importDenial(judge, found).map(({ touches }) => reasonOf(touches)))
}

function importDenial(judge: HookJudge, { from, path }: Import): readonly ReadCall[] {
  const [call] = judge.read([{ kind: 'tool', tool: 'read', input: { path } }])
  const decision = judge.strictest([call!], null)?.decision
  if (!decision || decision.decision === 'allow') return []
  const message = `${from}, which the agent’s program reads by itself, imports ${path}: ${decision.reason.message}`
  const remedy = `Take @${posix.basename(path)} out of ${from}; the user can grant the file in cordon.toml and sign that.`
  return [{ ...call!, touches: { denied: denial(path, { code: decision.reason.code, message, remedy }, 'read') } }]
}

function inlineDenial({ name, path, commands, status }: InlineCommands): ReadCall {
  const why = status === 'MISMATCH' ? 'has changed since they were approved' : 'nobody has approved them'
  const message = `The skill “${name}” runs commands by itself, outside the sandbox (${commands[0]}), and ${why}: ${path}.`
  const remedy = `The user can read them (cordon skills) and approve them: cordon skills approve ${name}`
  const call = { kind: 'tool', tool: 'skill', input: { name } } as const
  return {
    call,
    facts: null,
    subject: name,
    labels: ['execute'],
    touches: { denied: denial(name, { code: 'unapproved-script', message, remedy }) },
  }
}

function skillOf({ call }: ReadCall): readonly string[] {
  const name = call.kind === 'tool' && call.tool === 'skill' ? call.input.name : null
  return typeof name === 'string' ? [name.replace(/^\//, '').split(':').at(-1)!] : []
}

/** The project's folders on the way to what the calls touch, the project itself first. */
function foldersOf(calls: readonly ReadCall[], root: string): readonly string[] {
  const folders = new Set<string>()
  for (const { touches } of calls) {
    if ('denied' in touches) continue
    for (const { path } of [...touches.reads, ...touches.writes, ...touches.lists]) {
      for (const folder of foldersTo(path, root)) folders.add(folder)
    }
  }
  return [...folders]
}

/** The project and what is below it on the way to a path, itself included: what is listed is a folder. */
function foldersTo(path: string, root: string): readonly string[] {
  if (path === root) return [root]
  if (!path.startsWith(`${root}/`)) return []
  const below = path.slice(root.length + 1).split('/')
  return [root, ...below.map((_, index) => posix.join(root, ...below.slice(0, index + 1)))]
}

function fullPath(given: string, file: string, home: string): string {
  if (given === '~' || given.startsWith('~/')) return home + given.slice(1)
  return posix.resolve(posix.dirname(file), given)
}

/** A link is followed, as the host does; what is no text is not read. */
function textOf(path: string): string | null {
  try {
    if (!statSync(path).isFile() || lstatSync(path).size > MAX_BYTES || statSync(path).size > MAX_BYTES) return null
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

function reasonOf(touches: ReadCall['touches']): string {
  return 'denied' in touches ? touches.denied.reason.message : ''
}
