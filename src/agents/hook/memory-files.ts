/** The memory files that a host puts before its model by itself, and what they import. */

import { readFileSync, type Stats, statSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow, MAX_ENTRIES, mentionedPaths } from '../../custom/walk.ts'
import { errorCode } from '../../system/fault.ts'

/** Which files those are in a host. */
export interface MemoryNames {
  /** Names that it reads in every folder from the project down; one that ends in `/` is a folder, and every text below it counts. */
  readonly memory: readonly string[]
  /** It puts files that they mention with `@` instead of the mention. */
  readonly imports: boolean
  /** Folders of texts that go to the model as they are, when something calls them: skills, commands, agents, styles. */
  readonly texts?: readonly string[]
}

/** A file that a host reads by itself. */
export interface MemoryFile {
  readonly path: string
  /** The file that names it; null for a memory file by its own name. */
  readonly from: string | null
  /** Why no one can say what it imports; null when that is known. */
  readonly unread: string | null
  /** It lies where its person keeps such files: that this is outside the project is nothing against it. */
  readonly isPersons?: true
}

/** A further name of memory files, and the settings that say so. */
export interface NamedMemory {
  readonly name: string
  readonly from: string | null
}

/** Hosts stop earlier. */
const MAX_DEPTH = 8
const MAX_FILES = 1000
const MAX_BYTES = 4 * 1024 * 1024

/** Every memory file in these folders, and every file that they import, as far as they are there. */
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

/** The texts below a folder, by the names that links give them. */
function textsBelow(folder: string, isWanted: (path: string, place: string) => boolean): readonly MemoryFile[] {
  const { found, isCut } = filesBelow(folder.slice(0, -1), isWanted)
  const cut = {
    path: folder,
    from: null,
    unread: `contains more than ${MAX_ENTRIES} files, or folders nested too deep`,
  }
  return [...(isCut ? [cut] : []), ...found.map((path) => ({ path, from: null, unread: null }))]
}

/** Where an import of a file leads. */
export function importedPath(given: string, file: string, home: string): string {
  if (given === '~' || given.startsWith('~/')) return home + given.slice(1)
  return posix.resolve(posix.dirname(file), given)
}

function isText(path: string): boolean {
  return /\.(?:md|mdc|txt)$/i.test(path)
}

/** Of a skill's folder only the skill itself, not what it refers to. */
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

/** A link is followed, as the host does; what cannot be a file's name is none. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}
