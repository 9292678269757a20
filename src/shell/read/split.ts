/**
 * A text taken apart into commands that come to the same when each runs in its own shell: known directories, no pipe
 * between them, nothing that one shell would remember for the next. Pure.
 */

import type { Command, CommandNode, PipelineNode, Statement } from 'unbash'
import { parseText } from './parse.ts'

/** One part, and when it runs: after the one before it succeeded, failed, or either way. */
export interface TextPart {
  readonly text: string
  readonly start: number
  readonly end: number
  readonly when: 'always' | 'success' | 'failure'
  /** A `cd`: once it succeeded, what follows runs there. */
  readonly moves: boolean
}

/** Commands that change the shell they run in, or read its history. */
const STATEFUL: ReadonlySet<string> = new Set(
  [
    'alias bg bind builtin caller command compgen complete compopt coproc declare dirs disown enable eval exec exit export fc fg getopts',
    'hash help history jobs let local logout mapfile popd pushd read readarray readonly return set shift shopt source suspend times trap',
    'typeset ulimit umask unalias unset wait',
  ].flatMap((line) => line.split(' ')),
)
/** `$?`, `$!`, `$_`, `$$` and what bash counts or remembers. */
const REMEMBERED =
  /\$(?:[?!_$#@*0-9-]|\{[?!_$#@*0-9-]|\{?(?:BASH|DIRSTACK|EPOCH|FUNCNAME|HIST|LINENO|OLDPWD|OPT|PIPESTATUS|PPID|RANDOM|REPLY|SECONDS|SHLVL|SRANDOM))/
/** Private places of one sandbox: the next part does not see what one part wrote there. */
const PRIVATE = /(?:^|[\s"'=:<>(])(?:~|\/tmp|\/var\/tmp|\/dev\/shm|\$\{?(?:HOME|TMPDIR|XDG_))|\bmktemp\b/

/** The parts, or null where running them one by one might not come to the same. */
export function splitText(source: string): readonly TextPart[] | null {
  const parsed = parseText(source)
  if ('code' in parsed || REMEMBERED.test(source) || PRIVATE.test(source) || source.includes('<<')) return null
  const parts: TextPart[] = []
  for (const statement of parsed.script.commands) {
    const listed = listOf(statement)
    if (listed === null) return null
    for (const { node, when } of listed) {
      const moved = directoryOf(node)
      if (moved === null) return null
      const { pos: start, end } = node
      parts.push({ text: source.slice(start, end), start, end, when, moves: moved === 'moves' })
    }
  }
  return parts.length > 1 ? parts : null
}

interface ListedPart {
  readonly node: PipelineNode
  readonly when: TextPart['when']
}

function listOf({ command, background }: Statement): ListedPart[] | null {
  if (background) return null
  if (command.type !== 'AndOr') return [{ node: command, when: 'always' }]
  return command.commands.map((node, at) => ({
    node,
    when: at === 0 ? 'always' : command.operators[at - 1] === '&&' ? 'success' : 'failure',
  }))
}

/** Whether a part leaves its shell as it was, or only in another directory; null when it may do more. */
function directoryOf(node: PipelineNode): 'stays' | 'moves' | null {
  if (node.type === 'Pipeline') return node.prefixes.length === 0 && node.commands.every(isOrdinary) ? 'stays' : null
  if (isDirectoryChange(node)) return 'moves'
  return isOrdinary(node) ? 'stays' : null
}

function isOrdinary(node: CommandNode): boolean {
  const name = node.type === 'Command' ? nameOf(node) : null
  return name !== null && name !== 'cd' && !STATEFUL.has(name) && name !== '.'
}

function isDirectoryChange(node: PipelineNode): boolean {
  if (node.type !== 'Command' || nameOf(node) !== 'cd') return false
  const words = node.args.map((word) => ('text' in word ? word.text : '-'))
  return (
    words.length === 1 && /^[\w./@+-]+$/.test(words[0]!) && !words[0]!.startsWith('-') && node.redirects.length === 0
  )
}

/** A plain name; an assignment before a command belongs to that command alone. */
function nameOf(node: Command): string | null {
  const text = node.name?.text
  return text !== undefined && /^[\w./@+-]+$/.test(text) ? text : null
}
