/** Reads git configuration the way git does, and undoes changes of keys that run code. Pure. */

import { posix } from 'node:path'
import { type GitKeyFacts, gitAddressHost, isGrantedHost, isHarmlessGitKey } from '../../files/git-keys.ts'

/** One `name = value` of a file, with its span of text. */
export interface GitConfigEntry {
  /** `section.Sub.name`: section and name in lower case, the subsection as written. */
  readonly key: string
  readonly value: string
  readonly start: number
  readonly end: number
}

/** What became of a changed configuration file. */
interface ConfigRepair {
  /** The text with every guarded key as it was before. */
  readonly text: string
  /** Guarded keys that had been added or given another value. */
  readonly reverted: readonly string[]
  /** Guarded keys that had been taken away. */
  readonly restored: readonly string[]
}

/** Says whether a key with this value must stay as it was. */
type GuardedKey = (key: string, value: string) => boolean

/** The same, for a file that contained these entries before. */
export type GuardedIn = (before: readonly GitConfigEntry[]) => GuardedKey

/**
 * Parses a configuration file, given as one character a byte (latin1) so that nothing is lost in between; null when git
 * would refuse it, or when this reader is not certain.
 */
export function parseGitConfig(text: string): readonly GitConfigEntry[] | null {
  if (text.includes('\0')) return null
  const entries: GitConfigEntry[] = []
  let section = ''
  let at = text.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0
  while (at < text.length) {
    const char = text[at]!
    if (isSpace(char)) at++
    else if (char === '#' || char === ';') at = endOfLine(text, at)
    else if (char === '[') {
      const header = readHeader(text, at)
      if (header === null) return null
      section = header.section
      at = header.end
    } else {
      const entry = readEntry(text, at, section)
      if (entry === null) return null
      entries.push(entry)
      at = entry.end
    }
  }
  return entries
}

/**
 * Undoes a run's changes of guarded keys: added or changed ones go, missing ones return, everything
 * else stays. Null if the new text cannot be read with certainty.
 */
export function repairGitConfig(before: string, after: string, guardedIn: GuardedIn): ConfigRepair | null {
  const now = parseGitConfig(after)
  if (now === null) return null
  const old = parseGitConfig(before) ?? []
  const guarded = guardedIn(old)
  const then = valuesByKey(old, guarded)
  const current = valuesByKey(now, guarded)
  const sections = new Set(now.map((entry) => sectionOf(entry.key)))
  const changed = new Set<string>()
  for (const key of [...then.keys(), ...current.keys()]) {
    // `git remote remove` and similar commands delete the whole section.
    const isGone = !current.has(key) && LEAVES_WHOLE.test(key) && !sections.has(sectionOf(key))
    if (!isGone && !sameValues(then.get(key), current.get(key))) changed.add(key)
  }
  if (changed.size === 0) return { text: after, reverted: [], restored: [] }
  const pieces: string[] = []
  let from = 0
  for (const entry of now) {
    if (!changed.has(entry.key) || !guarded(entry.key, entry.value)) continue
    pieces.push(after.slice(from, entry.start))
    from = entry.end
  }
  pieces.push(after.slice(from))
  const kept = pieces.join('')
  const returned = [...changed].flatMap((key) => (then.has(key) ? [renderKey(key, then.get(key)!)] : []))
  const text = [kept, kept === '' || kept.endsWith('\n') || returned.length === 0 ? '' : '\n', ...returned].join('')
  const repaired = parseGitConfig(text)
  if (repaired === null) return null
  const result = valuesByKey(repaired, guarded)
  for (const key of changed) if (!sameValues(then.get(key), result.get(key))) return null
  return {
    text,
    reverted: [...changed].filter((key) => current.has(key)),
    restored: [...changed].filter((key) => !current.has(key)),
  }
}

/** Sections that ordinary work removes as a whole. */
const LEAVES_WHOLE = /^(remote|branch|submodule)\./

/** Files that this configuration includes, whatever the condition; `folder` is its own folder. */
export function includedFiles(text: string, folder: string, home: string): readonly string[] {
  return pathsOf(text, /^include(if\..*)?\.path$/, folder, home).map((path) => posix.normalize(path))
}

/** What `core.worktree` of a configuration says, from its git directory on and as it is written: `/p/.git/../out`. */
export function workingTrees(text: string, gitDirectory: string): readonly string[] {
  return pathsOf(text, /^core\.worktree$/, gitDirectory, '~')
}

/** The folders that `core.hooksPath` names for a working tree: git runs the programs in them. */
export function hookFolders(text: string, worktree: string, home: string): readonly string[] {
  return pathsOf(text, /^core\.hookspath$/, worktree, home).map((path) =>
    posix.normalize(path).replace(/(?<=.)\/$/, ''),
  )
}

/** The paths that are the values of some keys, from a folder on; git knows the home in all but `core.worktree`. */
function pathsOf(text: string, keys: RegExp, folder: string, home: string): readonly string[] {
  if (!/include|worktree|hookspath/i.test(text)) return []
  return (parseGitConfig(text) ?? [])
    .filter(({ key, value }) => keys.test(key) && value !== '')
    .map(({ value }) => Buffer.from(value, 'latin1').toString('utf8'))
    .map((path) => (home !== '~' && path.startsWith('~/') ? home + path.slice(1) : path))
    .map((path) => (path.startsWith('/') ? path : `${folder}/${path}`))
}

/**
 * Whether a path inside the roots resolves without a link on the way. Only a path of hooks may
 * begin with `..`: after a name it means another folder as soon as that name is a link.
 */
export function staysInside(
  path: string,
  roots: readonly string[],
  realPath: (path: string) => string | null,
): boolean {
  const target = posix.normalize(path).replace(/(?<=.)\/$/, '')
  return realPath(path) === target && roots.some((root) => target === root || target.startsWith(`${root}/`))
}

/**
 * The guarded keys of a repository below `roots`: all but the harmless ones. A host is known if a
 * person granted it or the configuration named it before. `realPath` resolves a path, or is null:
 * behind a link is not in the tree.
 */
export function guardedKeys(
  gitDirectory: string,
  roots: readonly string[],
  hosts: readonly string[],
  realPath: (path: string) => string | null,
): GuardedIn {
  return (before) => {
    const known = new Set<string>()
    for (const { key, value } of before) {
      const host = /^(remote|submodule)\./.test(key) && key.endsWith('.url') ? gitAddressHost(value) : null
      if (host) known.add(host)
    }
    const facts: GitKeyFacts = {
      isKnownHost: (host) => known.has(host) || isGrantedHost(hosts, host),
      // Every submodule has one; it may point back into the tree.
      isOwnFolder: (value) => {
        const path = Buffer.from(value, 'latin1').toString('utf8')
        if (/[^./]\/+\.\.(\/|$)/.test(path)) return false
        return staysInside(path.startsWith('/') ? path : `${gitDirectory}/${path}`, roots, realPath)
      },
    }
    return (key, value) => !isHarmlessGitKey(key, value, facts)
  }
}

function readHeader(text: string, start: number): { readonly section: string; readonly end: number } | null {
  const plain = /^\[([A-Za-z0-9.-]{1,1000})\]/.exec(text.slice(start, start + 1024))
  if (plain) return { section: plain[1]!.toLowerCase(), end: start + plain[0].length }
  const quoted = /^\[([A-Za-z0-9.-]+)[ \t]+"((?:[^"\\\n]|\\[^\n])*)"\]/.exec(text.slice(start, start + 65_536))
  if (!quoted) return null
  const subsection = quoted[2]!.replace(/\\(.)/g, '$1')
  return { section: `${quoted[1]!.toLowerCase()}.${subsection}`, end: start + quoted[0].length }
}

function readEntry(text: string, start: number, section: string): GitConfigEntry | null {
  const name = /^[A-Za-z][A-Za-z0-9-]*/.exec(text.slice(start, start + 1024))?.[0]
  if (name === undefined) return null
  // Git takes a name before the first section as a key without one.
  const key = section === '' ? name.toLowerCase() : `${section}.${name.toLowerCase()}`
  let at = start + name.length
  while (text[at] === ' ' || text[at] === '\t') at++
  if (text[at] === '\r' && (text[at + 1] === '\n' || at + 1 === text.length)) at++
  if (at >= text.length || text[at] === '\n') return { key, value: 'true', start, end: Math.min(at + 1, text.length) }
  if (text[at] === '#' || text[at] === ';') return { key, value: 'true', start, end: endOfLine(text, at) }
  if (text[at] !== '=') return null
  const read = readValue(text, at + 1)
  return read === null ? null : { key, value: read.value, start, end: read.end }
}

function readValue(text: string, start: number): { readonly value: string; readonly end: number } | null {
  let value = ''
  let kept = 0
  let quoted = false
  let at = start
  for (; at < text.length; at++) {
    let char = text[at]!
    if (char === '\r' && text[at + 1] === '\n') char = text[++at]!
    if (char === '\n') {
      if (quoted) return null
      return { value: value.slice(0, kept), end: at + 1 }
    }
    if (!quoted && (char === '#' || char === ';')) {
      return { value: value.slice(0, kept), end: endOfLine(text, at) }
    }
    if (char === '"') {
      quoted = !quoted
      kept = Math.max(kept, value.length)
    } else if (char === '\\') {
      let next = text[++at]
      if (next === '\r' && text[at + 1] === '\n') next = text[++at]
      // Git keeps the blanks before it, also at the end of the value.
      kept = value.length
      if (next === '\n') continue
      const escaped = next === undefined ? undefined : ESCAPES[next]
      if (escaped === undefined) return null
      value += escaped
      kept = value.length
    } else if (!quoted && isSpace(char)) {
      if (value !== '') value += char
    } else {
      value += char
      kept = value.length
    }
  }
  return quoted ? null : { value: value.slice(0, kept), end: at }
}

// Git knows these four and no other; a no-break space is part of a value.
function isSpace(char: string): boolean {
  return char === ' ' || char === '\t' || char === '\n' || char === '\r'
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '"': '"', '\\': '\\' }

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end + 1
}

function valuesByKey(entries: readonly GitConfigEntry[], guarded: GuardedKey): Map<string, string[]> {
  const values = new Map<string, string[]>()
  for (const entry of entries) {
    if (!guarded(entry.key, entry.value)) continue
    const list = values.get(entry.key)
    if (list) list.push(entry.value)
    else values.set(entry.key, [entry.value])
  }
  return values
}

function sectionOf(key: string): string {
  return key.slice(0, key.lastIndexOf('.'))
}

function sameValues(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index])
}

function renderKey(key: string, values: readonly string[]): string {
  const first = key.indexOf('.')
  const last = key.lastIndexOf('.')
  const section = key.slice(0, first)
  const subsection = first === last ? '' : ` "${key.slice(first + 1, last).replace(/["\\]/g, '\\$&')}"`
  const lines = values.map((value) => `\t${key.slice(last + 1)} = ${renderValue(value)}\n`)
  return `[${section}${subsection}]\n${lines.join('')}`
}

function renderValue(value: string): string {
  const escaped = value.replace(/["\\]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t').replaceAll('\b', '\\b')
  return `"${escaped}"`
}
