/** A manifest as the text that is hashed and signed: without comments, order, places and unset defaults (M3). */

import type { Manifest, Setting } from '../schema/manifest.ts'
import { type Plain, plainValue } from '../toml/tree.ts'

/** Defaults of fields: writing one out changes nothing. */
const FIELD_DEFAULTS: Readonly<Record<string, Plain>> = { prompt: false, inherit_default_domains: true }

/** Sections that mean something even when they are empty. */
export const MEANT_BY_PRESENCE: RegExp =
  /^(?:capabilities\.allow\.(?:read|write|commands)$|packages$|agents\.|tools\.|mcp_servers\.)/

/**
 * Canonical JSON: keys sorted, lists as sorted sets. A default that was written out stays where it takes effect over the user's
 * layer, and is left out where a project can only make that one stricter; so do written empty sections, because they make calls ask. `default_files` is already in the paths.
 * Examples stay out: they grant nothing.
 */
export function canonicalManifest(manifest: Manifest): string {
  const settings: Record<string, Plain> = {}
  for (const path of [...manifest.settings.keys()].sort()) {
    if (path.endsWith('.default_files')) continue
    const setting = manifest.settings.get(path)!
    if (isHarmlessDefault(setting)) continue
    settings[path] = setting.closed ? { closed: true } : canonicalValue(plainValue(setting.value))
  }
  const declared = [...manifest.declared].filter((section) => MEANT_BY_PRESENCE.test(section)).sort()
  return JSON.stringify({ declared, settings })
}

function canonicalValue(value: Plain): Plain {
  if (Array.isArray(value)) {
    const items = value.map(canonicalValue).map((item) => ({ item, text: JSON.stringify(item) }))
    return items.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0)).map(({ item }) => item)
  }
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
    .filter(([name, field]) => name !== 'match' && name !== 'not_match' && FIELD_DEFAULTS[name] !== field)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, canonicalValue(field)]))
}

/** A default that was written out, of a key where a project can only be stricter than the user: it can open nothing. */
function isHarmlessDefault({ key, value, closed }: Setting): boolean {
  const one = typeof key.default === 'boolean' || typeof key.default === 'number' || typeof key.default === 'string'
  return one && !closed && key.strictness !== undefined && value === key.default
}
