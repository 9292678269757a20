/** Turns words that name files into lexically resolved paths, and knows URLs. */

import { posix } from 'node:path'

/** A path as written, and where it points. */
interface ResolvedPath {
  readonly path: string | null
  readonly written: 'absolute' | 'relative' | 'home'
}

/** Resolves a word at the tracked directory, without looking at the disk. */
export function resolvePath(text: string, cwd: string | null, home: string): ResolvedPath {
  if (text === '~' || text.startsWith('~/')) return { path: clean(home + text.slice(1)), written: 'home' }
  if (text.startsWith('~')) return { path: null, written: 'home' }
  if (text.startsWith('/')) return { path: processLink.exec(text)?.[0] ?? clean(text), written: 'absolute' }
  return { path: cwd === null ? null : clean(`${cwd}/${text}`), written: 'relative' }
}

/** `/proc/self/cwd/..` is above the directory of a process: the climb cannot be followed by its text. */
const processLink = /^\/+proc\/+[^/]+\/+(?:root|cwd|fd)(?=\/)(?=.*\/\.\.(?:\/|$))/

function clean(path: string): string {
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal.replace(/^\/\//, '/')
}

const scheme = /^[a-z][a-z0-9+.-]*:\/\//i
const secretShape =
  /^\.|\.(pem|key|seed|pfx|p12|jks|keystore)$|^id_(rsa|dsa|ecdsa|ed25519)|_(rsa|ed25519)$|^(credentials|shadow)$/

/** True for words that name a file by their shape, whatever the program is. */
export function looksLikePath(text: string): boolean {
  if (text === '' || text === '-' || scheme.test(text) || text.includes('\n')) return false
  if (/^(\/|~\/|~$|\.\/|\.\.\/|\.\.$)/.test(text)) return true
  if (/\s/.test(text)) return false
  if (text.includes('/')) return true
  return secretShape.test(text)
}

/** Whether a word certainly names a separate place: absolute, in the home, or climbing. */
export function isRooted(text: string): boolean {
  return /^(\/|~\/|~$|\.\/|\.\.\/|\.\.$)/.test(text) && !text.includes('\n')
}

/** `:!path`, `:(exclude)path` of git: excluded paths are not touched. One that climbs is a file. */
export function isLeftOut(text: string): boolean {
  return /^:(?:\((?:[^),]*,)*exclude(?:,[^)]*)?\)|\/?[!^])/.test(text) && !/(?:^|\/)\.\.(?:\/|$)/.test(text)
}

/** The parts of a word that may be paths: `a:b` mounts, `key=value`, `@file`. */
export function pathParts(text: string): readonly string[] {
  if (scheme.test(text)) return /^fileb?:\/\//.test(text) ? [text.replace(/^fileb?:\/\//, '')] : []
  const assigned = /^-{0,2}[A-Za-z_][\w.-]*=(.*)$/s.exec(text)
  if (assigned !== null) return pathParts(assigned[1] ?? '').filter((part) => isRooted(part) || secretShape.test(part))
  if (text.startsWith('@') && isRooted(text.slice(1))) return [text.slice(1)]
  if (text.includes(':') && isRooted(text)) return text.split(':').filter(isRooted)
  const prefixed = /^[A-Za-z][\w-]*:((?:\/(?!\/)|~\/|\.\.\/).*)$/s.exec(text)
  if (prefixed !== null) return [prefixed[1] ?? '']
  return looksLikePath(text) ? [text] : []
}

/** Devices that every program may write: nothing comes of it. */
export function isSink(text: string): boolean {
  return /^(-|\/dev\/(null|stdout|stderr|tty|fd\/\d+))$/.test(text)
}

/** Recognises the hosts that words name: URLs, `user@host:path`, bare host names where the table expects one. */
const url = /^([a-z][a-z0-9+.-]*):\/\/[^/]/i
const scp = /^(?:[^@/\s:]+@)?(\[[^\]]+\]|[A-Za-z0-9_][A-Za-z0-9._-]*):(?!\/\/)/

/** Whether a word is a URL of a machine, such as `https://host/…`; `file:` is not. */
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
