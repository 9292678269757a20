/** Reads git configuration the way git does, and takes back changes of keys that run code. Pure. */

import { posix } from 'node:path'
import { codeRunningGitKey } from '../../files/git-config-keys.ts'

/** One `name = value` of a file, with the span of text that holds it. */
export interface GitConfigEntry {
  /** `section.Sub.name`: section and name in lower case, the subsection as written. */
  readonly key: string
  readonly value: string
  readonly start: number
  readonly end: number
}

/** What became of a changed configuration file. */
export interface ConfigRepair {
  /** The text with every guarded key as it was before. */
  readonly text: string
  /** Guarded keys that had been added or given another value. */
  readonly reverted: readonly string[]
  /** Guarded keys that had been taken away. */
  readonly restored: readonly string[]
}

/** Says whether a key with this value must stay as it was. */
export type GuardedKey = (key: string, value: string) => boolean

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
 * Takes back what a run did to guarded keys: added or changed ones go, missing ones return, everything else stays.
 * Null when the new text cannot be read with certainty.
 */
export function repairGitConfig(before: string, after: string, guarded: GuardedKey): ConfigRepair | null {
  const now = parseGitConfig(after)
  if (now === null) return null
  const then = valuesByKey(parseGitConfig(before) ?? [], guarded)
  const current = valuesByKey(now, guarded)
  const changed = [...new Set([...then.keys(), ...current.keys()])].filter(
    (key) => !sameValues(then.get(key), current.get(key)),
  )
  if (changed.length === 0) return { text: after, reverted: [], restored: [] }
  const wrong = new Set(changed)
  let text = after
  for (const entry of [...now].reverse()) {
    if (wrong.has(entry.key) && guarded(entry.key, entry.value))
      text = text.slice(0, entry.start) + text.slice(entry.end)
  }
  for (const key of changed) {
    const values = then.get(key) ?? []
    if (values.length > 0) text = `${text.endsWith('\n') || text === '' ? text : `${text}\n`}${renderKey(key, values)}`
  }
  const repaired = parseGitConfig(text)
  if (repaired === null) return null
  const result = valuesByKey(repaired, guarded)
  const right = changed.every((key) => sameValues(then.get(key), result.get(key)))
  if (!right) return null
  return {
    text,
    reverted: changed.filter((key) => current.has(key)),
    restored: changed.filter((key) => !current.has(key)),
  }
}

/** Files that this configuration includes, whatever the condition; `folder` is where it stands. */
export function includedFiles(text: string, folder: string, home: string): readonly string[] {
  const entries = parseGitConfig(text) ?? []
  return entries
    .filter((entry) => /^include(if\..*)?\.path$/.test(entry.key) && entry.value !== '')
    .map((entry) => Buffer.from(entry.value, 'latin1').toString('utf8'))
    .map((path) => (path.startsWith('~/') ? home + path.slice(1) : posix.resolve(folder, path)))
}

/** The keys guarded in a repository below `roots`: those that run code, and a work tree that leads elsewhere. */
export function guardedKeys(gitDirectory: string, roots: readonly string[]): GuardedKey {
  return (key, value) => {
    if (key === 'core.worktree') {
      // Every submodule has one; it may point back into the tree.
      const target = posix.resolve(gitDirectory, value)
      return !roots.some((root) => target === root || target.startsWith(`${root}/`))
    }
    return codeRunningGitKey(key, value)
  }
}

function readHeader(text: string, start: number): { readonly section: string; readonly end: number } | null {
  const plain = /^\[([A-Za-z0-9.-]+)\]/.exec(text.slice(start, start + 1024))
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
    values.set(entry.key, [...(values.get(entry.key) ?? []), entry.value])
  }
  return values
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
