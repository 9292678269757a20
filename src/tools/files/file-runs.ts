/** File tools for single paths: chmod, copy, delete, list, mkdir, move, stat, write. */

import { posix } from 'node:path'
import type { CheckedPath, Entry } from '../../system/guarded/guarded-files.ts'
import { InputError, type JudgedPath, type PathAccess, type ToolContext, type ToolOutput } from '../tool.ts'
import { decodeText, encodeText, lineEndOf, withLineEnds } from './text-encoding.ts'
import { holdsReadable, isShown, requireWholeTree, visibleName, walkTree } from './tree.ts'

/** Larger files are replaced without keeping their form. */
const MAX_KEPT = 32 * 1024 * 1024

interface WriteInput {
  readonly path: string
  readonly content: string
}

export async function write(input: WriteInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  const { content } = input
  const old = context.files.stat(target)
  const bytes =
    old?.type === 'file' && old.size <= MAX_KEPT ? inOldForm(content, target, context) : Buffer.from(content, 'utf8')
  context.files.write(target, bytes)
  return {
    text: `${old ? 'Replaced' : 'Created'} ${given} (${bytes.length} bytes).`,
    data: { path: target, created: old === null, bytes: bytes.length },
    files: { read: [], written: [target] },
  }
}

// Keeps the byte order mark and line ends; files that are not text, or cannot encode the new text,
// become UTF-8.
function inOldForm(content: string, path: CheckedPath, context: ToolContext): Buffer {
  const decoded = decodeText(context.files.read(path).bytes)
  if ('media' in decoded) return Buffer.from(content, 'utf8')
  const text = withLineEnds(content, lineEndOf(decoded.text))
  return encodeText(text, decoded.encoding) ?? Buffer.from(text, 'utf8')
}

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const

/** Judges a path by the policy. */
export interface VerdictContext {
  readonly judge: (access: PathAccess, path: string) => Pick<JudgedPath, 'verdict'>
}

/** Refuses a name that is judged less strictly: a secret often is one only by its name. */
export function requireAsClosed(source: string, destination: string, context: VerdictContext): void {
  const before = context.judge('read', source).verdict
  const after = context.judge('read', destination).verdict
  if (STRICTNESS[after] >= STRICTNESS[before]) return
  throw new InputError(
    `${source} may not simply be read, and as ${destination} it could be; choose a name that is as closed, or let the user move it`,
  )
}

/** The same for everything below a directory. */
async function requireTreeAsClosed(source: CheckedPath, destination: CheckedPath, context: ToolContext): Promise<void> {
  requireAsClosed(source, destination, context)
  for await (const entry of walkTree(source, context, { ignore: false, everything: true })) {
    requireAsClosed(entry.path, posix.join(destination, entry.relative), context)
  }
}

const MAX_ENTRIES = 2000
const MARKS = { file: '', directory: '/', link: '@', other: '?' } as const

interface ListInput {
  readonly path: string
}

export async function list(input: ListInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const directory = context.checked(given)
  const all: Entry[] = []
  for (const entry of context.files.list(directory)) {
    const below = context.judge('list', posix.join(directory, entry.name))
    if (!isShown(below, entry.type, context)) continue
    if (entry.type !== 'directory' || (await holdsReadable(below.path, context))) all.push(entry)
  }
  const entries = all.slice(0, MAX_ENTRIES)
  const lines = entries.map((entry) => visibleName(entry.name) + MARKS[entry.type])
  const remedy = 'use glob with a narrower pattern'
  if (all.length > entries.length) lines.push(`[${all.length - entries.length} more entries; ${remedy}]`)
  return {
    text: lines.length === 0 ? `[${given} is empty]` : lines.join('\n'),
    data: { path: directory, entries },
    ...(all.length > entries.length && {
      truncated: { shown: entries.length, total: all.length, unit: 'entries', remedy },
    }),
  }
}

interface ChmodInput {
  readonly path: string
  readonly mode: string
}

export async function chmod(input: ChmodInput, context: ToolContext): Promise<ToolOutput> {
  const target = context.checked(input.path)
  const { mode } = input
  if (!/^0?[0-7]{3}$/.test(mode)) {
    throw new InputError(
      `"mode" of chmod is ${JSON.stringify(mode.slice(0, 20))}; give three octal digits such as "755" (setuid, setgid and sticky bits are not set)`,
    )
  }
  const before = context.files.stat(target)
  context.files.changeMode(target, Number.parseInt(mode, 8))
  const was = before ? ` (was ${(before.mode & 0o777).toString(8).padStart(3, '0')})` : ''
  return {
    text: `Changed the mode of ${input.path} to ${mode}${was}.`,
    data: { path: target, mode },
    files: { read: [], written: [target] },
  }
}

interface CopyInput {
  readonly source: string
  readonly destination: string
}

export async function copy(input: CopyInput, context: ToolContext): Promise<ToolOutput> {
  const source = context.checked(input.source)
  const destination = context.checked(input.destination)
  if (source === destination) throw new InputError('"source" and "destination" of copy are the same file')
  if (context.files.stat(destination)?.type === 'directory') {
    throw new InputError(`${input.destination} is a directory; name the file to create in it`)
  }
  context.files.copy(source, destination)
  return {
    text: `Copied ${input.source} to ${input.destination}.`,
    data: { source, destination },
    files: { read: [source], written: [destination] },
  }
}

interface DeletePathInput {
  readonly path: string
  readonly recursive?: boolean | undefined
}

export async function deletePath(input: DeletePathInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  refuseLink('delete', given, target, context)
  if (context.roots.includes(target)) throw new InputError(`${given} is a root of this session and is not deleted`)
  const facts = context.files.stat(target)
  if (!facts) throw new InputError(`${given} does not exist`)
  const recursive = input.recursive === true
  if (facts.type === 'directory') {
    if (!recursive && context.files.list(target).length > 0) {
      throw new InputError(`${given} is a directory that is not empty; set "recursive": true to delete all of it`)
    }
    await requireWholeTree('write', target, context)
  }
  context.signal.throwIfAborted()
  context.files.remove(target, { recursive })
  return {
    text: `Deleted ${given}${facts.type === 'directory' ? ' and everything in it' : ''}.`,
    data: { path: target, type: facts.type },
    files: { read: [], written: [target] },
  }
}

/** Refuses a link's name for deleting or moving its target. */
export function refuseLink(verb: 'delete' | 'move', given: string, path: string, context: ToolContext): void {
  const written = posix.resolve(context.cwd, given)
  if (written === path || !context.files.isLink(written)) return
  throw new InputError(
    `${given} is a link to ${path}; to ${verb} its target, name ${path}; to ${verb} the link itself, use bash (${verb === 'delete' ? 'rm' : 'mv'})`,
  )
}

interface MkdirInput {
  readonly path: string
}

export async function mkdir(input: MkdirInput, context: ToolContext): Promise<ToolOutput> {
  const directory = context.checked(input.path)
  const built = context.files.makeDirectory(directory)
  return {
    text: built.length > 0 ? `Created ${input.path}.` : `${input.path} is already there.`,
    data: { path: directory, made: built },
    files: { read: [], written: built },
  }
}

interface MoveInput {
  readonly source: string
  readonly destination: string
}

export async function move(input: MoveInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.source
  const source = context.checked(given)
  const destination = context.checked(input.destination)
  refuseLink('move', given, source, context)
  if (context.roots.includes(source)) throw new InputError(`${given} is a root of this session and is not moved`)
  const facts = context.files.stat(source)
  if (!facts) throw new InputError(`${given} does not exist`)
  if (facts.type === 'file') requireAsClosed(source, destination, context)
  else {
    await requireWholeTree('write', source, context)
    await requireTreeAsClosed(source, destination, context)
    // A tree's new place may turn it into code that runs, such as hooks of a repository.
    await requireWholeTree('write', source, context, destination)
  }
  context.signal.throwIfAborted()
  context.files.move(source, destination)
  return {
    text: `Moved ${given} to ${input.destination}.`,
    data: { source, destination },
    files: { read: [], written: [source, destination] },
  }
}

interface StatInput {
  readonly path: string
}

export async function stat(input: StatInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  const facts = context.files.stat(target)
  if (!facts) return { text: `${given} does not exist.`, data: { path: target, exists: false } }
  const mode = facts.mode.toString(8).padStart(3, '0')
  const modified = facts.modified.toISOString()
  return {
    text: `${given}: ${facts.type}, ${facts.size} bytes, mode ${mode}, modified ${modified}`,
    data: { path: target, exists: true, type: facts.type, size: facts.size, mode, modified, links: facts.links },
  }
}
