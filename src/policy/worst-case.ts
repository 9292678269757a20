/**
 * The worst case of a yes (P11): its maximum cost, as a value. Computed from the decision and its
 * facts, so every surface shows the same and it bounds a reviewer.
 */

import type { CommandFact, ShellFacts } from '../shell/facts.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'
import type { Decision, PartDecision } from './decision.ts'
import { type DataLabel, isDataLabel } from './labels.ts'

/** From the least on. What costs more than `adds` is a person's choice alone. */
export const BOUNDS = [
  'nothing', // nothing leaves, nothing is lost
  'undo', // files of the project change, and undo restores them
  'granted-host', // one host that a grant names gets data without a label
  'reads', // the agent and its model see files outside the project
  'host', // one named host gets data without a label
  'adds', // something is added elsewhere; nothing is forced or deleted
  'lost', // local files change, and nothing restores them
  'irreversible', // a secret is seen, or something elsewhere changes for good
  'unbounded', // nothing that Cordon knows of limits it
] as const
export type Bound = (typeof BOUNDS)[number]

export interface WorstCase {
  readonly bound: Bound
  /** The hosts that could get data. */
  readonly hosts: readonly string[]
  readonly labels: readonly DataLabel[]
  /** One short sentence without "Worst case:". It may quote the agent's own words. */
  readonly text: string
}

/** Whether a cost is at most the other. */
export function isWithin(bound: Bound, most: Bound): boolean {
  return BOUNDS.indexOf(bound) <= BOUNDS.indexOf(most)
}

interface Cost {
  readonly bound: Bound
  readonly text: string
  readonly hosts?: readonly string[]
  readonly label?: DataLabel
  /** The command that it is about: its host and its effect are one thing to a person. */
  readonly command?: number | undefined
}

/** The worst case of a yes to a decision that asks. */
export function worstCaseOf(decision: Decision, facts: ShellFacts | null): WorstCase {
  const asks = decision.segments.filter((part) => part.decision === 'ask')
  const costs = asks.flatMap((part): Cost[] =>
    costsOf(part, factOf(part, facts), decision).map((cost) => ({ ...cost, command: part.command })),
  )
  // INVARIANT: an ask that no part explains costs the most.
  if (costs.length === 0) costs.push({ bound: 'unbounded', text: 'Cordon cannot say what it does' })
  const labels = [...new Set(costs.flatMap(({ label }) => label ?? []))]
  const flows = new Set<string>(asks.flatMap(({ flow }) => flow?.label ?? []))
  const hosts = [...new Set([...costs.flatMap(({ hosts: named = [] }) => named), ...grantedHosts(decision)])]
  const script = scriptFromHost(asks, facts)
  const leaks = labels.find((label) => label !== 'instructions' && !flows.has(label))
  const asked = new Set(costs.flatMap(({ hosts: named = [] }) => named))
  const together: Cost[] = []
  if (leaks !== undefined && hosts.length > 0) {
    const what = leaks === 'secret' ? 'a secret' : 'files outside the project'
    together.push({ bound: 'irreversible', text: `${listOf(hosts)} receives ${what}` })
  } else if (asked.size > 1) together.push({ bound: 'adds', text: `${listOf([...asked])} receive project files` })
  // A script from elsewhere does whatever the other parts could do: it is what a person must know.
  if (script !== null && together.length === 0) {
    const bound = costs.reduce<Bound>((most, cost) => (isWithin(cost.bound, most) ? most : cost.bound), 'adds')
    together.push({ bound, text: `runs a script from ${script}` })
  }
  const all = [...together, ...costs]
  const worst = all.reduce((most, cost) => (isWithin(cost.bound, most.bound) ? most : cost))
  const isSame = ({ command }: Cost): boolean => command !== undefined && command === worst.command
  const alike = costs.filter((cost) => cost !== worst && rank(cost) === rank(worst) && !isSame(cost))
  const others = new Set(alike.map(({ text }) => text))
  others.delete(worst.text)
  const more = together.includes(worst) || others.size === 0 ? '' : `, and ${others.size} more like it`
  return { bound: worst.bound, hosts, labels, text: `${worst.text}${more}. ${REMEDY[worst.bound]}`.trim() }
}

const rank = ({ bound }: Cost): number => BOUNDS.indexOf(bound)

const REMEDY: Readonly<Record<Bound, string>> = {
  nothing: '',
  undo: 'cordon undo restores them.',
  'granted-host': '',
  reads: '',
  host: '',
  adds: 'Cordon cannot undo it.',
  lost: 'Cannot be undone.',
  irreversible: 'Cannot be undone.',
  unbounded: 'Cannot be undone.',
}

/** Where the script of `curl … | sh` comes from; null without one. */
function scriptFromHost(asks: readonly PartDecision[], facts: ShellFacts | null): string | null {
  const asked = new Set(asks.map(({ command }) => command))
  const { commands = [], source = '' } = facts ?? {}
  const senders = [...commands.entries()].filter(([, { hosts }]) => hosts.length > 0)
  // Every pair is compared; of a text with more commands the worst is assumed.
  const isLong = commands.length > MOST_COMPARED
  for (const [to, ran] of commands.entries())
    for (const [from, sender] of senders)
      if ((asked.has(to) || asked.has(from)) && (isLong || runsOutput(ran, sender, source)))
        return URL.parse(sender.hosts[0]!.url)?.host || 'the internet'
  return null
}

const MOST_COMPARED = 100

/** Whether a command runs as code what the other one fetches. */
function runsOutput({ argv, span }: CommandFact, sender: CommandFact, source: string): boolean {
  const [name, ...words] = argv.map(({ values }) => (values?.length === 1 ? values[0]! : null))
  if (name == null) return false
  const program = name.slice(name.lastIndexOf('/') + 1)
  const isShell = isInterpreterName(program) || ['eval', 'source', '.'].includes(program)
  // A word that begins with the fetch: `sh -c "$(curl …)"`, `bash <(curl …)`.
  const fetch = source.slice(sender.span.start, sender.span.end)
  if (
    isShell &&
    argv.some(({ text, values }) => values === null && /^"?(?:\$\(|<\(|`)/.test(text) && text.includes(fetch))
  )
    return true
  const input = words.length === 0 || words.some((word) => word === '-' || word === '-s')
  const isInside = sender.span.start >= span.start && sender.span.end <= span.end
  // `curl … | sh`, `bash < <(curl …)`. An inline program reads it as data: `curl … | python3 -c …`.
  const between = source.slice(sender.span.end, span.start)
  const isPiped = between.includes('|') && !/[;&\n]|\|\|/.test(between)
  if (isInterpreterName(program) && input && (isPiped || isInside)) return true
  // `curl -o i.sh …; sh i.sh`
  const file = isShell ? words.find((word) => word === null || !word.startsWith('-')) : name.includes('/') ? name : null
  return file != null && span.start > sender.span.end && fetch.split(/[\s>"']+/).includes(file.replace(/^\.\//, ''))
}

function factOf({ command }: PartDecision, facts: ShellFacts | null): CommandFact | null {
  return command === undefined ? null : (facts?.commands[command] ?? null)
}

/** Hosts that the call reaches without a question. */
function grantedHosts(decision: Decision): readonly string[] {
  return decision.segments.filter((part) => part.kind === 'host' && part.decision === 'allow').map(({ text }) => text)
}

function listOf(hosts: readonly string[]): string {
  return hosts.length === 1 ? hosts[0]! : `${hosts[0]} and ${hosts.length - 1} more`
}

/** Whatever the reason to ask, a command that changes something elsewhere costs that. */
function costsOf(part: PartDecision, fact: CommandFact | null, decision: Decision): readonly Cost[] {
  const cost = grantedCost(part, fact, decision) ?? costOf(part, fact, decision.kept === true)
  const changes = part.kind === 'command' && (fact?.effect === 'remote-write' || fact?.effect === 'destructive')
  return changes ? [cost, effectCost(part, fact)] : [cost]
}

function costOf(part: PartDecision, fact: CommandFact | null, kept: boolean): Cost {
  const { text, reason } = part
  switch (reason.code) {
    case 'outside-sandbox':
      return { bound: 'unbounded', text: 'runs outside the sandbox, with everything your account can do' }
    case 'secret':
      return { bound: 'irreversible', label: 'secret', text: `the agent and its model see the secret ${nameOf(text)}` }
    case 'maybe-denied':
    case 'rule-asks':
    case 'protected-path':
      return { bound: 'irreversible', text: `does what a rule denies or asks about (${short(text)})` }
    case 'port-not-opened':
      return { bound: 'nothing', text: 'programs of this machine can use the server of this command' }
    case 'host-not-granted':
      if (part.kind !== 'host') return kindCost(part, fact, kept)
      return { bound: 'host', hosts: [text], text: `${text} receives what the command can read: project files` }
    case 'remote-write':
    case 'destructive':
      return effectCost(part, fact)
    case 'flow':
      return part.flow
        ? flowCost(part.flow)
        : { bound: 'irreversible', text: `sends what the session has read (${short(text)})` }
    default:
      return kindCost(part, fact, kept)
  }
}

/** What was read is with the receiver then. */
function flowCost({ label, source, to }: NonNullable<PartDecision['flow']>): Cost {
  const text =
    label === 'instructions'
      ? `does at ${to} what ${nameOf(source)} returned to the agent`
      : `${to} receives what the session read: ${nameOf(source)}`
  return { bound: 'irreversible', hosts: [to], text, ...(isDataLabel(label) && { label }) }
}

/** By the subject of a part. */
function kindCost(part: PartDecision, fact: CommandFact | null, kept: boolean): Cost {
  const { kind, text, reason } = part
  const outside = reason.code === 'outside-roots' || reason.code === 'outside-cwd'
  switch (kind) {
    case 'read':
    case 'list':
      if (!outside) return { bound: 'nothing', text: `the agent and its model see ${nameOf(text)}` }
      return {
        bound: 'reads',
        label: 'outside',
        text: `the agent and its model see ${nameOf(text)}, outside the project`,
      }
    case 'write':
    case 'redirect':
      if (outside) {
        const verb = fact?.effect === 'loss' ? 'deletes' : 'changes'
        return { bound: 'lost', text: `${verb} ${nameOf(text)}, outside the project` }
      }
      return kept
        ? { bound: 'undo', text: 'changes project files' }
        : { bound: 'lost', text: `changes ${nameOf(text)}` }
    case 'host':
      return { bound: 'host', hosts: [text], text: `${text} receives what the call sends` }
    case 'tool':
      return { bound: 'unbounded', text: `${text} does whatever it can` }
    case 'command':
    case 'syntax':
      if (outside) return { bound: 'lost', text: `changes files in ${fact?.cwd ?? 'a folder that is not known'}` }
      if (fact !== null && fact.effect !== 'local' && fact.effect !== 'unknown') return effectCost(part, fact)
      return kept
        ? { bound: 'undo', text: 'changes project files' }
        : { bound: 'lost', text: 'changes or deletes project files' }
  }
}

/** Access to a host granted for it costs less than access to any host. */
function grantedCost(part: PartDecision, fact: CommandFact | null, { segments }: Decision): Cost | null {
  if (part.kind !== 'command' || fact?.effect !== 'remote-read') return null
  if (part.reason.code !== 'not-granted' && part.reason.code !== 'level-ask') return null
  const reached = segments.filter(({ kind, command }) => kind === 'host' && command === part.command)
  if (reached.length === 0 || reached.some(({ decision }) => decision !== 'allow')) return null
  const hosts = [...new Set(reached.map(({ text }) => text))]
  if (hosts.length > 1) return null
  return { bound: 'granted-host', hosts, text: `${hosts[0]}, which is granted, receives what the command sends` }
}

/** By the command's effect outside the sandbox. */
function effectCost({ kind, text, reason }: PartDecision, fact: CommandFact | null): Cost {
  if (kind === 'host') return { bound: 'adds', hosts: [text], text: `changes something at ${text}` }
  const about = (otherwise: string): string => `${fact?.effectNote || otherwise} (${short(text)})`
  if (fact?.effect === 'remote-read') return { bound: 'host', text: about('asks another machine') }
  if (fact?.effect === 'loss') return { bound: 'lost', text: about('deletes files') }
  const change = reason.code === 'destructive' ? 'destroys something' : 'changes something on another machine'
  return {
    bound: fact?.kind != null ? 'adds' : 'irreversible',
    text: (fact === null ? null : pushOf(fact)) ?? about(change),
  }
}

/** `git push origin x` names the target, which its note does not. */
function pushOf(fact: CommandFact): string | null {
  const words = fact.argv.map((word) => (word.values?.length === 1 ? word.values[0]! : word.text))
  if (words[0] !== 'git' || !words.includes('push')) return null
  const [remote = 'the remote of this branch', ...refs] = words
    .slice(words.indexOf('push') + 1)
    .filter((word) => !word.startsWith('-'))
  const forced = words.some((word) => /^(-f|--force|--mirror|--delete|-d$|\+|:)/.test(word))
  const where = refs.length === 0 ? remote : refs.map((ref) => `${remote}/${ref.replace(/^\+/, '')}`).join(', ')
  return `${forced ? 'overwrites or deletes' : 'pushes to'} ${where}`
}

/** The last two components, by which a person recognises a file. */
function nameOf(path: string): string {
  const parts = path.replace(/ \(.*\)$/, '').split('/')
  return parts.length > 4 ? `…/${parts.slice(-3).join('/')}` : parts.join('/')
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 40).toWellFormed()} … ${line.slice(-15).toWellFormed()}` : line
}
