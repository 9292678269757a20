/**
 * What a host reads and runs by itself, without showing it to its hook: memory files on the way to a file, what they import, the files
 * that arguments mention, the commands in a skill. They are judged with the call, and before its person's words go to the model.
 */

import { posix } from 'node:path'
import { denial, type Reason } from '../../policy/decision.ts'
import type { Machine } from '../../system/machine.ts'
import { type InlineSetting, inlineDenials, typedCommand } from './inline.ts'
import type { HookJudge, ReadCall } from './judge.ts'
import { importedPath, type MemoryFile, type MemoryNames, memoryFiles } from './memory-files.ts'
import { mentionedPaths } from './mentions.ts'

/** How a host expands by itself. */
export interface Expansion extends MemoryNames {
  /** It runs commands that stand in skills and commands of the project. */
  readonly runsInline: boolean
}

/** Where the calls are made, and what the host's settings say of commands in skills; null where it has no such setting. */
export interface UnseenPlace {
  readonly machine: Machine
  readonly cwd: string
  readonly setting: (() => InlineSetting) | null
}

/** The denials of what the host would do unseen with these calls; none in most cases. */
export function unseenDenials(
  judge: HookJudge,
  calls: readonly ReadCall[],
  expands: Expansion,
  place: UnseenPlace,
): readonly ReadCall[] {
  const folders = expands.memory.length === 0 ? [] : foldersOf(calls, judge.loaded.root)
  const files = memoryFiles(folders, expands, place.machine.home)
  return [
    ...files.flatMap((file) => memoryDenial(judge, file)),
    ...skillDenials(judge, expands.runsInline ? calls.flatMap(skillOf) : [], place),
  ]
}

/** Why nothing may go to the model: what the host sends along with its person's words, or would run for them. */
export function promptDenials(
  judge: HookJudge,
  said: string | null,
  expands: Expansion,
  place: UnseenPlace,
): readonly Reason[] {
  const folders = foldersTo(place.cwd, judge.loaded.root)
  const typed = said !== null && expands.runsInline ? typedCommand(said) : []
  const denied = [
    ...memoryFiles(folders, expands, place.machine.home).flatMap((file) => memoryDenial(judge, file)),
    ...skillDenials(judge, typed, place),
  ]
  return denied.flatMap(({ touches }) => ('denied' in touches ? [touches.denied.reason] : []))
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
        .flatMap((given) =>
          memoryDenial(judge, { from: target, path: importedPath(given, target, home), unread: null }),
        ),
    )
}

/** Memory files of any host: what one agent writes another one reads. */
function isMemoryFile(path: string): boolean {
  return (
    /^(?:CLAUDE|GEMINI|QWEN|AGENTS?|CONTEXT|SKILL)(?:\.local|\.override)?\.md$/i.test(posix.basename(path)) ||
    /\/\.(?:claude|qwen)\/rules\/.*\.md$/i.test(path)
  )
}

function memoryDenial(judge: HookJudge, { path, from, unread }: MemoryFile): readonly ReadCall[] {
  const [call] = judge.read([{ kind: 'tool', tool: 'read', input: { path } }])
  const decision = judge.strictest([call!], null)?.decision
  const denied = (reason: Reason): readonly ReadCall[] => [
    { ...call!, touches: { denied: denial(path, reason, 'read') } },
  ]
  const read = 'which the agent’s program reads by itself'
  if (unread !== null) {
    const message = `${path}, ${read}, ${unread}, so what it imports cannot be known.`
    return denied({ code: 'secret', message, remedy: `The user can make it shorter, or move it away: ${path}` })
  }
  if (!decision || decision.decision === 'allow') return []
  const { code, message: why } = decision.reason
  return denied(
    from === null
      ? {
          code,
          message: `${path}, ${read}, may not be read: ${why}`,
          remedy: `The user can remove ${path} if it is a link, or grant the file in cordon.toml and sign that.`,
        }
      : {
          code,
          message: `${from}, ${read}, imports ${path}: ${why}`,
          remedy: `Take @${posix.basename(path)} out of ${from}; the user can grant the file in cordon.toml and sign that.`,
        },
  )
}

function skillDenials(judge: HookJudge, names: readonly string[], place: UnseenPlace): readonly ReadCall[] {
  if (names.length === 0) return []
  const { root } = judge.loaded
  const folders = foldersTo(place.cwd, root)
  const setting = place.setting?.() ?? null
  return inlineDenials({ names, root, folders: folders.length === 0 ? [root] : folders, setting }, place.machine)
}

function skillOf({ call }: ReadCall): readonly string[] {
  const name = call.kind === 'tool' && call.tool === 'skill' ? call.input.name : null
  return typeof name === 'string' ? [name.trim().replace(/^\//, '')] : []
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
