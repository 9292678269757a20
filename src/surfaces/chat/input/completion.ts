/** Tab completion: slash commands with their words, and files after an @. */

import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { attempt } from '../../../system/fault.ts'
import type { Completer, Completion } from './composer.ts'

export interface CompletedCommand {
  readonly name: string
  readonly words?: () => readonly string[]
}

const MAX_CHOICES = 200
/** Rarely meant in a project. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', 'node_modules'])

export function chatCompleter(root: string, commands: readonly CompletedCommand[]): Completer {
  return (text, cursor) => {
    const before = text.slice(0, cursor)
    return commandAt(before, commands) ?? fileAt(before, root)
  }
}

function commandAt(before: string, commands: readonly CompletedCommand[]): Completion | null {
  const name = /^\/(\S*)$/.exec(before)
  if (name) {
    const choices = commands.map((command) => `/${command.name}`).filter((one) => one.startsWith(before))
    return { start: 0, choices: choices.length === 1 ? [`${choices[0]} `] : choices }
  }
  const word = /^\/(\S+)\s+(?:\S+\s+)*(\S*)$/.exec(before)
  const words = word && commands.find((command) => command.name === word[1])?.words?.()
  if (!word || !words) return null
  return { start: before.length - word[2]!.length, choices: words.filter((one) => one.startsWith(word[2]!)) }
}

function fileAt(before: string, root: string): Completion | null {
  const found = /(?:^|\s)@(\S*)$/.exec(before)
  if (!found) return null
  const typed = found[1]!
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1)
  const start = before.length - typed.length
  // Only names in the project: Tab must not reveal others.
  const directory = posix.resolve(root, folder)
  if (directory !== root && !directory.startsWith(`${root}/`)) return null
  const last = typed.slice(folder.length)
  const names = namesIn(directory, last).map((name) => folder + name)
  return { start, choices: names.length > 0 || typed.includes('/') ? names : filesNamed(root, typed) }
}

const MAX_SEARCHED = 20_000
const MAX_FOUND = 20

/** Files anywhere in the project whose name contains the text, the shortest path first. Links are not followed. */
function filesNamed(root: string, text: string): string[] {
  const wanted = text.toLowerCase()
  const found: string[] = []
  const folders = ['']
  for (let at = 0, seen = 0; at < folders.length && seen < MAX_SEARCHED; at++) {
    for (const name of namesIn(posix.join(root, folders[at]!), '')) {
      seen++
      if (name.endsWith('/')) folders.push(folders[at]! + name)
      else if (name.toLowerCase().includes(wanted)) found.push(folders[at]! + name)
    }
  }
  return found.sort((a, b) => a.length - b.length || (a < b ? -1 : 1)).slice(0, MAX_FOUND)
}

function namesIn(directory: string, prefix: string): string[] {
  return attempt(
    () =>
      readdirSync(directory, { withFileTypes: true })
        .filter(({ name }) => name.startsWith(prefix) && !SKIPPED.has(name) && (prefix !== '' || !name.startsWith('.')))
        .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name))
        .filter((name) => !/\s|\p{Cc}/u.test(name))
        .sort()
        .slice(0, MAX_CHOICES),
    [],
  )
}
