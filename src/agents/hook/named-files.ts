/**
 * Files that project settings make a host send to its model: more memory file names and folders, instructions, and
 * file placeholders.
 */

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow } from '../../custom/walk.ts'
import { isGlob, matchSegments } from '../../files/glob.ts'
import { errorCode } from '../../system/fault.ts'
import { isRecord, parseSettings } from '../../system/json.ts'
import { importedPath, type MemoryFile, type NamedMemory } from './memory-files.ts'

/** Where a host's settings name files; keys are `a.b`. */
export interface NamingSettings {
  /** In every folder from the project down to the host's current one. */
  readonly files: readonly string[]
  readonly names?: readonly string[]
  readonly paths?: readonly string[]
  /** In any text, `{file:PATH}` is a file and `{env:NAME}` a variable, which the model only needs in these keys. */
  readonly substitutes?: { readonly variables: readonly string[] }
  /** Keys of more folders with memory files, if a switch is on, in the person's settings too; absent: always. */
  readonly folders?: { readonly keys: readonly string[]; readonly switches?: readonly string[] }
  /** `$NAME` in a text is a variable of the host, unknown here. */
  readonly variables?: true
  readonly own?: (home: string, env: Readonly<Record<string, string | undefined>>) => string
}

/** A folder whose memory files count, and the settings that name it. */
export interface NamedFolder {
  readonly path: string
  readonly from: string
}

/** The named memory files, folders of memory files, and plain files. */
export interface NamedFiles {
  readonly names: readonly NamedMemory[]
  readonly folders: readonly NamedFolder[]
  readonly files: readonly MemoryFile[]
}

export const NOTHING_NAMED: NamedFiles = { names: [], folders: [], files: [] }

const MAX_FOUND = 500

/**
 * Everything that settings in these folders name. Settings that cannot be parsed may name anything, and are reported.
 */
export async function namedFiles(
  folders: readonly string[],
  naming: NamingSettings,
  home: string,
  own: string | null,
): Promise<NamedFiles> {
  const isOnAlready = own !== null && (await isSwitchedOn(posix.join(own, 'settings.json'), naming))
  const found = await Promise.all(
    folders.flatMap((folder) =>
      naming.files.map((name) => namedIn(posix.join(folder, name), folder, folders, naming, home, isOnAlready)),
    ),
  )
  return {
    names: found.flatMap(({ names }) => names),
    folders: found.flatMap(({ folders }) => folders),
    files: found.flatMap(({ files }) => files),
  }
}

/** The names in one settings file, which belongs to `folder`. */
async function namedIn(
  file: string,
  folder: string,
  folders: readonly string[],
  naming: NamingSettings,
  home: string,
  isOnAlready: boolean,
): Promise<NamedFiles> {
  const text = textOf(file)
  if (text === null) return NOTHING_NAMED
  let settings: unknown
  try {
    settings = await parsed(text, file)
  } catch {
    return { ...NOTHING_NAMED, files: [{ path: file, from: null, unread: 'cannot be understood' }] }
  }
  const textsOf = (keys: readonly string[] = []): readonly string[] => keys.flatMap((key) => textsAt(settings, key))
  const names = textsOf(naming.names)
  const paths = textsOf(naming.paths)
  const added = isOnAlready || hasSwitch(settings, naming) ? textsOf(naming.folders?.keys) : []
  const inside = naming.substitutes ? [...text.matchAll(/\{file:([^}]+)\}/g)].map(([, path]) => path!.trim()) : []
  const starts = [...new Set([folder, posix.dirname(file), folders.at(-1)!])].map((start) => posix.join(start, 'x'))
  const hidden = [
    ...(naming.variables ? [...names, ...paths, ...added].filter((given) => given.includes('$')) : []),
    ...(naming.substitutes ? variablesOutside(settings, naming.substitutes.variables) : []),
  ]
  return {
    names: names.map((name) => ({ name, from: file })),
    folders: added.flatMap((given) =>
      starts.map((beside) => ({ path: importedPath(given, beside, home), from: file })),
    ),
    files: [
      ...[...paths, ...inside].flatMap((given) => starts.flatMap((beside) => meant(given, beside, file, home))),
      ...hidden.map((given) => ({ path: file, from: null, unread: `names something by a variable (${given})` })),
    ],
  }
}

/** `{env:NAME}` anywhere, names included, except in these keys. */
function variablesOutside(settings: unknown, keys: readonly string[]): readonly string[] {
  if (!isRecord(settings)) return []
  const rest = Object.entries(settings).filter(([key]) => !keys.includes(key))
  return [...new Set(JSON.stringify(rest).match(/\{env:[^}]*\}/g))]
}

function hasSwitch(settings: unknown, { folders }: NamingSettings): boolean {
  return folders?.switches?.some((key) => isOn(settings, key)) ?? true
}

/** Settings that cannot be parsed count as on. */
async function isSwitchedOn(file: string, naming: NamingSettings): Promise<boolean> {
  const text = textOf(file)
  try {
    return text !== null && hasSwitch(await parsed(text, file), naming)
  } catch {
    return true
  }
}

async function parsed(text: string, file: string): Promise<unknown> {
  if (!file.endsWith('.toml')) return parseSettings(text)
  const { parseToml } = await import('../settings/toml-text.ts')
  return parseToml(text, file)
}

/** A name, or a glob's matches; matched links are judged by their targets. */
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
    ? [{ path: from, from: null, unread: `names more files than can be checked (${given})` }]
    : found.map(file)
}

function textsAt(settings: unknown, key: string): readonly string[] {
  return valuesAt(settings, key.split('.'))
    .flat()
    .filter((one) => typeof one === 'string')
}

function isOn(settings: unknown, key: string): boolean {
  return valuesAt(settings, key.split('.')).some((value) => value !== false && value !== null)
}

/** The values at a key; a step `*` is every key. */
function valuesAt(value: unknown, [key, ...rest]: readonly string[]): readonly unknown[] {
  if (key === undefined) return [value]
  if (!isRecord(value)) return []
  if (key === '*') return Object.values(value).flatMap((one) => valuesAt(one, rest))
  return Object.hasOwn(value, key) ? valuesAt(value[key], rest) : []
}

/** A file that cannot be read has no settings for the host either. */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (errorCode(error) === null) throw error
    return null
  }
}
