/** Programs of a trusted project that a host runs on its own, outside every hook. */

import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseSettings, recordOf } from '../../../system/json.ts'
import type { Json } from '../host/host.ts'
import type { HostInstall, Read } from '../host/host-install.ts'
import type { InstallPlace } from '../host/install-place.ts'
import { isOwnText } from './host-settings.ts'

/** Each file with the part of it that runs something, except our own hooks. */
export async function broughtPrograms(host: HostInstall, place: InstallPlace, read: Read): Promise<readonly string[]> {
  const own = host.file({ ...place, scope: 'project' })
  const found = await Promise.all(
    Object.entries(host.brings ?? {}).map(async ([name, keys]) => {
      const path = join(place.root, name)
      const [before, after] = name.split('*')
      if (after !== undefined) {
        return namesIn(join(place.root, before!))
          .map((folder) => `${before}${folder}${after}`)
          .filter((file) => readText(join(place.root, file), read) !== null)
      }
      if (name.endsWith('/')) {
        return namesIn(path)
          .filter((file) => !isOwnText(readText(join(path, file), read) ?? ''))
          .map((file) => `${name}${file}`)
      }
      const text = readText(path, read)
      if (text === null) return []
      const settings = await settingsOf(text, name)
      if (settings === null) return [`${name} (which cannot be understood)`]
      const set = keys.filter((key) => hasKey(settings, key.split('.')) && !(path === own && key === 'hooks'))
      return set.length === 0 ? [] : [`${name} (${set.join(', ')})`]
    }),
  )
  return found.flat()
}

async function settingsOf(text: string, name: string): Promise<unknown> {
  try {
    if (/^\.env(?:\.|$)/.test(name)) return variablesOf(text)
    if (!name.endsWith('.toml')) return parseSettings(text)
    return (await import('../../../agents/import/toml.ts')).parseToml(text, name)
  } catch {
    return null
  }
}

function variablesOf(text: string): Json {
  const names = text.matchAll(/^\s*(?:export\s+)?([A-Za-z_]\w*)\s*[=:]/gm)
  return Object.fromEntries([...names].map(([, name]) => [name, true]))
}

function hasKey(value: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return value !== undefined && value !== null
  const table = recordOf(value)
  return Object.hasOwn(table, key) && hasKey(table[key], rest)
}

function readText(path: string, read: Read): string | null {
  try {
    return read(path)
  } catch {
    return null
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).sort()
  } catch {
    return []
  }
}
