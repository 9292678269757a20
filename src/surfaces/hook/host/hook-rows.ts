/** Edits hooks as rows of a host's JSON settings, leaving others' rows unchanged to the byte. */

import { hasPath, withItem, withoutItems, withValue } from '../../../agents/settings/jsonc-text.ts'
import { parseSettings } from '../../../system/json.ts'
import { isHookCommand } from './hook-command.ts'
import { isObject, type Json } from './host.ts'
import { SettingsError } from './install-place.ts'

export interface Row {
  readonly path: readonly string[]
  readonly item: unknown
}

export interface RowSettings {
  readonly paths: readonly (readonly string[])[]
  readonly comments: boolean
  readonly check?: (settings: Json) => void
}

/**
 * Appends our rows to their lists, without older ones of ours; other rows stay unchanged to the byte. Ours are last
 * because hosts apply the last of two rewrites, and because Codex identifies trusted hooks by position.
 */
export function editRows(
  text: string | null,
  rows: readonly Row[] | null,
  original: string | null,
  { paths, comments, check }: RowSettings,
): string {
  const settings = text === null || text.trim() === '' ? {} : comments ? parseSettings(text) : strictJson(text)
  if (!isObject(settings)) throw new SettingsError('it is not a JSON object')
  if (rows !== null) check?.(settings)
  const hooks = settings.hooks ?? {}
  if (!isObject(hooks)) throw new SettingsError('"hooks" is not an object')
  const listAt = ([, event = '']: readonly string[]): readonly unknown[] => {
    const known = hooks[event] ?? []
    if (!Array.isArray(known)) throw new SettingsError(`"hooks.${event}" is not a list`)
    return known
  }
  const lists = paths.map(listAt)
  const isThere = ({ path, item }: Row): boolean => {
    const list = listAt(path)
    return JSON.stringify(list.at(-1)) === JSON.stringify(item) && list.filter(isOurs).length === 1
  }
  if (rows?.every(isThere)) return text!
  if (rows === null && !lists.flat().some(holdsOurs)) return text!
  const stays = (path: readonly string[]): boolean => (rows !== null ? true : hasPath(original, path))
  const without = paths.reduce(
    (known, path) => withoutItems(splitMixed(known, path), path, isOurs, stays),
    text ?? '{}\n',
  )
  return (rows ?? []).reduce((known, { path, item }) => withItem(known, path, item), without)
}

function strictJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SettingsError(`it is not plain JSON (${error instanceof Error ? error.message : error})`)
  }
}

function isOurs(row: unknown): boolean {
  if (!isObject(row)) return false
  const own = (command: unknown): boolean => isHookCommand(command)
  if (own(row.command)) return true
  return (
    Array.isArray(row.hooks) && row.hooks.length > 0 && row.hooks.every((hook) => isObject(hook) && own(hook.command))
  )
}

function holdsOurs(row: unknown): boolean {
  if (isOurs(row)) return true
  return (
    isObject(row) && Array.isArray(row.hooks) && row.hooks.some((hook) => isObject(hook) && isHookCommand(hook.command))
  )
}

function splitMixed(text: string, path: readonly string[]): string {
  const settings = parseSettings(text)
  const [, event = ''] = path
  const hooks = isObject(settings) && isObject(settings.hooks) ? settings.hooks : {}
  const list = hooks[event]
  if (!Array.isArray(list) || !list.some((row) => holdsOurs(row) && !isOurs(row))) return text
  const theirs = list.map((row: unknown) =>
    holdsOurs(row) && !isOurs(row) && isObject(row) && Array.isArray(row.hooks)
      ? { ...row, hooks: row.hooks.filter((hook) => !(isObject(hook) && isHookCommand(hook.command))) }
      : row,
  )
  return withValue(text, path, theirs)
}
