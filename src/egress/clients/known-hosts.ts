/**
 * Selects from the person's known_hosts the keys of hosts that a command may reach by ssh, under
 * those names only.
 */

import { createHmac } from 'node:crypto'
import { type HostPattern, matchesHost } from '../../hosts/pattern.ts'

const SSH_PORT = 22

/** A name of known_hosts: `host`, or `[host]:port` for another port than ssh's. */
interface KnownName {
  readonly host: string
  readonly port: number
}

/** The patterns for ssh: an explicit port that is not the web's. */
export function sshPatterns(patterns: readonly HostPattern[]): HostPattern[] {
  return patterns.filter(({ port }) => port !== null && port !== 80 && port !== 443)
}

/**
 * The lines of a known_hosts file for hosts of these patterns, each under the granted name alone.
 */
export function knownHostsFor(text: string, patterns: readonly HostPattern[]): string {
  const literal = patterns.filter(({ wildcard }) => !wildcard).map(({ host, port }) => ({ host, port: port! }))
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [, marker = '', names = '', key = ''] = /^\s*(@\S+\s+)?([^\s#@]\S*)\s+(\S.*?)\s*$/.exec(line) ?? []
    return namesIn(names, literal, patterns).map((name) => `${marker}${writeName(name)} ${key}\n`)
  })
  return [...new Set(lines)].join('')
}

function namesIn(field: string, literal: readonly KnownName[], patterns: readonly HostPattern[]): KnownName[] {
  if (field.startsWith('|')) return literal.filter((name) => isHashOf(field, name))
  const tokens = field.toLowerCase().split(',')
  const granted = literal.filter((name) => isListed(tokens, writeName(name)))
  const exact = tokens.map(readName).filter((name) => name !== null)
  const covered = exact.filter(
    (name) =>
      patterns.some((pattern) => matchesHost(pattern, name.host, name.port)) && isListed(tokens, writeName(name)),
  )
  return [...granted, ...covered]
}

/** Matches a list as ssh does: one pattern must match, and none with a `!`. */
function isListed(tokens: readonly string[], name: string): boolean {
  const matches = (glob: string) => {
    const source = glob
      .replace(/[\\^$.|+()[\]{}]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
    return new RegExp(`^${source}$`, 's').test(name)
  }
  const [negated, plain] = [tokens.filter((token) => token.startsWith('!')), tokens.filter((t) => !t.startsWith('!'))]
  return plain.some(matches) && !negated.some((token) => matches(token.slice(1)))
}

/** `|1|salt|hash`: HMAC-SHA1 of the name, so that the file does not reveal it. */
function isHashOf(field: string, name: KnownName): boolean {
  const [, scheme, salt, hash] = field.split('|')
  if (scheme !== '1' || !salt || !hash) return false
  return createHmac('sha1', Buffer.from(salt, 'base64')).update(writeName(name)).digest('base64') === hash
}

function readName(token: string): KnownName | null {
  if (/[*?!|]/.test(token)) return null
  const bracketed = /^\[(.+)\]:(\d{1,5})$/.exec(token)
  return bracketed ? { host: bracketed[1]!, port: Number(bracketed[2]) } : { host: token, port: SSH_PORT }
}

function writeName({ host, port }: KnownName): string {
  return port === SSH_PORT ? host : `[${host}]:${port}`
}
