/**
 * Suggests grants to save: the narrowest that covers the question, then broader ones, never broader
 * than needed.
 */

import { posix } from 'node:path'
import { isInside } from '../files/baseline.ts'
import { isGlob } from '../files/glob.ts'
import { parsePathPattern } from '../files/path-pattern.ts'
import { secretOf } from '../files/secret-shapes.ts'
import { parseUrl } from '../hosts/url.ts'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import type { Decision, PartDecision } from '../policy/decision.ts'
import { keyOfKind } from '../policy/evaluate/carried-paths.ts'
import { readFlow } from '../policy/labels.ts'
import { readToolGrant } from '../policy/mcp-rules.ts'
import type { ReasonCode } from '../policy/reason.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import type { CommandFact, ShellFacts } from '../shell/facts.ts'
import { grantRefusal, interpreterOf } from '../shell/inspect/interpreters.ts'
import { wrapperRows } from '../shell/wrap/wrappers.ts'
import { folderOfHome, isCredentialPlace, otherPlace, type Surroundings } from './other-place.ts'
import type { GrantKind } from './prompter.ts'

/** Something that can be granted, as the manifest would write it. */
export interface Suggestion {
  readonly kind: GrantKind
  readonly value: string
  /** Everything that it would admit, for the prompt. */
  readonly admits: string
  /** Saved together with it: the other commands of a text with several that ask. */
  readonly also?: readonly Suggestion[]
}

/** The places against which paths of a question are judged. */
export interface GrantPlaces extends Surroundings {
  /** The canonical path of one as it was written. */
  readonly resolve: (given: string) => string
  /** Whether a file exists; absent if unknown. */
  readonly exists?: (path: string) => boolean
}

/** Programs whose first word is not enough: at least this many words are part of a pattern. */
const MINIMUM_WORDS: Readonly<Record<string, number>> = {
  git: 2,
  gh: 3,
  glab: 3,
  npm: 2,
  pnpm: 2,
  yarn: 2,
  bun: 2,
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

/** Subcommands that run or change whatever the next words name: only the very command is offered. */
const EXACT_SUBCOMMANDS: ReadonlySet<string> = new Set([
  'git config',
  'git filter-branch',
  'git submodule',
  'gh api',
  'gh alias',
  'glab api',
  'docker run',
  'docker exec',
  'docker compose',
  'podman run',
  'podman exec',
  'kubectl exec',
  'kubectl run',
  'pnpm dlx',
  'yarn dlx',
  'uv tool',
  'npm config',
  'npm exec',
  'pnpm exec',
])

/** Programs whose patterns are never left open: the next words decide everything. */
const EXACT_ONLY: ReadonlySet<string> = new Set(
  'rm mv cp chmod chown dd ln tee curl wget ssh scp sftp rsync nc socat find xargs sed awk tar kill pkill killall psql mysql sqlite3 redis-cli mongosh npx bunx uvx pipx'.split(
    ' ',
  ),
)

/** Never suggested, beside interpreters and wrappers: a grant of one grants everything. */
const NEVER: ReadonlySet<string> = new Set(
  'eval exec source . sudo doas su pkexec run0 vi vim nvim emacs nano ed ex less more man gdb lldb strace ltrace screen tmux script'.split(
    ' ',
  ),
)

/** Suggestions for a decision that asks, narrowest first; empty when what asks should not be saved at all. */
export function suggestGrants(
  decision: Decision,
  facts: ShellFacts | null,
  places: GrantPlaces,
  input: Readonly<Record<string, unknown>> = {},
): Suggestion[] {
  const asks = decision.segments.filter((part) => part.decision === 'ask')
  const keeps = (ask: PartDecision): boolean =>
    SAVED_REASONS.has(ask.reason.code) && (!ask.firm || ask.reason.code === 'secret')
  if (asks.length === 0 || !asks.every(keeps)) return []
  const each = asks
    .filter((ask) => !isKeyOfKind(ask, facts, places))
    .map((ask) =>
      isServerTool(ask) && !ask.flow ? toolSuggestions(ask.text, input, places) : partSuggestions(ask, facts, places),
    )
    .map((suggestions) => suggestions.filter((suggestion) => !holdsSecret(suggestion)))
  if (each.some((suggestions) => suggestions.length === 0)) return []
  const alike = new Map(each.map((suggestions) => [suggestions.map(nameOf).join('\n'), suggestions]))
  const [only, ...others] = alike.values()
  if (only !== undefined && others.length === 0) return [...only]
  return together([...alike.values()])
}

/** A grant is written into files, and a secret is not. */
function holdsSecret({ kind, value }: Suggestion): boolean {
  return kind === 'command' && createRedactor().find(value).length > 0
}

/** One answer for a text with several parts that ask: each as narrow as it can be, then each as broad as it may be. */
function together(each: readonly (readonly Suggestion[])[]): Suggestion[] {
  const sets = [each.map((suggestions) => suggestions[0]!), each.map((suggestions) => suggestions.at(-1)!)]
  const found = new Map<string, Suggestion>()
  for (const set of sets) {
    const [first, ...also] = withoutCovered([...new Map(set.map((one) => [nameOf(one), one])).values()])
    if (first === undefined) continue
    found.set([first, ...also].map(nameOf).join('\n'), also.length === 0 ? first : { ...first, also })
  }
  return [...found.values()]
}

const nameOf = ({ kind, value }: Suggestion): string => `${kind} ${value}`

/** A directory to work in is also readable, and contains those below it. */
function withoutCovered(set: readonly Suggestion[]): readonly Suggestion[] {
  const directories = set.filter(({ kind }) => kind === 'directory').map(({ value }) => value)
  return set.filter(({ kind, value }) => {
    if (kind !== 'directory' && kind !== 'read') return true
    const path = value.replace(/\/\*\*$/, '')
    return !directories.some((directory) => isInside(path, directory) && !(kind === 'directory' && directory === path))
  })
}

function partSuggestions(part: PartDecision, facts: ShellFacts | null, places: GrantPlaces): readonly Suggestion[] {
  if (part.flow) return flowSuggestions(part.flow)
  const fact = part.command === undefined ? null : (facts?.commands[part.command] ?? null)
  if (part.reason.code === 'outside-cwd') return fact?.cwd == null ? [] : workingPlace(fact.cwd, places)
  if (part.kind === 'host') return hostSuggestions(part, facts)
  if (part.reason.code === 'secret') return secretSuggestions(part, facts, places)
  if (part.kind === 'read' || part.kind === 'write' || part.kind === 'list') return pathSuggestions(part, facts, places)
  return part.kind === 'command' && fact ? commandSuggestions(fact, part.change) : []
}

/** This label to this receiver; text that steers the agent is asked about each time. */
function flowSuggestions({ label, to }: NonNullable<PartDecision['flow']>): readonly Suggestion[] {
  const value = `${label} -> ${to}`
  if (label === 'instructions' || readFlow(value) === null) return []
  return [{ kind: 'flow', value, admits: `${to} may receive all data of the kind "${label}"` }]
}

/** Built-in tools are granted by what they touch. */
function isServerTool({ kind, text }: PartDecision): boolean {
  return kind === 'tool' && text.startsWith('mcp_')
}

/** A call of a server's tool: with the short arguments that it has now, whatever the long ones say, and then with any. */
function toolSuggestions(
  called: string,
  input: Readonly<Record<string, unknown>>,
  places: GrantPlaces,
): readonly Suggestion[] {
  const conditions = Object.entries(input).flatMap(([name, value]) =>
    typeof value === 'string' && PLAIN_ARGUMENT.test(value) ? [`${name}=${value}`] : [],
  )
  const exact = [called, ...conditions].join(' ')
  const narrow: Suggestion = { kind: 'tool', value: exact, admits: `every call with ${conditions.join(' and ')}` }
  const broad: Suggestion = { kind: 'tool', value: called, admits: `every call of ${called}` }
  const each = conditions.length === 0 ? [broad] : [narrow, broad]
  return each.filter(({ value }) => readToolGrant(value, places) !== null)
}

/** What means the same in a rule as it does here: no glob, no space, no way up. */
const PLAIN_ARGUMENT = /^(?!.*\.\.)[\w@:./~+-]{1,100}$/

/** A key that comes with the grant of its command's kind. */
function isKeyOfKind(part: PartDecision, facts: ShellFacts | null, { resolve }: GrantPlaces): boolean {
  const fact = part.command === undefined ? null : facts?.commands[part.command]
  if (part.kind !== 'read' || fact == null || facts === null) return false
  const key = keyOfKind(fact, facts.commands)
  return key !== null && pathOfPart(part, facts, resolve) === key
}

/** Asks that a grant answers. A grant that prompts or a confirmation is asked every time, whatever was saved. */
const SAVED_REASONS: ReadonlySet<string> = new Set([
  'level-ask',
  'not-granted',
  'outside-roots',
  'outside-cwd',
  'secret',
  'remote-write',
  'destructive',
  'host-not-granted',
  'flow',
] satisfies ReasonCode[])

/** Another directory to work in. */
function workingPlace(path: string, places: GrantPlaces): Suggestion[] {
  const place = otherPlace(places.resolve(path), places)
  if (place === null || !isPlainPattern(place, places.root, places.home)) return []
  return [{ kind: 'directory', value: place, admits: `work in ${place} and everything below it` }]
}

/** A secret is opened by its own name alone. */
function secretSuggestions(part: PartDecision, facts: ShellFacts | null, places: GrantPlaces): Suggestion[] {
  const path = pathOfPart(part, facts, places.resolve)
  if (path === null || isGlob(path) || !isPlainPattern(path, places.root, places.home)) return []
  // A place of credentials is not a project: only a grant that a person writes opens it.
  const isPlace = secretOf(path, places)?.kind === 'place' || isCredentialPlace(path, places)
  if (isPlace && !isInside(path, places.root)) return []
  const value = isInside(path, places.root) ? posix.relative(places.root, path) : path
  return [{ kind: 'read', value, admits: 'this file, which looks like a secret' }]
}

function hostSuggestions(part: PartDecision, facts: ShellFacts | null): Suggestion[] {
  const value = hostOfPart(part, facts)
  return value === null ? [] : [{ kind: 'host', value, admits: `every request to ${value}` }]
}

/** The host of a part, with an unusual port; null if it names none. */
export function hostOfPart(part: PartDecision, facts: ShellFacts | null): string | null {
  const { span } = part
  // A command's part names the host alone; the URL it was written in has the port.
  const uses = part.command === undefined ? [] : (facts?.commands[part.command]?.hosts ?? [])
  const use = uses.find((one) => one.span.start === span?.start && one.span.end === span.end)
  const text = use?.url ?? part.text
  const parsed = parseUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`)
  if ('problem' in parsed) return null
  const { host, port } = parsed.url
  return port === 80 || port === 443 ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function commandSuggestions(fact: CommandFact, change: PartDecision['change'] = fact.kind?.words): Suggestion[] {
  const words: string[] = []
  for (const word of fact.argv) {
    if (word.values?.length !== 1 || word.splits) break
    words.push(word.values[0]!)
  }
  const name = words[0]
  // Where it goes is not certain, and may be somewhere else next time.
  if (change === null && fact.kind != null) return []
  if (change != null) return kindSuggestions(change)
  // What forces, deletes or publishes elsewhere is asked each time.
  if (fact.effect === 'destructive' || PUBLISHES.test(fact.effectNote)) return []
  // A grant for a loss in a container would apply here as well.
  if (fact.effect === 'loss' && fact.via.length > 0) return []
  if (name === undefined || fact.hazards.length > 0) return []
  const program = posix.basename(name)
  const known = MINIMUM_WORDS[program] !== undefined || EXACT_ONLY.has(program)
  if (NEVER.has(program) || fact.unwrapped !== 'none' || interpreterOf(program) !== null) return []
  // Some package managers wrap by a subcommand; what only ever wraps is not offered at all.
  if (!known && wrapperRows(program).some((row) => row.sub === undefined)) return []
  const complete = words.length === fact.argv.length
  const exact = complete ? commandSuggestion(words, false) : null
  const subcommand = words.slice(0, 2).join(' ')
  // Remote changes and losses are granted exactly, never with other words.
  const pinned = fact.effect === 'remote-write' || fact.effect === 'loss'
  if (pinned || EXACT_ONLY.has(program) || EXACT_SUBCOMMANDS.has(subcommand)) return exact ? [exact] : []
  const minimum = (MINIMUM_WORDS[program] ?? 1) + (RUNNERS.has(subcommand) ? 1 : 0)
  const open: Suggestion[] = []
  // Options and file names change from call to call; a subcommand is what was meant.
  for (let length = Math.min(words.length, minimum + 1); length >= minimum; length--) {
    const kept = words.slice(0, length)
    if (kept.slice(1).some((word) => word.startsWith('-'))) continue
    const suggestion = commandSuggestion(kept, true)
    if (suggestion) open.push(suggestion)
  }
  return [...(exact ? [exact] : []), ...open]
}

const PUBLISHES = /\b(publish|changes a package registry|uploads data)/

/** A kind of change, however it is written: `git push` to origin, a comment at the forge. */
function kindSuggestions(kind: readonly string[]): Suggestion[] {
  const value = `${kind.map(quoted).join(' ')}:kind`
  const parsed = parseCommandPattern(value)
  if (!('pattern' in parsed) || JSON.stringify(parsed.pattern.words) !== JSON.stringify(kind)) return []
  const admits =
    kind.at(-1) === 'reads'
      ? `read-only uses of \`${kind.slice(0, -1).join(' ')}\``
      : `every \`${kind.join(' ')}\` without force or deletion`
  return [{ kind: 'command', value, admits }]
}

/** INVARIANT: the text of a suggestion parses back to the same words. */
function commandSuggestion(words: readonly string[], open: boolean): Suggestion | null {
  const text = words.map(quoted).join(' ')
  const value = open ? `${text}:*` : text
  const parsed = parseCommandPattern(value)
  if (!('pattern' in parsed) || parsed.pattern.open !== open) return null
  if (JSON.stringify(parsed.pattern.words) !== JSON.stringify(words) || grantRefusal(words) !== null) return null
  return { kind: 'command', value, admits: open ? `${text} with any further words` : 'exactly this command' }
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word
  return word.includes("'") ? `"${word}"` : `'${word}'`
}

/** The path that a part is about: a redirect shows the words it was written with. */
export function pathOfPart(
  part: PartDecision,
  facts: ShellFacts | null,
  resolve: GrantPlaces['resolve'],
): string | null {
  const redirects = [...(facts?.redirects ?? []), ...(facts?.commands.flatMap((fact) => fact.redirects) ?? [])]
  const redirect = redirects.find(({ span }) => span.start === part.span?.start && span.end === part.span.end)
  if (redirect === undefined) return resolve(part.text.replace(/ \(.*\)$/, ''))
  const target = redirect.target?.values?.length === 1 ? redirect.target.values[0]! : null
  return target === null ? null : resolve(posix.resolve(redirect.cwd ?? '/', target))
}

function pathSuggestions(part: PartDecision, facts: ShellFacts | null, places: GrantPlaces): Suggestion[] {
  const { root, home } = places
  const kind = part.kind === 'write' ? 'write' : 'read'
  const given = pathOfPart(part, facts, places.resolve)
  // A pattern is meant as the folder that it looks through.
  const path = given === null ? null : isGlob(given) ? posix.dirname(given.slice(0, given.search(/[*?[]/) + 1)) : given
  if (path === null || !isPlainPattern(path, root, home)) return []
  if (part.reason.code === 'outside-roots') {
    if (kind === 'read' && secretOf(path, places) !== null) return secretSuggestions(part, facts, places)
    if (isCredentialPlace(path, places)) return []
    const place = otherPlace(path, places) ?? (kind === 'write' ? folderOfHome(path, places) : null)
    const file: Suggestion[] =
      isInside(root, path) || isInside(home, path)
        ? []
        : [{ kind: kind === 'read' ? 'read' : 'directory', value: path, admits: `${path} alone` }]
    if (place === null || !isPlainPattern(place, root, home)) return given !== path ? [] : file
    const work: Suggestion = { kind: 'directory', value: place, admits: `work in ${place} and everything below it` }
    if (kind === 'write') return [work]
    return [{ kind: 'read', value: `${place}/**`, admits: `reading everything below ${place}` }, work]
  }
  if (given !== path || !isInside(path, root) || path === root || part.kind === 'list') return []
  const relative = posix.relative(root, path)
  const above = posix.dirname(relative)
  return [
    { kind, value: relative, admits: 'this file' },
    ...(above === '.' ? [] : [{ kind, value: `${above}/**`, admits: `every file below ${above}` } as const]),
  ]
}

function isPlainPattern(path: string, root: string, home: string): boolean {
  const parsed = parsePathPattern(path, { root, home, files: null })
  return 'pattern' in parsed && parsed.pattern.absolute === path
}
