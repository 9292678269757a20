/** Applies a host's own rules to the original command, since the host only sees the wrapped one. They only restrict. */

import { dirname, join } from 'node:path'
import type { OwnDenials } from '../../../agents/hook/judge.ts'
import { type CommandWord, denialsOf, unreadable } from '../../../agents/import/command-words.ts'
import { pathDenialsOf } from '../../../agents/import/path-words.ts'
import type { Files } from '../../../system/files.ts'
import { parseSettings } from '../../../system/json.ts'
import type { Machine } from '../../../system/machine.ts'
import type { OwnRules, RulePlace, RuleSource } from './host.ts'

/** Where a call comes from. */
export interface OwnRulesPlace {
  readonly machine: Pick<Machine, 'home' | 'env'>
  readonly files: Pick<Files, 'exists' | 'list' | 'readText'>
  readonly root: string
  readonly cwd: string
  readonly commandLines: RulePlace['commandLines']
}

/** Denials and asks of a host's settings about commands, and about files if it applies those to commands. */
export async function denialsOfHost(ownRules: OwnRules, place: OwnRulesPlace): Promise<OwnDenials | null> {
  const { machine, files, root, cwd } = place
  let lines: ReturnType<RulePlace['commandLines']> | null = null
  const commandLines = () => {
    lines ??= place.commandLines()
    return lines
  }
  const { home, env } = machine
  const at: RulePlace = { home, env, folders: foldersOf(root, cwd, files), commandLines }
  const found = ownRules.sources(at).flatMap((source) => textsOf(source, files))
  if (found.length === 0) return null
  const read = await ownRules.reader()
  const denials = await Promise.all(
    found.map(async ({ from, text }) => {
      const words = (await wordsOf(text, from, read)).filter(({ said }) => !ownRules.ours?.has(said))
      // `.claude/settings.json` belongs to the folder that contains `.claude`.
      const folders = [root, cwd, ...(from.startsWith('/') ? [dirname(dirname(from))] : [])]
      const { reads, writes, unread } = pathDenialsOf(words, from, { home, folders: [...new Set(folders)] })
      return { reads, writes, commands: denialsOf([...words, ...unread], from, ownRules.lastWins ?? false) }
    }),
  )
  return {
    reads: denials.flatMap(({ reads }) => reads),
    writes: denials.flatMap(({ writes }) => writes),
    commands: denials.flatMap(({ commands }) => commands),
  }
}

interface RuleText {
  readonly from: string
  readonly text: string | null
}

function textsOf(source: RuleSource, files: OwnRulesPlace['files']): readonly RuleText[] {
  if ('text' in source) return [source]
  const paths =
    'file' in source
      ? [source.file]
      : files.list(source.folder).flatMap((name) => (name.endsWith(source.ending) ? [join(source.folder, name)] : []))
  return paths.filter(files.exists).map((path) => {
    try {
      return { from: path, text: files.readText(path) }
    } catch {
      return { from: path, text: null }
    }
  })
}

async function wordsOf(
  text: string | null,
  from: string,
  read: Awaited<ReturnType<OwnRules['reader']>>,
): Promise<readonly CommandWord[]> {
  if (text === null) return [unreadable('it')]
  if (/\.(?:rules|md)$/.test(from)) return read(text)
  // Empty files have no rules.
  if (text.trim() === '') return []
  try {
    if (!from.endsWith('.toml')) return read(parseSettings(text))
    const { parseToml } = await import('../../../agents/settings/toml-text.ts')
    return read(parseToml(text, from))
  } catch {
    return [unreadable('it')]
  }
}

/**
 * Project folders that may contain the host's settings: from the call's folder up to the repository, and the host's
 * start folder.
 */
function foldersOf(root: string, cwd: string, files: OwnRulesPlace['files']): readonly string[] {
  const above = [cwd]
  while (!files.exists(join(above.at(-1)!, '.git')) && above.at(-1) !== '/') above.push(dirname(above.at(-1)!))
  const end = above.at(-1) === '/' ? above.indexOf(root) + 1 || 1 : above.length
  return [...new Set([...above.slice(0, end), root])]
}
