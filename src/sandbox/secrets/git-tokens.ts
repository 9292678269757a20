/**
 * Credentials in git's configuration: passwords in remote URLs, headers of CI systems, tokens of
 * helpers. Commands need the rest of that file, so they see placeholders, which the proxy replaces
 * with the value (N7).
 */

import { readFileSync, statSync } from 'node:fs'
import { attempt } from '../../system/fault.ts'
import { type GitConfigEntry, parseGitConfig } from '../protect/git-config.ts'

/** A credential that commands see as a placeholder. */
export interface GitToken {
  readonly placeholder: string
  readonly value: string
  /** Where it may be put in, `host:port`; null where git itself would send it anywhere, or not by HTTPS. */
  readonly host: string | null
}

interface MaskedConfig {
  readonly text: string
  readonly tokens: readonly GitToken[]
}

/** A bigger configuration of git is not shown. */
export const MOST_CONFIG = 1_048_576
/** Signs of a credential in a file; most have none. */
const HINT = /:\/\/[^\s/]*@|extraheader|pass|token|secret/i
const SECRET_KEY = /(?:password|passwd|smtppass|token|secret|cookie)$/
/** Scheme, user, password and host of an address. The password ends at the last `@` before the path. */
const ADDRESS =
  /\b([a-z][a-z0-9+.-]*):\/\/([^\s"'\\/?#:@]*)(?::([^\s"\\/?#]*))?@([^\s"'\\/?#@:]+|\[[0-9a-f:.]+\])(?::(\d+))?/gi
/** A user alone is a name, unless it looks like a token. */
const TOKEN_USER = /^(?=.*\d)[^.]{16,}$/
const HEADER = /^[^:]+:\s*(?:(?:basic|bearer|token)\s+)?(\S.*?)\s*$/i
const HELPER = /password=([^\s;"'\\]+)/

/** One placeholder for each credential as long as this process lives; the values are in the files anyway. */
const placeholders = new Map<string, string>()

/** The configuration (one character a byte) without its credentials; null if it has none. */
export function maskGitTokens(text: string): MaskedConfig | null {
  if (!HINT.test(text)) return null
  const tokens = new Map<string, GitToken>()
  const hide = (written: string, host: string | null): string => {
    const value = decoded(written)
    const name = `${host}\n${value}`
    const placeholder = placeholders.get(name) ?? makePlaceholder()
    placeholders.set(name, placeholder)
    tokens.set(placeholder, { placeholder, value, host })
    return placeholder
  }
  const withoutUrls = text.replace(ADDRESS, (whole, scheme: string, user: string, password, host: string, port) => {
    const isToken = password === undefined && TOKEN_USER.test(user)
    if (!isToken && !password) return whole
    const at = `${host}:${port ?? (scheme.toLowerCase() === 'https' ? 443 : 80)}`
    const placeholder = hide(isToken ? user : password, /^https?$/i.test(scheme) ? at.toLowerCase() : null)
    const info = isToken ? placeholder : `${user}:${placeholder}`
    return `${scheme}://${info}@${host}${port === undefined ? '' : `:${port}`}`
  })
  const entries = parseGitConfig(withoutUrls)
  // Git itself refuses such a file.
  if (entries === null) return tokens.size === 0 ? null : { text: '', tokens: [] }
  let result = ''
  let from = 0
  for (const entry of entries) {
    const secret = secretOf(entry)
    const split = splitAddress(entry.value)
    if (secret === null && !split) continue
    const raw = withoutUrls.slice(entry.start, entry.end)
    // A value that is written with escapes inside is left out as a whole.
    const masked =
      secret !== null && raw.includes(secret) ? raw.replaceAll(secret, hide(secret, headerHost(entry))) : ''
    result += withoutUrls.slice(from, entry.start) + (split ? '' : masked)
    from = entry.end
  }
  result += withoutUrls.slice(from)
  return result === text ? null : { text: result, tokens: [...tokens.values()] }
}

/** Whether commands see a configuration as it is. */
export function holdsNoToken(path: string): boolean {
  return statSync(path).size <= MOST_CONFIG && maskGitTokens(readFileSync(path, 'latin1')) === null
}

/** What of a value is secret that is not in an address. */
function secretOf({ key: name, value }: GitConfigEntry): string | null {
  if (value.trim() === '' || value.startsWith('cordon_git_')) return null
  if (name.endsWith('.extraheader')) return HEADER.exec(value)?.[1] ?? value
  if (name.endsWith('.helper')) return HELPER.exec(value)?.[1] ?? null
  return SECRET_KEY.test(name) ? value : null
}

/** A URL whose password is visible only after escapes and continued lines are read. */
function splitAddress(value: string): boolean {
  return [...value.matchAll(ADDRESS)].some(([, , user = '', password]) =>
    password ? !password.startsWith('cordon_git_') : TOKEN_USER.test(user) && !user.startsWith('cordon_git_'),
  )
}

/** The host of `http.https://HOST/.extraheader`. */
function headerHost({ key: name }: GitConfigEntry): string | null {
  const [, host, port = '443'] =
    /^http\.https:\/\/(?:[^/]*@)?([^/:]+)(?::(\d+))?(?:\/.*)?\.extraheader$/i.exec(name) ?? []
  return host === undefined ? null : `${host.toLowerCase()}:${port}`
}

/** Without node:crypto, which a hook would have to load. */
function makePlaceholder(): string {
  return `cordon_git_${Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')}`
}

function decoded(text: string): string {
  return attempt(() => decodeURIComponent(text), text)
}
