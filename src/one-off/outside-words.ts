/** Words of a command that name hidden files: the likely cause of an ENOENT. */

import { posix } from 'node:path'
import type { Files } from '../system/files.ts'

export interface OutsideWord {
  /** As typed, with `~`. */
  readonly typed: string
  /** Canonical. */
  readonly path: string
  /** The links that were named, which are opened by their own names. */
  readonly links: readonly string[]
}

export interface WordPlaces {
  readonly cwd: string
  readonly home: string
  readonly files: Pick<Files, 'canonical' | 'exists' | 'isLink'>
  /** Whether the command sees a canonical path. */
  readonly isShown: (path: string) => boolean
}

/** More words than this are data. */
const MOST_WORDS = 200
const MOST_FOUND = 5

/** The first few, each once. */
export function outsideWords(command: readonly string[], places: WordPlaces): readonly OutsideWord[] {
  const found = new Map<string, OutsideWord>()
  for (const word of spokenWords(command).slice(0, MOST_WORDS)) {
    if (found.size === MOST_FOUND) break
    for (const given of [word, word.slice(word.indexOf('=') + 1)]) {
      const named = pathOf(given, places)
      const path = named === null ? null : places.files.canonical(named)
      if (named === null || path === null || found.has(path) || !places.files.exists(path) || places.isShown(path))
        continue
      const links = ownLink(named, places.files)
      found.set(path, { typed: withTilde(links[0] ?? path, places.home), path, links })
      break
    }
  }
  return [...found.values()]
}

/** A path below the home directory with `~`. */
export function withTilde(path: string, home: string): string {
  return path === home ? '~' : path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}

/** The words of a command, including those of a text for a shell. */
export function spokenWords(command: readonly string[]): readonly string[] {
  const text = shellText(command)
  return text === null ? command : [...command.slice(0, 1), ...text.split(/[\s;|&<>()"'`]+/).filter(Boolean)]
}

/** The text for a shell; null if the command is not a shell with one. */
export function shellText(command: readonly string[]): string | null {
  if (!/^(?:ba|da|z|k|mk|a|fi)?sh$/.test(posix.basename(command[0] ?? ''))) return null
  const option = command.findIndex((word, at) => at > 0 && /^-[a-z]*c[a-z]*$/.test(word))
  return option < 0 ? null : (command.slice(option + 1).find((word) => word !== '--') ?? null)
}

function pathOf(given: string, { cwd, home }: WordPlaces): string | null {
  const isPath = /^(?:~\/|\/|\.\.?\/)|\//.test(given) || given === '..' || given === '~'
  if (!isPath || given.includes('://') || given.includes('\0') || given.length > 1024) return null
  if (/^\/(?:dev|proc|sys)(?:\/|$)/.test(given)) return null
  return given === '~' || given.startsWith('~/') ? home + given.slice(1) : posix.resolve(cwd, given)
}

/** The path of a link itself, by its real folder. */
export function ownLink(path: string, files: Pick<Files, 'canonical' | 'isLink'>): readonly string[] {
  const own = posix.join(files.canonical(posix.dirname(path)), posix.basename(path))
  return files.isLink(own) ? [own] : []
}
