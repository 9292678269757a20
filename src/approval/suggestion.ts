/** What a saved grant would be: the narrowest that covers what was asked, then broader ones, never broader than needed. */

import { posix } from 'node:path'
import type { Decision, PartDecision } from '../policy/decision.ts'
import type { CommandFact, ShellFacts } from '../shell/facts.ts'

/** Something that can be granted, as the manifest would write it. */
export interface Suggestion {
  readonly kind: 'command' | 'read' | 'write' | 'host' | 'directory'
  readonly value: string
  /** What it would also admit, for the prompt. */
  readonly admits: string
}

/** Programs whose first word says nothing: at least this many words are part of a pattern. */
const MINIMUM_WORDS: Readonly<Record<string, number>> = {
  git: 2,
  gh: 3,
  glab: 3,
  npm: 2,
  pnpm: 2,
  yarn: 2,
  bun: 2,
  npx: 2,
  bunx: 2,
  cargo: 2,
  go: 2,
  pip: 2,
  uv: 2,
  poetry: 2,
  docker: 2,
  podman: 2,
  kubectl: 2,
  helm: 2,
  terraform: 2,
  aws: 3,
  gcloud: 3,
  az: 3,
  make: 2,
  just: 2,
  mise: 3,
  dotnet: 2,
}

/** Subcommands that run whatever the next word names, so that one more word is part of the pattern. */
const RUNNERS: ReadonlySet<string> = new Set([
  'npm run',
  'pnpm run',
  'yarn run',
  'bun run',
  'pnpm exec',
  'npm exec',
  'cargo run',
  'go run',
  'uv run',
  'poetry run',
])

/** What is never left open: the next words decide everything. */
const EXACT_ONLY: ReadonlySet<string> = new Set(
  'rm mv cp chmod chown dd ln tee curl wget ssh scp rsync find xargs sed awk tar kill pkill killall psql mysql sqlite3 redis-cli mongosh'.split(
    ' ',
  ),
)

/** Interpreters and wrappers are never suggested: a grant of one grants everything. */
const NEVER =
  /^(python[\d.]*|pypy\d*|node|nodejs|deno|perl|ruby|php|lua|sh|bash|zsh|dash|ksh|fish|pwsh|env|timeout|nice|nohup|time|command|exec|eval|builtin|sudo|doas|su|watch|setsid|flock|stdbuf|parallel|busybox|vim?|emacs|nano|ed)$/

/** Suggestions for a decision that asks; empty when one of its parts should not be saved at all. */
export function suggestGrants(decision: Decision, facts: ShellFacts | null, root: string): Suggestion[] {
  const asks = decision.segments.filter((part) => part.decision === 'ask')
  if (asks.length !== 1 || asks[0]!.firm) return []
  const part = asks[0]!
  if (part.kind === 'host') return [{ kind: 'host', value: part.text, admits: `every request to ${part.text}` }]
  if (part.kind === 'read' || part.kind === 'write' || part.kind === 'redirect') return pathSuggestions(part, root)
  const fact = part.command === undefined ? null : (facts?.commands[part.command] ?? null)
  return part.kind === 'command' && fact ? commandSuggestions(fact) : []
}

function commandSuggestions(fact: CommandFact): Suggestion[] {
  const words: string[] = []
  for (const word of fact.argv) {
    if (word.values?.length !== 1 || word.splits) break
    words.push(word.values[0]!)
  }
  const name = words[0]
  const complete = words.length === fact.argv.length
  if (name === undefined || NEVER.test(posix.basename(name)) || fact.hazards.length > 0) return []
  const exact: Suggestion = { kind: 'command', value: pattern(words), admits: 'exactly this command' }
  if (EXACT_ONLY.has(posix.basename(name))) return complete ? [exact] : []
  const minimum = (MINIMUM_WORDS[name] ?? 1) + (RUNNERS.has(words.slice(0, 2).join(' ')) ? 1 : 0)
  const open: Suggestion[] = []
  // Options and file names are what changes from call to call; a subcommand is what was meant.
  for (let length = Math.min(words.length, minimum + 1); length >= minimum; length--) {
    const kept = words.slice(0, length)
    if (kept.length < minimum || kept.at(-1)!.startsWith('-')) continue
    open.push({ kind: 'command', value: `${pattern(kept)}:*`, admits: `${pattern(kept)} with any further words` })
  }
  return [...(complete ? [exact] : []), ...open]
}

function pathSuggestions(part: PartDecision, root: string): Suggestion[] {
  const kind = part.kind === 'read' ? 'read' : 'write'
  const path = part.text
  if (part.kind === 'redirect' || path.includes('*')) return []
  const absolute = posix.resolve(root, path)
  const directory = posix.dirname(absolute)
  const outside = !absolute.startsWith(`${root}/`)
  if (outside)
    return [{ kind: 'directory', value: directory, admits: `everything below ${directory}, for this session` }]
  const relative = posix.relative(root, absolute)
  const parent = posix.dirname(relative)
  return [
    { kind, value: relative, admits: 'this file' },
    ...(parent === '.' ? [] : [{ kind, value: `${parent}/**`, admits: `every file below ${parent}` } as const]),
  ]
}

function pattern(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ')
}
