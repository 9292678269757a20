/** Merges an agent's settings files, keeping every denial. */

import { isRecord, recordOf } from '../../system/json.ts'
import type { Settings } from './rules.ts'

/** Lists that add up over files; for other values the nearest file wins. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [
    'permissions.allow',
    'permissions.ask',
    'permissions.deny',
    'permissions.additionalDirectories',
    'sandbox.excludedCommands',
    'sandbox.filesystem.denyRead',
    'sandbox.filesystem.denyWrite',
    'sandbox.network.allowedDomains',
    'sandbox.network.deniedDomains',
  ],
  gemini: ['excludeTools', 'tools.exclude'],
}

/** Merges settings, nearest first. */
export function mergeSettings(agent: string, files: readonly Settings[]): Settings {
  const added = new Set(ADDED[agent] ?? [])
  return files.toReversed().reduce((far, near) => merged(far, near, added, ''), {})
}

function merged(far: Settings, near: Settings, added: ReadonlySet<string>, path: string): Settings {
  const result: Record<string, unknown> = { ...far }
  for (const [name, value] of Object.entries(near)) {
    const place = path === '' ? name : `${path}.${name}`
    const known = result[name]
    if (added.has(place)) result[name] = both(known, value)
    else if (isRecord(known) && isRecord(value)) result[name] = merged(recordOf(known), recordOf(value), added, place)
    else result[name] = value
  }
  return result
}

/** A value that is not a list stays, for the importer to note. */
function both(far: unknown, near: unknown): unknown {
  if (far === undefined) return near
  return Array.isArray(far) && Array.isArray(near) ? [...far, ...near] : [far, near].flat()
}
