/** Files that a project's settings have a host put before its model: further names of memory files, instructions, and what stands for a file. */

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { isGlob, matchSegments } from '../../files/glob.ts'
import { errorCode } from '../../system/fault.ts'
import { isRecord } from '../../system/record.ts'
import { parseSettings } from '../../system/settings-json.ts'
import { filesBelow } from '../custom/walk.ts'
import { importedPath, type MemoryFile, type NamedMemory } from './memory-files.ts'

/** Where a host's settings say so; keys are `a.b`. */
export interface NamingSettings {
  /** In every folder from the project down to where the host stands. */
  readonly files: readonly string[]
  /** Texts that are names of memory files. */
  readonly names?: readonly string[]
  /** Texts that are files, or globs of files. */
  readonly paths?: readonly string[]
  /** Texts that are further folders with memory files. */
  readonly folders?: readonly string[]
  /** `$NAME` in a text is a variable. */
  readonly variables?: true
  /** The host's own folders in the home, where it looks for the names too. */
  readonly homes?: (home: string, env: Readonly<Record<string, string | undefined>>) => readonly string[]
  /** `{file:PATH}` in any text is the file. */
  readonly substitutes?: true
}

/** What they name: memory files by their names, and files as they are. */
export interface NamedFiles {
  readonly names: readonly NamedMemory[]
  readonly files: readonly MemoryFile[]
  readonly folders: readonly string[]
}

export const NOTHING: NamedFiles = { names: [], files: [], folders: [] }

const MAX_FOUND = 500

/** Everything that the settings in these folders name. Settings that cannot be understood may name anything, and say so. */
export async function namedFiles(
  folders: readonly string[],
  naming: NamingSettings,
  home: string,
): Promise<NamedFiles> {
  const found = await Promise.all(
    folders.flatMap((folder) =>
      naming.files.map(async (name): Promise<NamedFiles> => {
        const file = posix.join(folder, name)
        const text = textOf(file)
        if (text === null) return NOTHING
        let settings: unknown
        try {
          settings = await parsed(text, file)
        } catch {
          return unknown(file, 'cannot be understood')
        }
        const said = (keys: readonly string[] = []) => keys.flatMap((key) => textsAt(settings, key.split('.')))
        const [names, paths, inFolders] = [said(naming.names), said(naming.paths), said(naming.folders)]
        if (naming.variables && [...names, ...paths, ...inFolders].some((one) => one.includes('$')))
          return unknown(file, 'names files by variables')
        const inside = naming.substitutes ? [...text.matchAll(/\{file:([^}]+)\}/g)].map(([, path]) => path!.trim()) : []
        const starts = [...new Set([folder, posix.dirname(file), folders.at(-1)!])]
        return {
          names: names.map((name) => ({ name, from: file })),
          files: [...paths, ...inside].flatMap((given) =>
            starts.flatMap((start) => meant(given, posix.join(start, 'x'), file, home)),
          ),
          folders: inFolders.flatMap((given) =>
            starts.map((start) => importedPath(given, posix.join(start, 'x'), home)),
          ),
        }
      }),
    ),
  )
  return {
    names: found.flatMap(({ names }) => names),
    files: found.flatMap(({ files }) => files),
    folders: [...new Set(found.flatMap(({ folders }) => folders))],
  }
}

function unknown(file: string, unread: string): NamedFiles {
  return { ...NOTHING, files: [{ path: file, from: null, unread }] }
}

async function parsed(text: string, file: string): Promise<unknown> {
  if (!file.endsWith('.toml')) return parseSettings(text)
  const { parseToml } = await import('../import/toml.ts')
  return parseToml(text, file)
}

/** A name, or what a glob finds; a link that it finds is judged by where it leads. */
function meant(given: string, beside: string, from: string, home: string): readonly MemoryFile[] {
  if (/^\w+:\/\//.test(given)) return []
  const path = importedPath(given, beside, home)
  const file = (one: string): MemoryFile => ({ path: one, from, unread: null })
  if (!isGlob(path) && !/[{[!]/.test(path)) return [file(path)]
  const start = path.split(/[*?[\]{}!]/)[0]!
  const folder = start.slice(0, start.lastIndexOf('/')) || '/'
  const pattern = path.split('/')
  const isPlain = !/[[\]{}!()]/.test(path)
  const { found, isCut } = filesBelow(folder, (one) => !isPlain || matchSegments(pattern, one.split('/')))
  return isCut || found.length > MAX_FOUND
    ? [{ path: from, from: null, unread: `names more files than can be looked at (${given})` }]
    : found.map(file)
}

/** The texts at a key, alone or in a list; a step `*` is every key. */
function textsAt(value: unknown, [key, ...rest]: readonly string[]): readonly string[] {
  if (key === undefined) return [value].flat().filter((one) => typeof one === 'string')
  if (!isRecord(value)) return []
  if (key === '*') return Object.values(value).flatMap((one) => textsAt(one, rest))
  return Object.hasOwn(value, key) ? textsAt(value[key], rest) : []
}

/** What is there and cannot be read is no settings for the host either. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === null) throw error
    return null
  }
}
