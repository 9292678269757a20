/** Lists files below a folder as agents find them, following links to folders. */

import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../system/fault.ts'

export const MAX_ENTRIES = 40_000
const MAX_DEPTH = 12

/** Incomplete if there was more than is checked. */
export interface Walk {
  readonly found: readonly string[]
  readonly isCut: boolean
}

/** The wanted files below a folder, by linked names. A link to a parent is not followed again. */
export function filesBelow(folder: string, isWanted: (path: string, folder: string) => boolean): Walk {
  const found: string[] = []
  let left = MAX_ENTRIES
  let isCut = false
  const visit = (place: string, above: readonly string[]): void => {
    const real = realPath(place)
    if (real === null || above.includes(real)) return
    if (above.length > MAX_DEPTH) {
      isCut = true
      return
    }
    for (const entry of entriesOf(place)) {
      if (--left < 0) {
        isCut = true
        return
      }
      const path = join(place, entry.name)
      if (isFolder(entry, path)) visit(path, [...above, real])
      else if (isWanted(path, folder)) found.push(path)
    }
  }
  visit(folder, [])
  return { found, isCut }
}

/** Folders with these names in a tree. Links are skipped: their targets are found themselves. */
export function foldersNamed(root: string, names: ReadonlySet<string>): Walk {
  const found: string[] = []
  const pending = [root]
  let left = MAX_ENTRIES
  for (const place of pending) {
    for (const entry of entriesOf(place)) {
      if (--left < 0) return { found, isCut: true }
      const path = join(place, entry.name)
      // Agents ignore case if the file system does.
      if (names.has(entry.name.toLowerCase())) found.push(path)
      if (entry.isDirectory() && entry.name !== '.git') pending.push(path)
    }
  }
  return { found, isCut: false }
}

function isFolder(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory()
  return attempt(() => statSync(path).isDirectory(), false)
}

function entriesOf(folder: string): readonly Dirent[] {
  return attempt(
    () => readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1)),
    [],
  )
}

function realPath(path: string): string | null {
  return attempt(() => realpathSync.native(path), null)
}

/** Every reading of every mention, since hosts end a name at different characters. */
export function mentionedPaths(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [, quoted, plain] of text.matchAll(/(?<!\w)@(?:"([^"\n]+)"|'?((?:\\ |[^\s])+))/g)) {
    for (const form of quoted === undefined ? readings(plain!) : [quoted]) found.add(form)
  }
  return [...found]
}

function readings(written: string): readonly string[] {
  const name = written.replaceAll('\\ ', ' ')
  // `@a.txt#L3`, `@a.txt:3`, `(@a.txt)`, `@a.txt, @b.txt`, `@{a.txt}`: what a host may leave out.
  const bare = name.replace(/^\{(.*?)\}.*$/s, '$1')
  const cuts = [name, bare, bare.replace(/#.*$/, ''), bare.replace(/[:#]L?\d+(?:-L?\d+)?$/, '')]
  const trimmed = cuts.map((form) => form.replace(/[\s)\]}>"'`.,;:!?*]+$/, ''))
  const split = bare.split(/[,`"')\]}>]/)[0]!
  return [...new Set([...cuts, ...trimmed, split])].filter((form) => form !== '')
}

/** Commands in a skill or command file that a host runs before its model reads the text: !`cmd`, a block ```! and `!{cmd}`. */
export function inlineCommands(text: string): readonly string[] {
  const found = [
    ...[...text.matchAll(/!`([^`]+)`/g)].map(([, command]) => command!),
    ...[...text.matchAll(/^[^\S\n]*(?:```+|~~~+)!\s*\n([\s\S]*?)^[^\S\n]*(?:```|~~~)/gm)].map(([, block]) => block!),
    ...[...text.matchAll(/!\{([\s\S]*?)\}/g)].map(([, command]) => command!),
  ]
  return found.map((command) => command.trim()).filter((command) => command !== '')
}
