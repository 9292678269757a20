/** The memory files that a host sends to its model on its own, with their imports. */

import { readFileSync, type Stats, statSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, MAX_ENTRIES, mentionedPaths } from '../../custom/walk.ts'
import { attempt, errorCode } from '../../system/fault.ts'

/** A host's memory files. */
export interface MemoryNames {
  /** Names that it reads in every folder from the project down; with `/`, a folder of texts. */
  readonly memory: readonly string[]
  /** It inserts files that they mention with `@`. */
  readonly imports: boolean
  /** Folders of texts sent to the model when called: skills, commands, agents, styles. */
  readonly texts?: readonly string[]
}

/** A file that a host reads on its own. */
export interface MemoryFile {
  readonly path: string
  /** The file that names it; null for a memory file. */
  readonly from: string | null
  readonly unread: string | null
  /** In its person's own place for such files, so it may be outside the project. */
  readonly isPersons?: true
}

/** An additional name of memory files, and the settings that define it. */
export interface NamedMemory {
  readonly name: string
  readonly from: string | null
}

const MAX_DEPTH = 8
const MAX_FILES = 1000
const MAX_BYTES = 4 * 1024 * 1024

/** Every memory file in these folders, and every existing file that they import. */
export function memoryFiles(
  folders: readonly string[],
  { memory, imports, texts = [] }: MemoryNames,
  home: string,
  named: readonly NamedMemory[] = [],
): readonly MemoryFile[] {
  const seen = new Set<string>()
  const all = [...memory.map((name) => ({ name, from: null })), ...named]
  const own = (path: string): MemoryFile => ({ path, from: null, unread: null })
  return folders.flatMap((folder) => [
    ...all.flatMap(({ name, from }) => {
      const path = posix.join(folder, name)
      if (from !== null || !name.endsWith('/')) return withImports({ ...own(path), from }, imports, home, 0, seen)
      return textsBelow(path, isText).flatMap((file) =>
        file.unread === null ? withImports(file, imports, home, 0, seen) : [file],
      )
    }),
    ...texts.flatMap((name) => textsBelow(posix.join(folder, name), isSent)),
  ])
}

function textsBelow(folder: string, isWanted: (path: string, place: string) => boolean): readonly MemoryFile[] {
  const { found, isCut } = filesBelow(folder.slice(0, -1), isWanted)
  const cut = {
    path: folder,
    from: null,
    unread: `contains more than ${MAX_ENTRIES} files, or folders nested too deep`,
  }
  return [...(isCut ? [cut] : []), ...found.map((path) => ({ path, from: null, unread: null }))]
}

/** The path of an import in a file. */
export function importedPath(given: string, file: string, home: string): string {
  if (given === '~' || given.startsWith('~/')) return home + given.slice(1)
  return posix.resolve(posix.dirname(file), given)
}

function isText(path: string): boolean {
  return /\.(?:md|mdc|txt)$/i.test(path)
}

/** In a skill's folder only the skill itself, not files it refers to. */
function isSent(path: string, place: string): boolean {
  if (!/\.(?:md|txt|toml|ya?ml|json)$/i.test(path)) return false
  return !/skills?$/.test(place) || /^skill\.md$/i.test(posix.basename(path)) || posix.dirname(path) === place
}

function withImports(
  file: MemoryFile,
  imports: boolean,
  home: string,
  depth: number,
  seen: Set<string>,
): readonly MemoryFile[] {
  const facts = statOf(file.path)
  if (facts === null || !facts.isFile()) return []
  if (seen.has(file.path) || !imports) return [file]
  seen.add(file.path)
  if (facts.size > MAX_BYTES) return [{ ...file, unread: `is larger than ${MAX_BYTES} bytes` }]
  if (seen.size > MAX_FILES) return [{ ...file, unread: `is imported through more than ${MAX_FILES} other files` }]
  let text: string
  try {
    text = readFileSync(file.path, 'utf8')
  } catch (error) {
    return [{ ...file, unread: `cannot be read (${errorCode(error)})` }]
  }
  if (depth >= MAX_DEPTH) return [file]
  return [
    file,
    ...mentionedPaths(text).flatMap((given) =>
      withImports(
        { path: importedPath(given, file.path, home), from: file.path, unread: null },
        imports,
        home,
        depth + 1,
        seen,
      ),
    ),
  ]
}

function statOf(path: string): Stats | null {
  return attempt(() => statSync(path), null)
}
