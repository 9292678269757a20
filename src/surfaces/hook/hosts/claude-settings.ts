/** Claude Code's settings: errors that make it ignore a file with all hooks, and its own denials beside ours. */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { hasPath, withItem, withoutItems, withoutValue, withValue } from '../../../agents/settings/jsonc-text.ts'
import { parseSettings } from '../../../system/json.ts'
import { offBy } from '../host/forms.ts'
import { isObject, type Json } from '../host/host.ts'
import type { SwitchedOff } from '../host/host-install.ts'
import { SettingsError } from '../host/install-place.ts'
import { CLAUDE_DENIALS } from './claude-rules.ts'
import { NO_INLINE } from './claude-skill-shell.ts'

type Kind = 'string' | 'number' | 'boolean' | 'object' | 'texts'

/** Keys whose wrong type makes version 2.1.325 silently ignore the file, hooks included. */
const TYPES: Readonly<Record<string, Kind>> = {
  model: 'string',
  apiKeyHelper: 'string',
  outputStyle: 'string',
  language: 'string',
  plansDirectory: 'string',
  awsAuthRefresh: 'string',
  cleanupPeriodDays: 'number',
  includeCoAuthoredBy: 'boolean',
  enableAllProjectMcpServers: 'boolean',
  spinnerTipsEnabled: 'boolean',
  alwaysThinkingEnabled: 'boolean',
  respectGitignore: 'boolean',
  skipWebFetchPreflight: 'boolean',
  disableSkillShellExecution: 'boolean',
  statusLine: 'object',
  sandbox: 'object',
  attribution: 'object',
  fileSuggestion: 'object',
  enabledPlugins: 'object',
  permissions: 'object',
  companyAnnouncements: 'texts',
}

const NAMES: Readonly<Record<Kind, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  texts: 'a list of texts',
}

/** Why Claude Code would not run the hooks of these settings, or null. */
export function whyDropped(settings: Json): string | null {
  if (settings.disableAllHooks === true) return '"disableAllHooks" is true, so no hook would run'
  for (const [key, kind] of Object.entries(TYPES)) {
    const value = settings[key]
    if (value !== undefined && !isA(kind, value))
      return `"${key}" is not ${NAMES[kind]}, so Claude Code drops its hooks`
  }
  const permissions = isObject(settings.permissions) ? settings.permissions : {}
  for (const name of ['allow', 'deny', 'ask', 'additionalDirectories']) {
    if (!isA('texts', permissions[name] ?? []))
      return `"permissions.${name}" is not a list of texts, so Claude Code drops its hooks`
  }
  const { env = {} } = settings
  if (!isObject(env) || Object.values(env).some((value) => typeof value !== 'string'))
    return '"env" is not an object of texts, so Claude Code drops its hooks'
  return whyMalformed(settings.hooks ?? {})
}

export function checkClaude(settings: Json): void {
  const why = whyDropped(settings)
  if (why !== null) throw new SettingsError(why)
}

function isA(kind: Kind, value: unknown): boolean {
  if (kind === 'object') return isObject(value)
  if (kind === 'texts') return Array.isArray(value) && value.every((entry) => typeof entry === 'string')
  return typeof value === kind
}

/** One malformed hook disables every hook of the file. */
function whyMalformed(hooks: unknown): string | null {
  if (!isObject(hooks)) return '"hooks" is not an object'
  for (const [event, rows] of Object.entries(hooks)) {
    if (!Array.isArray(rows)) return `"hooks.${event}" is not a list`
    for (const row of rows as unknown[]) {
      const matcher = isObject(row) ? (row.matcher ?? '') : null
      const list = isObject(row) ? row.hooks : null
      if (
        typeof matcher !== 'string' ||
        !Array.isArray(list) ||
        !list.every((hook) => isObject(hook) && typeof hook.type === 'string')
      )
        return `"hooks.${event}" contains a hook that is not {"matcher": …, "hooks": [{"type": …}]}, so Claude Code drops all of them`
    }
  }
  return null
}

/** Adds Claude Code's own denials for what it expands itself, and sandbox exemptions; existing rules stay. */
export function withDenials(text: string, install: boolean, original: string | null, wrapper: string): string {
  const lists: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['permissions', 'deny'], CLAUDE_DENIALS],
    [['sandbox', 'excludedCommands'], [`${wrapper}:*`]],
  ]
  const settings = parseSettings(text === '' ? '{}' : text) as Json
  if (install) {
    const listed = lists.reduce(
      (known, [path, items]) =>
        items
          .filter((item) => !textsAt(settings, path).includes(item))
          .reduce((edited, item) => withItem(edited, path, item), known),
      text,
    )
    return settings[NO_INLINE] === true ? listed : withValue(listed, [NO_INLINE], true)
  }
  const before = original === null ? {} : (parseSettings(original) as Json)
  const stays = (path: readonly string[]): boolean => hasPath(original, path)
  const unlisted = lists.reduce((known, [path, items]) => {
    const theirs = textsAt(before, path)
    return withoutItems(known, path, (item) => items.includes(String(item)) && !theirs.includes(item), stays)
  }, text)
  if (hasPath(original, [NO_INLINE])) {
    return before[NO_INLINE] === true ? unlisted : withValue(unlisted, [NO_INLINE], before[NO_INLINE])
  }
  return withoutValue(unlisted, [NO_INLINE], stays)
}

function textsAt(settings: Json, [table = '', key = '']: readonly string[]): readonly unknown[] {
  const inner = settings[table]
  const list = isObject(inner) ? inner[key] : null
  return Array.isArray(list) ? list : []
}

/** What disables our hook (in `own`) in any of its settings. */
export function claudeHooksOff(
  files: readonly string[],
  own: string,
  settings: (file: string) => Json,
): SwitchedOff | null {
  const managed = managedSettings()
  for (const path of [...files, ...managed]) {
    const said = settings(path)
    if (said.disableAllHooks === true) return offBy(path, '"disableAllHooks": true')
    const why = path === own ? whyDropped(said) : null
    if (why !== null) return { detail: `${path}: ${why}`, remedy: 'Correct that, then run cordon doctor again.' }
    if (!managed.includes(path)) continue
    if (said.allowManagedHooksOnly === true) return offBy(path, '"allowManagedHooksOnly": true')
    const { strictPluginOnlyCustomization: strict } = said
    if (strict === true || (Array.isArray(strict) && strict.includes('hooks')))
      return offBy(path, '"strictPluginOnlyCustomization" of hooks')
  }
  return null
}

/** Managed settings that an administrator set for all users. */
function managedSettings(): readonly string[] {
  const folder = '/etc/claude-code'
  const parts = join(folder, 'managed-settings.d')
  const more = existsSync(parts) ? readdirSync(parts).filter((name) => name.endsWith('.json')) : []
  return [join(folder, 'managed-settings.json'), ...more.map((name) => join(parts, name))]
}
