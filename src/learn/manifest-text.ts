/** Writes proposed grants into a manifest's text: the project's own, or a minimal new one. */

import { isDeepStrictEqual } from 'node:util'
import { appendToList, removeFromList } from '../manifest/toml/edit.ts'
import type { Plain } from '../manifest/toml/tree.ts'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import { pathAddition } from '../project/additions.ts'
import { listPlace } from '../project/amend.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { pinsScript } from '../shell/inspect/interpreters.ts'
import { judgeGrant } from '../shell/tables/interpreter-names.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { ProposedLine } from './proposal.ts'

/** One entry of a manifest's list. */
export interface ManifestEntry {
  readonly section: readonly string[]
  readonly name: string
  readonly value: Plain
}

export interface TextPlaces {
  /** The command that hosts and variables are for; null: every granted command. */
  readonly grantee: string | null
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly files: Files
}

/** The entries of a line, including those that keep the project open; or why it cannot be added. */
function entriesOf(
  line: ProposedLine,
  places: TextPlaces,
  declaresReads: boolean,
): readonly ManifestEntry[] | { readonly reason: string } {
  if (line.kind === 'tool') {
    const value = line.wrapper === undefined ? line.value : { tool: line.value, wrappers: [line.wrapper] }
    return [{ section: ['sandbox', 'os'], name: 'command_tools', value }]
  }
  if (line.kind === 'variable') return [{ section: COMMANDS, name: 'default_env_vars', value: line.value }]
  const grants =
    line.kind === 'read' || line.kind === 'write'
      ? pathAddition(line.value, line.kind, places).grants
      : [{ kind: line.kind, value: line.value, admits: '' }]
  const entries: ManifestEntry[] = []
  for (const grant of grants) {
    const place = listPlace({ grant, verdict: 'allow', tool: 'bash' }, places.loaded.policy)
    if ('reason' in place) return place
    const { section, name, first = [] } = place
    for (const value of first) entries.push({ section, name, value })
    entries.push({ section, name, value: grant.kind === 'port' ? Number(grant.value) : grant.value })
    // A writable folder must also be readable.
    if (grant.kind === 'directory' && declaresReads)
      entries.push({ section: READS, name: 'paths', value: `${grant.value}/**` })
  }
  return entries
}

const COMMANDS = ['capabilities', 'allow', 'commands']
const READS = ['capabilities', 'allow', 'read']

/** Adds every line; returns refused ones with the reason. */
export function withLines(
  text: string | null,
  lines: readonly ProposedLine[],
  places: TextPlaces,
): { readonly text: string; readonly left: readonly { readonly line: ProposedLine; readonly reason: string }[] } {
  let edited = text ?? HEAD
  const left: { line: ProposedLine; reason: string }[] = []
  const added = new Set<string>()
  const own = places.grantee === null ? [] : lines.filter(({ kind }) => kind === 'host' || kind === 'variable')
  const declaresReads = places.loaded.policy.reads.declared || lines.some(({ kind }) => kind === 'read')
  for (const line of lines) {
    if (own.includes(line)) continue
    const entries = entriesOf(line, places, declaresReads)
    if ('reason' in entries) {
      left.push({ line, reason: entries.reason })
      continue
    }
    for (const entry of entries) {
      // What keeps the project open is added once, before the first grant of that kind.
      const key = JSON.stringify(entry)
      if (added.has(key)) continue
      added.add(key)
      const next = appendToList(edited, entry.section, entry.name, entry.value)
      if ('refusal' in next) {
        left.push({ line, reason: 'the manifest has that list in a form that is not edited' })
        break
      }
      edited = next.text
    }
  }
  if (own.length > 0) {
    const valuesOf = (kind: ProposedLine['kind']) => own.filter((line) => line.kind === kind).map(({ value }) => value)
    const [domains, env_vars] = [valuesOf('host'), valuesOf('variable')]
    const lists = { ...(domains.length > 0 && { domains }), ...(env_vars.length > 0 && { env_vars }) }
    const next = appendToList(edited, COMMANDS, 'patterns', { command: places.grantee!, ...lists })
    if ('text' in next) edited = next.text
    else left.push(...own.map((line) => ({ line, reason: 'the manifest has that list in a form that is not edited' })))
  }
  return { text: edited, left }
}

const HEAD =
  '# Learned by cordon learn: what the command needs beyond the built-in rules, and nothing else.\nschema_version = 1\n'

/** A grant pattern for a command; null if it would cover more, or is granted already. */
export function granteeOf(command: readonly string[], { policy }: LoadedPolicy): string | null {
  const text = command.map(patternWord).join(' ')
  const parsed = parseCommandPattern(text)
  if (!('pattern' in parsed) || parsed.pattern.open || parsed.pattern.kind) return null
  if (!isDeepStrictEqual(parsed.pattern.words, command)) return null
  if (judgeGrant(command, (name, rest) => pinsScript(name, rest)) !== null) return null
  return policy.commands.allow.some(({ pattern }) => pattern.text === text) ? null : text
}

/** A word as a pattern writes it; one with both kinds of quotes comes back as another. */
function patternWord(word: string): string {
  if (/^[\w@%+:,./=-]+$/.test(word)) return word
  return word.includes("'") ? `"${word}"` : `'${word}'`
}

/** Removes grants; those not written as a plain entry stay. */
export function withoutGrants(
  text: string,
  grants: readonly { readonly kind: 'command' | 'host'; readonly value: string }[],
): string {
  return grants.reduce((edited, { kind, value }) => {
    const name = kind === 'command' ? 'patterns' : 'default_domains'
    return removeFromList(edited, ['capabilities', 'allow', 'commands'], name, value) ?? edited
  }, text)
}

/** Added and removed lines, for a person. */
export function lineChanges(before: string | null, after: string): readonly string[] {
  const old = (before ?? '').split('\n')
  const now = after.split('\n')
  const kept = commonLines(old, now)
  const changes: string[] = []
  let at = 0
  let from = 0
  for (const [oldAt, nowAt] of [...kept, [old.length, now.length] as const]) {
    for (; at < oldAt; at++) if (old[at] !== '') changes.push(`- ${old[at]}`)
    for (; from < nowAt; from++) if (now[from] !== '') changes.push(`+ ${now[from]}`)
    at = oldAt + 1
    from = nowAt + 1
  }
  return changes
}

/** Edits only add or replace lines, so the next equal line is the same line. */
function commonLines(old: readonly string[], now: readonly string[]): [number, number][] {
  const pairs: [number, number][] = []
  let from = 0
  for (const [at, text] of old.entries()) {
    const found = now.indexOf(text, from)
    if (found < 0) continue
    pairs.push([at, found])
    from = found + 1
  }
  return pairs
}
