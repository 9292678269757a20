/** `cordon explain`: the decision of `check` as a tree. */

import { type CheckedCall, openChecker } from '../../../../call/decide/check-call.ts'
import type { Decision, PartDecision } from '../../../../policy/decision.ts'
import { stricter, type Verdict } from '../../../../policy/order.ts'
import { reviewedWorstCase } from '../../../../policy/review.ts'
import { worstCaseOf } from '../../../../policy/worst-case.ts'
import { withAnswers } from '../../../../project/answers.ts'
import type { LoadedPolicy } from '../../../../project/load/load.ts'
import { coverSecrets, createRedactor, MASK } from '../../../../scan/redact/redact.ts'
import type { CommandFact, ShellFacts, Word } from '../../../../shell/facts.ts'
import { machineFiles } from '../../../../system/files.ts'
import type { Machine } from '../../../../system/machine.ts'
import { paint, type Terminal, visible, visibleLines } from '../../../terminal/terminal.ts'
import { hintAtDraft, hintAtInit, openInForce } from '../../open-policy.ts'
import { type CommandContext, EXIT } from '../../usage.ts'
import { requestedCall, VERDICT_EXIT, VERDICT_STYLE } from './check.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const call = requestedCall(args)
  const opened = await openInForce(args, terminal, { unsigned: 'as-written' })
  if (!opened) return EXIT.usage
  const { loaded, machine } = opened
  const cwd = args.flags.root ? loaded.root : machineFiles.canonical(machine.cwd)
  const checker = await openChecker(loaded, machine, machineFiles, call.tool)
  const checked = checker.check({ ...call, cwd })
  const network = checked.facts ? await networkOf(checked.facts, loaded, machine, cwd) : null
  if (args.flags.json) {
    const hosts = network && { network: network.json }
    const worst = checked.decision.decision === 'ask' && {
      worst: reviewedWorstCase(checked, loaded.policy),
    }
    const mask = secretMask(checked.facts)
    const masked = (_: string, field: unknown) => (typeof field === 'string' ? mask(field) : field)
    const judged = checked.facts && { judged: judgedBy(loaded) }
    const all = { ...checked.decision, ...worst, facts: checked.facts, ...hosts, ...judged }
    terminal.out(`${JSON.stringify(all, masked)}\n`)
  } else {
    const judged = Object.entries(judgedBy(loaded)).map(([rules, by]) => `${rules} by ${by}`)
    const lines = [...(network?.lines ?? []), ...(checked.facts ? [`judged: ${judged.join('; ')}`] : [])]
    terminal.out(`${draw(terminal, checked, loaded.root)}${lines.map((line) => `  ${line}\n`).join('')}`)
  }
  hintAtInit(args, loaded, terminal)
  hintAtDraft(opened, terminal)
  return VERDICT_EXIT[checked.decision.decision]
}

/** What judges a command: its text only, or also each program when it starts, if this machine can (S8). */
function judgedBy({ policy }: LoadedPolicy): Readonly<Record<'denials' | 'grants' | 'hosts', string>> {
  const both = 'text and process'
  return { denials: both, grants: policy.everyProgram.value ? both : 'text', hosts: both }
}

/** Which hosts each part of a command may reach, and whether parts run separately for that (S3). */
async function networkOf(
  facts: ShellFacts,
  loaded: LoadedPolicy,
  machine: Machine,
  cwd: string,
): Promise<{ readonly lines: readonly string[]; readonly json: object }> {
  const { planText } = await import('../../../../confine/text-plan.ts')
  const answered = await withAnswers(loaded, { machine, files: machineFiles, session: null, agent: null })
  const place = { cwd, home: machine.home, ...answered, agreed: [], byProgram: process.platform === 'linux' }
  const { groups, note } = planText(facts.source, facts, place)
  const parts = groups.map((group) => ({
    command: group.text,
    hosts: group.hosts.map((rule) => rule.pattern.text),
    ...(group.limited && { limited: group.limited.rules.map((rule) => rule.pattern.text), by: group.limited.programs }),
  }))
  const apart = groups.length > 1 ? ['network: the parts run one by one, each with its own hosts'] : []
  const lines = parts.flatMap(({ command, hosts, limited, by }) => [
    `network: ${visible(command)}: ${hosts.join(', ') || 'none'}`,
    ...(limited ? [`network: for ${by!.join(', ')} and its own helpers alone: ${limited.join(', ')}`] : []),
  ])
  return { lines: [...apart, ...lines, ...(note === null ? [] : [`network: ${visible(note)}`])], json: { parts, note } }
}

const STEPS = ['', 'denials and places', 'grants', 'explicit levels and the mode', 'declared kinds and built-in levels']

function draw(terminal: Terminal, { decision, facts }: CheckedCall, root: string): string {
  const deciding = decision.segments.find((part) => part.decision === decision.decision)
  const tree = facts
    ? shellTree(terminal, facts, decision, root)
    : decision.segments.flatMap((part) => partLines(terminal, part, '  '))
  const lines = [
    '',
    ...(facts ? [`  ${underlined(terminal, facts.source, deciding)}`, ''] : []),
    ...tree,
    '',
    ...(decision.decision === 'ask' ? [`Worst case: ${visible(worstCaseOf(decision, facts).text)}`] : []),
    `${verdict(terminal, decision)}  ${visible(decision.reason.message)}`,
    ...(decision.reason.remedy ? [`       ${visible(decision.reason.remedy)}`] : []),
    paint(
      terminal,
      'dim',
      `       ${decision.reason.code}, decided in step ${deciding?.step ?? 1}: ${STEPS[deciding?.step ?? 1]}`,
    ),
    ...decision.rules.map(({ rule, source }) => paint(terminal, 'dim', `       ${visible(rule)}  ${visible(source)}`)),
    '',
  ]
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`
}

function underlined(terminal: Terminal, text: string, part: PartDecision | undefined): string {
  const source = coverSecrets(text)
  if (!part?.span || part.decision === 'allow') return visibleLines(source).replaceAll('\n', '\n  ')
  const { start, end } = part.span
  const [before, middle, after] = [source.slice(0, start), source.slice(start, end), source.slice(end)]
  const marked = terminal.color ? paint(terminal, 'underline', visibleLines(middle)) : `>>${visibleLines(middle)}<<`
  return `${visibleLines(before)}${marked}${visibleLines(after)}`.replaceAll('\n', '\n  ')
}

function shellTree(terminal: Terminal, facts: ShellFacts, decision: Decision, root: string): string[] {
  const mask = secretMask(facts)
  const loose = decision.segments.filter((part) => part.command === undefined)
  const children = (parent: number | null): number[] =>
    facts.commands.flatMap((fact, index) => (fact.parent === parent ? [index] : []))
  /** The strictest decision of a command, its files and what it runs. */
  const worstOf = (index: number): Verdict => {
    const own = decision.segments.filter((part) => part.command === index).map((part) => part.decision)
    return [...own, ...children(index).map(worstOf)].reduce(stricter, 'allow')
  }
  const drawCommand = (index: number, indent: string, last: boolean): string[] => {
    const fact = facts.commands[index]!
    const parts = decision.segments.filter((part) => part.command === index)
    const inner = children(index)
    const rail = `${indent}${last ? '   ' : '│  '}`
    const branch = `${indent}${last ? '└─ ' : '├─ '}`
    return [
      ...commandLines(terminal, fact, parts, { branch, rail, root, mask, worst: worstOf(index) }),
      ...inner.flatMap((child, at) => drawCommand(child, rail, at === inner.length - 1)),
    ]
  }
  const top = children(null)
  return [
    ...loose.flatMap((part) => partLines(terminal, part, '  ')),
    ...top.flatMap((index, at) => drawCommand(index, '  ', at === top.length - 1)),
  ]
}

interface Drawing {
  readonly branch: string
  readonly rail: string
  readonly root: string
  readonly mask: (text: string) => string
  readonly worst: Verdict
}

function commandLines(
  terminal: Terminal,
  fact: CommandFact,
  parts: readonly PartDecision[],
  { branch, rail, root, mask, worst }: Drawing,
): string[] {
  const own = parts.find((part) => part.kind === 'command')
  const others = parts.filter((part) => part !== own)
  const via = fact.via.at(-1)
  const origin = via ? paint(terminal, 'dim', `${via.name} ▸ `) : ''
  const place = fact.cwd === null ? 'in a directory that cannot be known' : fact.cwd === root ? '' : `in ${fact.cwd}`
  const dynamic = fact.argv.some((word) => word.values === null)
  return [
    `${branch}${verdict(terminal, { decision: worst })} ${origin}${words(terminal, fact, mask)}${place ? paint(terminal, 'dim', `  ${visible(place)}`) : ''}`,
    ...(own
      ? [
          `${rail}   ${own.decision === worst ? '  ' : verdict(terminal, own)} ${visible(own.reason.message)} ${paint(terminal, 'dim', sources(own))}`,
        ]
      : []),
    ...(dynamic ? [paint(terminal, 'dim', `${rail}      ⟨…⟩ is only known when it runs`)] : []),
    ...others.flatMap((part) => partLines(terminal, part, `${rail}   `)),
  ]
}

function partLines(terminal: Terminal, part: PartDecision, indent: string): string[] {
  const text = `${part.kind} ${visible(part.text)}`
  return [
    `${indent}${verdict(terminal, part)} ${text}`,
    `${indent}      ${visible(part.reason.message)} ${paint(terminal, 'dim', sources(part))}`,
  ]
}

/** One cell per word as bash sees it, with unknown parts in angle brackets. */
function words(terminal: Terminal, fact: CommandFact, mask: Drawing['mask']): string {
  const assignments = fact.assignments
    .filter((assignment) => assignment.scope === 'command' || fact.argv.length === 0)
    .map((assignment) => `${assignment.name}=${assignment.value ? cell(assignment.value, mask) : '…'}`)
  const cells = fact.argv.map((word) => cell(word, mask))
  return [...assignments, ...cells].map((text) => paint(terminal, 'bold', text)).join(' ')
}

function cell(word: Word, mask: Drawing['mask']): string {
  if (word.values === null) return `⟨${visible(mask(word.text))}⟩`
  const shown = word.values
    .map(mask)
    .map((value) => (value === '' || /[\s'"⟨⟩|]/.test(value) ? JSON.stringify(value) : value))
  return visible(shown.join('|'))
}

function verdict(terminal: Terminal, { decision }: { readonly decision: PartDecision['decision'] }): string {
  return paint(terminal, VERDICT_STYLE[decision], decision.padEnd(5))
}

function sources(part: PartDecision): string {
  return part.rules.length > 0 ? `(${visible(part.rules.map((rule) => rule.source).join(', '))})` : ''
}

function secretMask(facts: ShellFacts | null): (text: string) => string {
  const plain = createRedactor()
  const secrets = new Set(facts?.commands.flatMap((fact) => secretsAmong(wordsOf(fact), plain.find)))
  const redactor = secrets.size === 0 ? plain : createRedactor(secrets)
  // A short value is masked only as a whole word: elsewhere it may be part of anything.
  return (text) => (secrets.has(text) ? MASK : redactor.redact(text))
}

function wordsOf({ argv, assignments }: CommandFact): string[][] {
  const set = assignments.map(({ name, value }) => [name, '=', value?.values?.[0] ?? value?.text ?? ''])
  return [...set, argv.map((word) => word.values?.[0] ?? word.text)]
}

function secretsAmong(texts: readonly string[][], find: ReturnType<typeof createRedactor>['find']): string[] {
  return texts.flatMap((words) => {
    let line = ''
    const starts = words.map((word) => {
      if (line !== '' && word !== '=' && !line.endsWith('=')) line += ' '
      const quote = /[\s'"]/.test(word) ? '"' : ''
      const start = line.length + quote.length
      line += quote + word + quote
      return start
    })
    const spans = find(line)
    return words.flatMap((word, index) =>
      spans.flatMap(({ start, end }) => {
        const part = word.slice(Math.max(0, start - starts[index]!), Math.max(0, end - starts[index]!))
        return part === '' ? [] : [part]
      }),
    )
  })
}
