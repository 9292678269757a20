/** Hosts that put files and outputs into a command's text before they ask a hook: what came of it is looked for in what is to be sent. */

import { readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { filesBelow } from '../custom/walk.ts'
import type { MemoryFile } from './memory-files.ts'
import { inlineCommands, mentionedPaths } from './mentions.ts'

const FOLDERS: readonly string[] = ['.gemini/commands', '.qwen/commands']
const MAX_BYTES = 1024 * 1024
/** Shorter ones stand in a prompt by chance. */
const MIN_LENGTH = 4

/** The files that a command of the project names, by `@{…}` or in the words of `!{…}`, and whose contents are in the text. */
export function sentFiles(root: string, sent: string): readonly MemoryFile[] {
  const commands = FOLDERS.flatMap(
    (folder) => filesBelow(posix.join(root, folder), (path) => /\.(?:toml|md)$/i.test(path)).found,
  )
  return commands.flatMap((from) => {
    const text = textOf(from) ?? ''
    const words = inlineCommands(text).flatMap((command) => command.split(/[\s;|&<>()'"]+/))
    const paths = new Set(
      [...mentionedPaths(text), ...words].filter(Boolean).map((given) => posix.resolve(root, given)),
    )
    return [...paths].filter((path) => isIn(path, sent)).map((path) => ({ path, from, unread: null }))
  })
}

function isIn(path: string, sent: string): boolean {
  const contents = textOf(path)?.trim() ?? ''
  return contents.length >= MIN_LENGTH && sent.includes(contents)
}

function textOf(path: string): string | null {
  try {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= MAX_BYTES ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}
