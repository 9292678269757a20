/** Gemini CLI's settings: what disables its hooks, the .env that it would obey, and its trusted folders. */

import { dirname, join } from 'node:path'
import { withValue } from '../../../agents/settings/jsonc-text.ts'
import type { Reason } from '../../../policy/decision.ts'
import { parseSettings } from '../../../system/json.ts'
import { isObject, type Json } from '../host/host.ts'
import type { Read, SwitchedOff } from '../host/host-install.ts'
import { type FileChange, type InstallPlace, SettingsError } from '../host/install-place.ts'
import type { TrustEntry } from '../host/installed-trust.ts'

/** The setting by which Gemini CLI ignores a project's .env. */
export const LOCAL_ENV = { table: 'advanced', key: 'ignoreLocalEnv' } as const

/**
 * Gemini CLI loads the .env of a trusted project into its own environment and that of its children, including this
 * hook: LD_PRELOAD, NODE_OPTIONS, XDG_STATE_HOME. An agent may write such a file.
 */
export function withoutLocalEnv(text: string): string {
  const { table, key } = LOCAL_ENV
  const settings = parseSettings(text)
  const known = isObject(settings) ? (settings[table] ?? {}) : {}
  if (!isObject(known)) throw new SettingsError(`"${table}" is not an object`)
  return known[key] === true ? text : withValue(text, [table, key], true)
}

/** The file of Gemini CLI's trusted folders. */
export function trustedFoldersFile({ env, home }: Pick<InstallPlace, 'env' | 'home'>): string {
  return env.GEMINI_CLI_TRUSTED_FOLDERS_PATH ?? join(env.GEMINI_CLI_HOME ?? home, '.gemini/trustedFolders.json')
}

/** Gemini CLI loads a project's hooks only in a trusted folder. */
export function planTrust(place: InstallPlace, read: Read): FileChange {
  const path = trustedFoldersFile(place)
  const before = read(path)
  return { path, before, after: withValue(before, [place.root], 'TRUST_FOLDER') }
}

/** Changes besides the hooks: trusted folders, and the handling of .env files. */
export function rememberedOf(changes: readonly FileChange[], place: InstallPlace): readonly TrustEntry[] {
  const { root, scope } = place
  return changes.map(({ path, before: text }) => {
    const settings = parseSettings(text ?? '{}') as Json
    const own = { agent: 'gemini', scope, root, path } as const
    if (path === trustedFoldersFile(place)) {
      const before = typeof settings[root] === 'string' ? settings[root] : null
      return { ...own, table: null, key: root, before, after: 'TRUST_FOLDER' }
    }
    const { table, key } = LOCAL_ENV
    const before = JSON.stringify((settings[table] as Json | undefined)?.[key]) ?? null
    return { ...own, table, key, before, after: 'true' }
  })
}

/** Project hooks only load in a trusted folder. */
export function distrusted(place: InstallPlace, settings: (file: string) => Json): SwitchedOff | null {
  if (place.scope !== 'project' || place.env.GEMINI_CLI_TRUST_WORKSPACE === 'true') return null
  const folders = settings(trustedFoldersFile(place))
  let at = place.root
  if (folders[at] !== 'DO_NOT_TRUST') {
    for (;;) {
      if (folders[at] === 'TRUST_FOLDER') return null
      if (dirname(at) === at) break
      at = dirname(at)
    }
  }
  return {
    detail: `Gemini CLI does not trust ${place.root}, so it loads no hooks of it`,
    remedy: 'cordon install gemini --project writes the trust down.',
  }
}

/** Throws if no hook of these settings would run. */
export function checkGemini(settings: Json): void {
  const { hooksConfig = {} } = settings
  if (isObject(hooksConfig) && hooksConfig.enabled === false) {
    throw new SettingsError('"hooksConfig.enabled" is false, so no hook would run')
  }
}

/** Gemini CLI's command line, one word per line. */
const WORDS = 'CORDON_HOST_WORDS'

/** Prefix of the hook command for a person's words; Gemini CLI runs hooks in bash. */
export const TELLS_WORDS: string = `export ${WORDS}="$(tr '\\0' '\\n' 2>/dev/null </proc/$PPID/cmdline || ps -o args= -p $PPID)"; `

/** Why nothing may go to the model; null if no editor drives it. */
export function drivenByEditor(
  env: Readonly<Record<string, string | undefined>>,
): Pick<Reason, 'message' | 'remedy'> | null {
  const words = env[WORDS]
  if (words === undefined || !isForEditor(words)) return null
  return {
    message: 'An editor drives Gemini CLI here (--acp), and in that mode it calls no hook.',
    remedy:
      'Use Gemini CLI at a terminal, or have the editor start `cordon run -- gemini --acp`: that guards its commands and its network; the editor decides about files that it asks the editor for.',
  }
}

/** Without /proc the words are in one line. If unknown, assume an editor. */
function isForEditor(words: string): boolean {
  const list = words.split(words.includes('\n') ? '\n' : ' ')
  return words.trim() === '' || list.some((word) => /^--?(?:experimental-?)?acp(?:=|$)/i.test(word))
}
