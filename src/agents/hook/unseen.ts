/**
 * What a host reads and runs without asking its hook: memory files on the way to a file, their imports, files that
 * arguments mention, commands in a skill. They are judged with the call, and before its person's words go to the
 * model.
 */

import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { inlineCommandFiles } from '../../custom/inline-commands.ts'
import { filesBelow, inlineCommands, MAX_ENTRIES, mentionedPaths } from '../../custom/walk.ts'
import { secretOf } from '../../files/secret-shapes.ts'
import { denial, type Reason } from '../../policy/decision.ts'
import { attempt } from '../../system/fault.ts'
import { recordOf } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { armedDenials, type InlineSetting, inlineDenials, typedCommand } from './inline.ts'
import type { HookJudge, ReadCall } from './judge.ts'
import { importedPath, type MemoryFile, type MemoryNames, memoryFiles, type NamedMemory } from './memory-files.ts'
import { type NamingSettings, NOTHING_NAMED, namedFiles } from './named-files.ts'

const FOLDERS: readonly string[] = ['.gemini/commands', '.qwen/commands']
const MAX_BYTES = 1024 * 1024

/** Denials for project commands that may have produced the text: the files they name, and unapproved commands. */
async function sentFiles(root: string, sent: string, machine: Machine): Promise<readonly MemoryFile[]> {
  const walks = FOLDERS.map((folder) => posix.join(root, folder)).map((folder) => ({
    folder,
    ...filesBelow(folder, (path) => /\.(?:toml|md)$/i.test(path)),
  }))
  const cut = walks
    .filter(({ isCut }) => isCut)
    .map(({ folder }) => unread(folder, `contains more than ${MAX_ENTRIES} files, or folders nested too deep`))
  const paths = walks.flatMap(({ found }) => found)
  const files = await Promise.all(paths.map((path) => sentWith(path, root, sent, machine)))
  return [...cut, ...files.flat()]
}

async function sentWith(from: string, root: string, sent: string, machine: Machine): Promise<readonly MemoryFile[]> {
  const text = textOf(from)
  if (text === null) return [unread(from, 'is too large, or cannot be read')]
  const commands = inlineCommands(text)
  const words = commands.flatMap((command) => command.split(/[\s;|&<>()'"]+/))
  const named = [...mentionedPaths(text), ...words].filter(Boolean).map((given) => posix.resolve(root, given))
  const files = [...new Set(named)].filter(isFile).map((path) => ({ path, from, unread: null }))
  if (files.length === 0 && commands.length === 0) return []
  const template = await templateOf(text, from)
  if (template === null) return [unread(from, 'cannot be understood')]
  if (!isMadeOf(sent, template)) return []
  const inline = commands.length === 0 ? [] : inlineCommandFiles(root, machine, [root])
  const unapproved = inline.filter(({ path, status }) => path === from && status !== 'ok')
  return [
    ...files,
    ...unapproved.map(({ own, commands: [first] }) =>
      unread(from, `runs commands that are not approved (${first}; cordon skills approve ${own})`),
    ),
  ]
}

function unread(path: string, why: string): MemoryFile {
  return { path, from: null, unread: why }
}

async function templateOf(text: string, file: string): Promise<string | null> {
  if (!/\.toml$/i.test(file)) return text.replace(/^\ufeff?---[^\n]*\n[\s\S]*?\n---[^\n]*(?:\n|$)/, '')
  try {
    const { parseToml } = await import('../settings/toml-text.ts')
    const { prompt } = recordOf(parseToml(text, file))
    return typeof prompt === 'string' ? prompt : null
  } catch {
    return null
  }
}

/** Whether a text contains the fixed parts of a template in order. A template without any matches every text. */
function isMadeOf(sent: string, template: string): boolean {
  const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()
  const whole = plain(sent)
  let at = 0
  for (const piece of piecesOf(template).map(plain).filter(Boolean)) {
    const found = whole.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return true
}

/** The contents of `@{…}`, `!{…}`, `{{…}}` and !`…`; nested braces count. */
function piecesOf(template: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  for (let at = 0; at < template.length; at++) {
    const opened = /^(?:[@!]\{|\{\{|!`)/.exec(template.slice(at, at + 2))?.[0]
    if (opened === undefined) continue
    pieces.push(template.slice(from, at))
    from = opened === '!`' ? closed(template, at + 2, '`') : closingBrace(template, at)
    at = from - 1
  }
  return [...pieces, template.slice(from)]
}

function closed(text: string, from: number, mark: string): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

function closingBrace(text: string, from: number): number {
  let depth = 0
  for (let at = text.indexOf('{', from); at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at + 1
  }
  return text.length
}

function isFile(path: string): boolean {
  return attempt(() => statSync(path).isFile(), false)
}

function textOf(path: string): string | null {
  try {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= MAX_BYTES ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}

/** How a host expands on its own. */
export interface Expansion extends MemoryNames {
  /** It runs commands inside the project's skills and commands. */
  readonly runsInline: boolean
  readonly startsFromHeads?: true
  /** Where project settings name more files; absent: nowhere. */
  readonly naming?: NamingSettings
}

/** A person's words, as far as the host reports them. */
export interface Said {
  readonly said?: string | null
  /** As the host expanded them for sending. */
  readonly sent?: string | null
}

/** Where the calls come from, and the host's setting for commands in skills; null without one. */
export interface UnseenPlace {
  readonly machine: Machine
  readonly cwd: string
  readonly setting: (() => Promise<InlineSetting>) | null
}

/** Denials of what the host would do unseen with these calls; usually none. */
export async function unseenDenials(
  judge: HookJudge,
  calls: readonly ReadCall[],
  expands: Expansion,
  place: UnseenPlace,
): Promise<readonly ReadCall[]> {
  const { root } = judge.loaded
  const above = foldersTo(place.cwd, root)
  const beside = foldersOf(calls, root).filter((folder) => !above.includes(folder))
  const folders = [...above, ...beside]
  const { home } = place.machine
  const files = [...memoryFiles(folders, expands, home), ...memoryAbove(root, expands, home)]
  return [
    ...files.flatMap((file) => memoryDenial(judge, file)),
    ...(await skillDenials(root, expands.runsInline ? calls.flatMap(skillOf) : [], place)),
    // Folders above were checked before anything went to the model.
    ...headDenials(root, expands, beside, place),
  ]
}

function headDenials(
  root: string,
  { startsFromHeads }: Expansion,
  folders: readonly string[],
  { machine }: UnseenPlace,
): readonly ReadCall[] {
  return startsFromHeads ? armedDenials(root, folders, machine) : []
}

/** Why nothing may go to the model: what the host would send or run with its person's words. */
export async function promptDenials(
  judge: HookJudge,
  words: Said,
  expands: Expansion,
  place: UnseenPlace,
): Promise<readonly Reason[]> {
  const { root } = judge.loaded
  const denied = [
    ...(await sentAlong(root, words, expands, place)).flatMap((file) => memoryDenial(judge, file)),
    ...(await typedDenials(root, words, expands, place)),
    ...headDenials(root, expands, foldersTo(place.cwd, root), place),
  ]
  return denied.flatMap(({ touches }) => ('denied' in touches ? [touches.denied.reason] : []))
}

/** Whether anything sent along needs the policy; a plain memory file of the project does not. */
export async function needsPolicy(root: string, words: Said, expands: Expansion, place: UnseenPlace): Promise<boolean> {
  const files = await sentAlong(root, words, expands, place)
  return (
    files.some(({ path, from, unread }) => from !== null || unread !== null || !isItself(path)) ||
    headDenials(root, expands, foldersTo(place.cwd, root), place).length > 0 ||
    (await typedDenials(root, words, expands, place)).length > 0
  )
}

/** Outside files are checked only for secrets. */
function isSecret(path: string, { loaded: { policy } }: HookJudge): boolean {
  return [path, realpathSync(path)].some((one) => secretOf(one, policy) !== null)
}

/** Neither the path nor a parent folder is a link. */
function isItself(path: string): boolean {
  return attempt(() => realpathSync(path) === path, false)
}

async function sentAlong(
  root: string,
  { sent }: Said,
  expands: Expansion,
  { machine, cwd }: UnseenPlace,
): Promise<readonly MemoryFile[]> {
  const { home, env } = machine
  const folders = foldersTo(cwd, root)
  const { naming } = expands
  const own = naming?.own?.(home, env) ?? null
  const named = naming ? await namedFiles(folders, naming, home, own) : NOTHING_NAMED
  const added = named.folders.flatMap(({ path, from }) => {
    const inside = foldersTo(path, root)
    const files = memoryFiles(inside.length > 0 ? inside : foldersTo(path, '/'), expands, home, named.names)
    return files.map((file) => ({ ...file, from: file.from ?? from }))
  })
  return [
    ...memoryFiles(folders, expands, home, named.names),
    ...added,
    ...memoryAbove(root, expands, home),
    ...namedAbove([...foldersAbove(root), ...(own === null ? [] : [own])], named.names, expands, home),
    ...named.files,
    ...(sent ? await sentFiles(root, sent, machine) : []),
  ]
}

/** If the host runs nothing, a person may type anything. */
async function typedDenials(
  root: string,
  { said }: Said,
  { runsInline }: Expansion,
  place: UnseenPlace,
): Promise<readonly ReadCall[]> {
  const typed = said && runsInline ? typedCommand(said) : []
  if (typed.length === 0 || (await place.setting?.())?.kind === 'withheld') return []
  return skillDenials(root, typed, place)
}

/** Denials of a text to be written into a memory file. */
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
      texts.flatMap(mentionedPaths).flatMap((given) => memoryDenial(judge, imported(given, target, home))),
    )
}

function imported(given: string, from: string, home: string): MemoryFile {
  return { from, path: importedPath(given, from, home), unread: null }
}

/** Memory files of any host: one agent reads what another writes. */
function isMemoryFile(path: string): boolean {
  return (
    /^(?:CLAUDE|GEMINI|QWEN|AGENTS?|CONTEXT|SKILL)(?:\.local|\.override)?\.md$/i.test(posix.basename(path)) ||
    /\/\.(?:claude|qwen)\/rules\/.*\.md$/i.test(path)
  )
}

/** The denial of a file that the host reads on its own; none if readable. */
export function memoryDenial(judge: HookJudge, { path, from, unread, isPersons }: MemoryFile): readonly ReadCall[] {
  const [call] = judge.read([{ kind: 'tool', tool: 'read', input: { path } }])
  const decision = judge.strictest([call!], null)?.decision
  const denied = (reason: Reason): readonly ReadCall[] => [
    { ...call!, touches: { denied: denial(path, reason, 'read') } },
  ]
  const read = 'which the agent’s program reads by itself'
  if (unread !== null) {
    const message = `${path}, ${read}, ${unread}, so what it brings along cannot be known.`
    return denied({ code: 'secret', message, remedy: `The user can correct that, or move it away: ${path}` })
  }
  if (!decision || decision.decision === 'allow') return []
  const { code, message: why } = decision.reason
  if (isPersons && code === 'outside-roots' && !isSecret(path, judge)) return []
  return denied(
    from === null
      ? {
          code,
          message: `${path}, ${read}, may not be read: ${why}`,
          remedy: `If ${path} is a link, the user can remove that; they can also grant the file in cordon.toml and sign that.`,
        }
      : {
          code,
          message: `${from}, ${read}, names ${path}: ${why}`,
          remedy: `Take ${posix.basename(path)} out of ${from}; the user can grant the file in cordon.toml and sign that.`,
        },
  )
}

async function skillDenials(root: string, names: readonly string[], place: UnseenPlace): Promise<readonly ReadCall[]> {
  if (names.length === 0) return []
  const folders = foldersTo(place.cwd, root)
  const setting = (await place.setting?.()) ?? null
  return inlineDenials({ names, root, folders: folders.length === 0 ? [root] : folders, setting }, place.machine)
}

function skillOf({ call }: ReadCall): readonly string[] {
  const name = call.kind === 'tool' && call.tool === 'skill' ? call.input.name : null
  return typeof name === 'string' ? [name.trim().replace(/^\//, '')] : []
}

/** The project's folders on the way to what the calls touch, the project first. */
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

/** The project and the folders down to a path, including the path: listing shows a folder. */
export function foldersTo(path: string, root: string): readonly string[] {
  if (path === root) return [root]
  const start = root === '/' ? root : `${root}/`
  if (!path.startsWith(start)) return []
  const below = path.slice(start.length).split('/')
  return [root, ...below.map((_, index) => posix.join(root, ...below.slice(0, index + 1)))]
}

function foldersAbove(folder: string): readonly string[] {
  const above = posix.dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}

/** Memory files of the repository above the project; their owner chose to keep them outside. */
function memoryAbove(root: string, names: MemoryNames, home: string): readonly MemoryFile[] {
  const above = foldersAbove(root)
  const top = above.findLastIndex((folder) => existsSync(posix.join(folder, '.git')))
  if (top === -1) return []
  return memoryFiles(above.slice(0, top + 1), names, home).map((file) =>
    isBelow(file.path, above[top]!) ? { ...file, isPersons: true } : file,
  )
}

/** Files that project settings name in these folders. Usual memory files there are their person's. */
function namedAbove(
  folders: readonly string[],
  named: readonly NamedMemory[],
  { imports }: MemoryNames,
  home: string,
): readonly MemoryFile[] {
  return named.flatMap((one) => {
    const isUsual = /^[\w-]+\.md$/i.test(one.name)
    const files = memoryFiles(folders, { memory: [], imports: imports && !isUsual }, home, [one])
    return isUsual ? files.map((file) => ({ ...file, isPersons: true as const })) : files
  })
}

/** Follows links. */
function isBelow(path: string, folder: string): boolean {
  return attempt(() => realpathSync(path).startsWith(posix.join(realpathSync(folder), '/')), false)
}
