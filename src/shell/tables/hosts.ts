/** Recognises the hosts that words name: URLs, `user@host:path`, bare host names where the table expects one. */

const url = /^([a-z][a-z0-9+.-]*):\/\/[^/]/i
const scp = /^(?:[^@/\s:]+@)?(\[[^\]]+\]|[A-Za-z0-9_][A-Za-z0-9._-]*):(?!\/\/)/

/** True for `https://host/…` and its relatives, which name a machine; `file:` does not. */
export function isUrl(text: string): boolean {
  return url.test(text) && !/^file:/i.test(text)
}

/** True for `host:path`, the way ssh, scp, rsync and git write a remote file. */
export function isRemotePath(text: string): boolean {
  if (text.startsWith('/') || text.startsWith('.')) return false
  return scp.test(text) || text.includes('::')
}

/** `user@host:path` as a URL, so that its host can be judged like any other; other texts as they are. */
export function asUrl(text: string): string {
  const match = /^((?:[^@/\s:]+@)?(?:\[[^\]]+\]|[A-Za-z0-9_][A-Za-z0-9._-]*)):(?!\/\/|\d+(?:\/|$))(.*)$/s.exec(text)
  return match === null ? text : `ssh://${match[1]}/${(match[2] ?? '').replace(/^\/+/, '')}`
}

/**
 * The part of an address that is certain although its end is not: `http://localhost:` for `http://localhost:$PORT/x`. What follows an
 * unknown part is unknown, too: `https://bot:$T@evil.example/` and `http://a:$(id)/` name no host. `text` is the word as written.
 */
export function certainHost(prefix: string, text: string): string | null {
  const match = /^([a-z][a-z0-9+.-]*:\/\/)?([A-Za-z0-9.-]+|\[[0-9a-fA-F:.]+\])(?=[/:?#])/i.exec(prefix)
  if (match === null) return null
  if (prefix[match[0].length] !== ':') return match[0]
  const port = /^:\d*\$\{?\w+\}?(?:[/?#].*)?$/s
  return port.test(text.slice(text.indexOf(match[0]) + match[0].length)) ? match[0] : null
}

/** Git transports that run a command line or take a descriptor: `ext::sh -c id`, `fd::7`. */
export function isCommandTransport(text: string): boolean {
  return /^[A-Za-z0-9+.-]+::/.test(text) && !/^https?::/.test(text)
}
