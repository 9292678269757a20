/**
 * The variables that a command sees: an allowlist per platform, plus those of grants, tools and
 * bundles (O6).
 */

import { posix } from 'node:path'
import { matchSegment, words } from '../files/glob.ts'
import { foreignCharsets } from '../shell/read/unreadable-text.ts'

/** What decides about the environment of one command. */
export interface EnvironmentRequest {
  /** The environment of Cordon itself. */
  readonly parent: Readonly<Record<string, string | undefined>>
  readonly platform: 'linux' | 'darwin'
  /** `env_allowlist`; null for the platform's own. A `*` matches any characters. */
  readonly allowlist: readonly string[] | null
  /** Names that the grant, the tool or a bundle declares; they may be globs as well. */
  readonly declared: readonly string[]
  /** `[capabilities.deny.commands] env_vars`: they beat everything. */
  readonly denied: readonly string[]
  /** Variables that Cordon sets itself (proxy and trust settings, placeholders of secrets); they beat the parent. */
  readonly fixed: Readonly<Record<string, string>>
  /** Where the sandbox has its private temporary directory. */
  readonly temporary: string
  /** Canonical directories that the command may write: programs are looked up there last. */
  readonly writable: readonly string[]
}

/** What every command sees where the manifest writes no `env_allowlist`. */
export const defaultAllowlist: Readonly<Record<EnvironmentRequest['platform'], readonly string[]>> = {
  linux: words(`
      PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TERM TERMINFO COLORTERM NO_COLOR FORCE_COLOR
      CLICOLOR CLICOLOR_FORCE COLUMNS LINES TZ CI SOURCE_DATE_EPOCH`),
  darwin: words(`
      PATH HOME USER LOGNAME SHELL LANG LC_* TERM TERMINFO COLORTERM NO_COLOR FORCE_COLOR CLICOLOR
      CLICOLOR_FORCE COLUMNS LINES TZ CI SOURCE_DATE_EPOCH __CF_USER_TEXT_ENCODING DEVELOPER_DIR
      SDKROOT`),
}

/** Update checks of the tool, which a sandbox without network would block and report. */
const QUIET: Readonly<Record<string, string>> = { npm_config_update_notifier: 'false', NO_UPDATE_NOTIFIER: '1' }

/** Where programs are looked up when nothing usable is left of PATH. */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/**
 * Builds a command's environment. Only a declared name passes, and a broad glob never lets a variable through that looks
 * like a key or a token: such a one must be declared by its full name.
 */
export function commandEnvironment(request: EnvironmentRequest): Readonly<Record<string, string>> {
  const patterns = [...(request.allowlist ?? defaultAllowlist[request.platform]), ...request.declared]
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')))
  const globs = patterns.filter((pattern) => pattern.includes('*'))
  const variables: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.parent)) {
    if (value === undefined || !isName(name) || value.includes('\0')) continue
    const passes = exact.has(name) || (globs.some((glob) => matchSegment(glob, name)) && !looksSecret(name))
    if (passes) variables[name] = value
  }
  variables.PATH = usablePath(variables.PATH ?? SYSTEM_PATH, request.writable)
  // Where the manifest names one, no text with other characters than those of ASCII is understood.
  for (const name of foreignCharsets(request.parent)) {
    if (!request.allowlist?.includes(name) && !request.declared.includes(name)) delete variables[name]
  }
  // With TEXTDOMAIN bash looks `$"…"` up in a file that a command may write, and expands the
  // result.
  for (const name of ['TEXTDOMAIN', 'TEXTDOMAINDIR', 'TMPDIR', 'TMP', 'TEMP', 'TEMPDIR']) delete variables[name]
  variables.TMPDIR = request.temporary
  for (const [name, value] of Object.entries(QUIET)) variables[name] ??= value
  Object.assign(variables, request.fixed)
  for (const name of Object.keys(variables)) {
    // Without PATH every shell uses its own default, so denying it means the system's.
    if (name !== 'PATH' && request.denied.some((pattern) => matchSegment(pattern, name))) delete variables[name]
  }
  return variables
}

/** Whether a variable of this name usually contains a credential. */
export function looksSecret(name: string): boolean {
  return /(^|_)(API_?KEYS?|KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|AUTH|COOKIES?|PAT|DSN|PRIVATE|SIGNATURE|BEARER|SESSION|CONNECTION_STRING|DATABASE_URL|WEBHOOK(_URL)?)(_|$)|(APIKEY|TOKEN|SECRET|PASSWORD)$/i.test(
    name,
  )
}

/**
 * PATH without relative and empty entries, which mean the current directory. Directories that the
 * command may write come last: the project's programs are found, but a file from one command never
 * replaces `git` in the next.
 */
function usablePath(path: string, writable: readonly string[]): string {
  const system: string[] = []
  const deferred: string[] = []
  for (const entry of path.split(':')) {
    if (!posix.isAbsolute(entry)) continue
    const clean = posix.normalize(entry).replace(/(.)\/$/, '$1')
    const list = writable.some((root) => clean === root || clean.startsWith(`${root}/`)) ? deferred : system
    if (!list.includes(clean)) list.push(clean)
  }
  if (system.length === 0) system.push(...SYSTEM_PATH.split(':'))
  return [...system, ...deferred].join(':')
}

// Exported functions of bash (`BASH_FUNC_x%%`) run code in every shell; such names never pass.
function isName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
}
