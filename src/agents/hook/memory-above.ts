/** Memory files above a project: those of the repository that it is a folder of, and what a project's settings name in its person's folders. */

import { existsSync, realpathSync } from 'node:fs'
import { posix } from 'node:path'
import { type MemoryFile, type MemoryNames, memoryFiles, type NamedMemory } from './memory-files.ts'

/** From the one that a folder is in up to the root of the file system. */
export function foldersAbove(folder: string): readonly string[] {
  const above = posix.dirname(folder)
  return above === folder ? [] : [above, ...foldersAbove(above)]
}

/** Those of the repository around the project; what stays in the repository is outside the project by its person's choice. */
export function memoryAbove(root: string, names: MemoryNames, home: string): readonly MemoryFile[] {
  const above = foldersAbove(root)
  const top = above.findLastIndex((folder) => existsSync(posix.join(folder, '.git')))
  if (top === -1) return []
  return memoryFiles(above.slice(0, top + 1), names, home).map((file) =>
    isBelow(file.path, above[top]!) ? { ...file, isPersons: true } : file,
  )
}

/** What names in a project's settings come to in these folders. A memory file by a usual name is its person's there, whatever it is. */
export function namedAbove(
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

/** With links followed. */
function isBelow(path: string, folder: string): boolean {
  try {
    return realpathSync(path).startsWith(posix.join(realpathSync(folder), '/'))
  } catch {
    return false
  }
}
