/** `cordon approvals`: what waits for an answer, and what hooks had nobody to ask, answered at a terminal. */

import { allowOnce, dropAsk, grantAsk, type OpenAsk, openAsks } from '../../../runtime/asks/asks.ts'
import { answerAsk } from '../../../runtime/asks/waiting.ts'
import { thisMachine } from '../../../system/machine.ts'
import { paint, type Terminal, visible } from '../../terminal/terminal.ts'
import { oneOf, parseArguments, textFlag } from '../arguments.ts'
import { confirm } from '../confirm.ts'
import { type CommandContext, commandRow, EXIT, UsageError } from '../usage.ts'

const MAX_MINUTES = 30 * 24 * 60

/** Runs `cordon approvals list|allow|drop`. */
export async function run({ terminal, argv }: CommandContext): Promise<number> {
  const args = parseArguments(commandRow('approvals')!, argv)
  const [given = 'list', id] = args.words
  const verb = oneOf(['list', 'allow', 'drop'], given, 'say what to do')
  const machine = thisMachine()
  const asks = openAsks(machine, Date.now())
  if (verb === 'list') {
    if (args.flags.json) terminal.out(`${JSON.stringify(asks)}\n`)
    else if (asks.length === 0) terminal.out('nothing waits for an answer\n')
    for (const ask of args.flags.json ? [] : asks) terminal.out(describe(terminal, ask))
    return EXIT.ok
  }
  if (id === undefined) throw new UsageError(`name what is meant: cordon approvals ${verb} ID`)
  const ask = asks.find((candidate) => candidate.id === id)
  if (!ask) throw new UsageError(`nothing waits under “${id}”; cordon approvals lists what does`)
  if (verb === 'drop') {
    const problem = ask.waiting ? answerAsk(machine, ask.id, { kind: 'deny', by: 'terminal' }) : null
    if (problem !== null) throw new UsageError(problem)
    if (!ask.waiting) dropAsk(machine, ask.id)
    terminal.out(ask.waiting ? `said no to ${ask.id}\n` : `dropped ${ask.id}\n`)
    return EXIT.ok
  }
  const minutes = number(textFlag(args, 'minutes') ?? '60', MAX_MINUTES, '--minutes')
  const offered = ask.waiting?.request.suggestions ?? ask.suggestions
  const chosen = textFlag(args, 'choice')
  const choice = number(chosen ?? '1', Math.max(1, offered.length), '--choice')
  // Whoever waits is answered for this once, unless a suggestion was named.
  const once = args.flags.once === true || (ask.waiting !== undefined && chosen === undefined)
  if (once && !ask.waiting && ask.once === undefined)
    throw new UsageError(`${ask.id} cannot be allowed once: grant one of its suggestions`)
  const suggestion = once ? undefined : offered[choice - 1]
  // The id comes from the agent's own words, so what it stands for is shown before it is granted.
  if (!args.flags.yes) {
    terminal.out(describe(terminal, ask))
    const question = suggestion
      ? `Grant ${choice} for ${minutes} minutes?`
      : ask.waiting
        ? 'Allow it once?'
        : `Allow it once, within ${minutes} minutes?`
    if (!(await confirm(terminal, `${question} [y/N] `))) {
      terminal.err('nothing was granted (--yes grants without asking)\n')
      return EXIT.failed
    }
  }
  if (ask.waiting) {
    const seconds = minutes * 60
    const answer = suggestion ? { kind: 'time' as const, choice: choice - 1, seconds } : { kind: 'once' as const }
    const problem = answerAsk(machine, ask.id, { ...answer, by: 'terminal' })
    if (problem !== null) throw new UsageError(problem)
    terminal.out(`said yes to ${ask.id}${suggestion ? `, for ${minutes} minutes` : ', once'}\n`)
    return EXIT.ok
  }
  if (!suggestion) {
    allowOnce(machine, ask, minutes, Date.now())
    terminal.out(`allowed once, within ${minutes} minutes, in ${visible(ask.project)}: ${visible(ask.subject)}\n`)
    return EXIT.ok
  }
  grantAsk(machine, ask, suggestion, minutes, Date.now())
  terminal.out(
    `granted for ${minutes} minutes in ${visible(ask.project)}: ${suggestion.kind} ${visible(suggestion.value)} (${visible(suggestion.admits)})\n`,
  )
  return EXIT.ok
}

/** The ask with everything that an answer is about. */
function describe(terminal: Terminal, ask: OpenAsk): string {
  const { id, host, tool, subject, reason, project, waiting } = ask
  const offers = (waiting?.request.suggestions ?? ask.suggestions).map(
    ({ kind, value, admits }, index) => `        ${index + 1}. ${kind} ${visible(value)} (${visible(admits)})\n`,
  )
  if (waiting) offers.push('        once: whoever asked waits for it\n')
  else if (ask.once !== undefined) offers.push('        --once: this very call, the next time it is tried\n')
  return `${paint(terminal, 'cyan', id)}  ${visible(host)}: ${visible(tool)}  ${visible(subject)}
        ${visible(reason)}  ${paint(terminal, 'dim', visible(project))}
${offers.join('')}`
}

function number(text: string, most: number, flag: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > most) throw new UsageError(`${flag} takes a number from 1 to ${most}`)
  return value
}
