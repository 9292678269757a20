/** Short notes on what was stopped or restored during a run: one summary for every surface. */

import { posix } from 'node:path'
import { typedText } from '../confine/entitlement.ts'
import { summarize } from '../egress/route/event.ts'
import type { Limits } from '../sandbox/limits.ts'
import type { QuarantineFinding } from '../sandbox/quarantine/quarantine.ts'
import { inferViolations } from '../sandbox/violation.ts'
import { listeningPorts } from '../system/processes.ts'
import { namedOwnPorts, ownPortLine } from './network/own-ports.ts'
import { servedLine } from './network/served-port.ts'
import type { RunOutcome } from './runner.ts'

/** A search opens every hidden file of a tree: the first few suffice. */
const MAX_NOTES = 20

/**
 * The notes of a run: observed before inferred, each once. `stderr`: the text for inference, if not
 * captured.
 */
export function outcomeNotes(
  outcome: RunOutcome,
  stderr: string = outcome.result.stderr?.bytes.toString('utf8') ?? '',
): readonly string[] {
  const { result, plan, findings, maskChanges, changes, egress, served, drift } = outcome
  const inferred = stderr === '' ? [] : inferViolations(stderr, plan)
  const violations = [...result.violations, ...inferred].map(({ certainty, message }) => `${certainty}: ${message}`)
  const notes = [
    ...(result.timedOut ? [`stopped: ${timeLimit(plan.limits)} was reached`] : []),
    ...cut([...new Set(violations)]),
    ...hookManagerNote(outcome),
    ...groupedMessages(findings),
    ...maskChanges.map((change) => change.message),
    ...lostNotes(changes?.lost ?? []),
    ...leftBehindNotes(result.leftBehind),
    ...served.filter((port) => port.problem !== null).map(servedLine),
    ...summarize(egress),
    ...(result.exitCode === 0 ? [] : unreachedPorts(outcome)),
    ...(drift === null ? [] : [drift]),
  ]
  return [...new Set(notes)].slice(0, 2 * MAX_NOTES)
}

/** husky, lefthook and pre-commit write here during an install. */
const HOOK_PLACES = [
  ['.git/hooks', /\/\.git\/hooks(?:\/|$)/],
  ['.husky', /\/\.husky(?:\/|$)/],
  ['core.hooksPath in .git/config', /\/\.git\/config$/],
] as const

/** Names the setting and the remedy. A refused change of .git/config may have another cause. */
function hookManagerNote({ result, plan }: RunOutcome): readonly string[] {
  const paths = result.violations.flatMap(({ kind, path = '' }) => (kind === 'change-refused' ? [path] : []))
  const place = HOOK_PLACES.find(([, pattern]) => paths.some((path) => pattern.test(path)))
  if (place === undefined) return []
  const isAboutHooks = place !== HOOK_PLACES[2] || /hooks|husky|\b(?:npm|pnpm|yarn|bun)\b/i.test(plan.argv.join(' '))
  if (!isAboutHooks) return []
  return [
    `git runs hooks outside the sandbox, so commands cannot set them up (${place[0]}). If this was husky, lefthook or pre-commit, set it up yourself, outside: npx husky, lefthook install, pre-commit install`,
  ]
}

/** Ports on its loopback that the command named, did not serve and could not reach. */
function unreachedPorts({ result, plan: { argv, network } }: RunOutcome): readonly string[] {
  const named = namedOwnPorts(argv)
  if (named.length === 0) return []
  const proxyPorts = network.kind === 'listener' ? network.proxyPorts : []
  const isOpen = (port: number) => proxyPorts.some((proxy) => proxy.port === port) || result.unlisted.includes(port)
  const listening = listeningPorts()
  return named.filter((port) => !isOpen(port)).map((port) => ownPortLine(port, listening.has(port)))
}

/** The limit and what set it. */
function timeLimit({ timeoutMs, timeoutBy }: Limits): string {
  if (timeoutMs === undefined) return 'the time limit'
  return `the time limit of ${Math.round(timeoutMs / 100) / 10} s${timeoutBy === undefined ? '' : ` (${timeoutBy})`}`
}

/** Lost changes are reported at once, not when a person wants them back. */
export function lostNotes([first, ...more]: readonly string[]): readonly string[] {
  if (first === undefined) return []
  const others = more.length > 0 ? `, and so were ${more.length} more` : ''
  return [`${first} was too large to be kept or could not be read${others}: cordon undo cannot restore it`]
}

/** Caches and logs that programs create again: not worth a note. */
const OWN_BUSINESS =
  /(?:^|\/)(?:Crash Reports|\.?cache|caches|\.npm|_cacache|configstore|tmp|telemetry)\/|^\.(?:gnupg|ssh)\/|^\.local\/(?:state|share)\/|^\.(?:wget-hsts|viminfo|lesshst|rnd|\w+_history|\w+_logs?)$|[-_.](?:history|lock|log)$/i

/** No run may change them, so no remedy is offered. */
const START_UP = /^\.(?:(?:ba|z|k)?sh(?:rc|env)|z?profile|(?:bash_)?(?:profile|login|logout)|zlog(?:in|out)|gitconfig)$/

/** Files in a private home are deleted with it. */
export function leftBehindNotes(paths: readonly string[]): readonly string[] {
  const [first, ...more] = paths.filter((path) => !OWN_BUSINESS.test(path))
  if (first === undefined) return []
  const others = more.length > 0 ? ` and ${more.length === 1 ? 'one more file' : `${more.length} more files`}` : ''
  const went = `~/${first}${others} went to a temporary home, now deleted`
  if (START_UP.test(first)) return [went]
  const folder = posix.dirname(first)
  const place = `~/${typedText([folder === '.' ? first : folder])}`
  return [
    `${went}. To keep such files: ${folder === '.' ? 'touch' : 'mkdir -p'} ${place} && cordon run --write ${place} …`,
  ]
}

function cut(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_NOTES) return lines
  return [...lines.slice(0, MAX_NOTES), `and ${lines.length - MAX_NOTES} more were stopped`]
}

/** More of a kind are folded into one line: a command can create 20,000 files. */
const MOST_OF_A_KIND = 5

function groupedMessages(findings: readonly QuarantineFinding[]): readonly string[] {
  const lines: string[] = []
  for (const [action, group] of Map.groupBy(findings, (finding) => finding.action)) {
    lines.push(...group.slice(0, MOST_OF_A_KIND).map((finding) => finding.message))
    const more = group.length - MOST_OF_A_KIND
    if (more > 0)
      lines.push(`${more} more ${more === 1 ? 'was' : 'were'} ${GROUP_WORDS[action]}; the audit names up to 2,000.`)
  }
  return lines
}

const GROUP_WORDS: Readonly<Record<QuarantineFinding['action'], string>> = {
  moved: 'protected as well, and moved to the quarantine',
  reverted: 'reverted as well',
  hidden: 'hidden as well',
  told: 'changed as well',
  failed: 'not restored: check them yourself',
}
