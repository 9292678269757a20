/** Hosts that put files and outputs into a command's text before they ask a hook: what is to be sent is held against the text of every such command. */

import { readFileSync, statSync } from 'node:fs'
import { posix } from 'node:path'
import { inlineCommandFiles } from '../../custom/inline-commands.ts'
import { filesBelow, inlineCommands, MAX_ENTRIES, mentionedPaths } from '../../custom/walk.ts'
import { recordOf } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import type { MemoryFile } from './memory-files.ts'

const FOLDERS: readonly string[] = ['.gemini/commands', '.qwen/commands']
const MAX_BYTES = 1024 * 1024

/**
 * What came into the text with the commands of the project that it may have been made of: the files that they name, by `@{…}` or in
 * the words of `!{…}`, and whatever they ran that no one approved.
 */
export async function sentFiles(root: string, sent: string, machine: Machine): Promise<readonly MemoryFile[]> {
  const walks = FOLDERS.map((folder) => posix.join(root, folder)).map((folder) => ({
    folder,
    ...filesBelow(folder, (path) => /\.(?:toml|md)$/i.test(path)),
  }))
  const cut = walks
    .filter(({ isCut }) => isCut)
    .map(({ folder }) => unread(folder, `contains more than ${MAX_ENTRIES} files, or folders nested too deep`))
  const paths = walks.flatMap(({ found }) => found)
  const files = await Promise.all(paths.map((path) => sentWith(path, root, sent, machine)))
  return [...cut, ...files.flat()]
}

async function sentWith(from: string, root: string, sent: string, machine: Machine): Promise<readonly MemoryFile[]> {
  const text = textOf(from)
  if (text === null) return [unread(from, 'is too large, or cannot be read')]
  const commands = inlineCommands(text)
  const words = commands.flatMap((command) => command.split(/[\s;|&<>()'"]+/))
  const named = [...mentionedPaths(text), ...words].filter(Boolean).map((given) => posix.resolve(root, given))
  const files = [...new Set(named)].filter(isFile).map((path) => ({ path, from, unread: null }))
  if (files.length === 0 && commands.length === 0) return []
  const template = await templateOf(text, from)
  if (template === null) return [unread(from, 'cannot be understood')]
  if (!isMadeOf(sent, template)) return []
  const inline = commands.length === 0 ? [] : inlineCommandFiles(root, machine, [root])
  const unapproved = inline.filter(({ path, status }) => path === from && status !== 'ok')
  return [
    ...files,
    ...unapproved.map(({ own, commands: [first] }) =>
      unread(from, `runs commands that are not approved (${first}; cordon skills approve ${own})`),
    ),
  ]
}

function unread(path: string, why: string): MemoryFile {
  return { path, from: null, unread: why }
}

/** What the host fills in and sends; null where that cannot be known. */
async function templateOf(text: string, file: string): Promise<string | null> {
  if (!/\.toml$/i.test(file)) return text.replace(/^\ufeff?---[^\n]*\n[\s\S]*?\n---[^\n]*(?:\n|$)/, '')
  try {
    const { parseToml } = await import('../import/toml.ts')
    const { prompt } = recordOf(parseToml(text, file))
    return typeof prompt === 'string' ? prompt : null
  } catch {
    return null
  }
}

/** Whether a text has what is between the places of a template that are filled in, in that order. One without any may be every text. */
function isMadeOf(sent: string, template: string): boolean {
  const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()
  const whole = plain(sent)
  let at = 0
  for (const piece of piecesOf(template).map(plain).filter(Boolean)) {
    const found = whole.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return true
}

/** What is between `@{…}`, `!{…}`, `{{…}}` and !`…`; braces inside count. */
function piecesOf(template: string): readonly string[] {
  const pieces: string[] = []
  let from = 0
  for (let at = 0; at < template.length; at++) {
    const opened = /^(?:[@!]\{|\{\{|!`)/.exec(template.slice(at, at + 2))?.[0]
    if (opened === undefined) continue
    pieces.push(template.slice(from, at))
    from = opened === '!`' ? closed(template, at + 2, '`') : closingBrace(template, at)
    at = from - 1
  }
  return [...pieces, template.slice(from)]
}

function closed(text: string, from: number, mark: string): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

/** Behind the brace that closes the first one. */
function closingBrace(text: string, from: number): number {
  let depth = 0
  for (let at = text.indexOf('{', from); at < text.length; at++) {
    if (text[at] === '{') depth++
    if (text[at] === '}' && --depth === 0) return at + 1
  }
  return text.length
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile()
  } catch {
    return false
  }
}

function textOf(path: string): string | null {
  try {
    const facts = statSync(path)
    return facts.isFile() && facts.size <= MAX_BYTES ? readFileSync(path, 'utf8') : null
  } catch {
    return null
  }
}
