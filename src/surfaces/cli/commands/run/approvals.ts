/** `cordon approvals`: answers pending questions of sessions and hooks at a terminal. */

import { answerAsk } from '../../../../questions/answer-ask.ts'
import { dropAsk, type GivenAnswer, type OpenAsk, openAsks } from '../../../../questions/asks.ts'
import { answerWaiting, requestUnmasking } from '../../../../questions/waiting.ts'
import { answerOf, askAtTerminal, askText } from '../../../../session/cordon.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { paint, printJson, type Terminal, visible } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const MAX_MINUTES = 30 * 24 * 60

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [given = 'list', id] = args.words
  const verb = oneOf(['list', 'answer', 'show', 'allow', 'drop'], given, 'name an action')
  const machine = thisMachine()
  const asks = openAsks(machine, Date.now())
  if (verb === 'list') return list(terminal, args, asks)
  if (verb === 'answer') return answer(terminal, machine, id === undefined ? asks : [askNamed(asks, id)])
  if (id === undefined) throw new UsageError(`name a question: cordon approvals ${verb} ID`)
  const ask = askNamed(asks, id)
  if (verb === 'show') return show(terminal, machine, ask)
  if (verb === 'drop' && ask.waiting) return tell(terminal, machine, ask, { kind: 'deny' })
  if (verb === 'drop') {
    dropAsk(machine, ask.id)
    terminal.out(`dropped ${ask.id}\n`)
    return EXIT.ok
  }
  return allow(terminal, machine, args, ask)
}

function askNamed(asks: readonly OpenAsk[], id: string): OpenAsk {
  const ask = asks.find((candidate) => candidate.id === id)
  if (!ask) throw new UsageError(`there is no question “${id}”; cordon approvals lists them`)
  return ask
}

function list(terminal: Terminal, args: Arguments, asks: readonly OpenAsk[]): number {
  if (args.flags.json) return printJson(terminal, asks)
  if (asks.length === 0) terminal.out('no questions are waiting\n')
  for (const ask of asks) terminal.out(`${describe(terminal, ask)}\n`)
  if (asks.length > 0) terminal.out('cordon approvals answer asks you about each of them\n')
  return EXIT.ok
}

/** Prints all of a question; masked text only if the waiting process can show it. */
async function show(terminal: Terminal, machine: Machine, ask: OpenAsk): Promise<number> {
  let shown = ask
  if (ask.view.masked > 0 && requestUnmasking(machine, ask.id)) {
    for (let tries = 0; tries < SHOW_TRIES && shown.view.masked > 0; tries++) {
      await new Promise((resolve) => setTimeout(resolve, SHOW_MS))
      shown = openAsks(machine, Date.now()).find(({ id }) => id === ask.id) ?? shown
    }
  }
  terminal.out(describe(terminal, shown, true))
  return EXIT.ok
}

/** A waiting process notices a request within a second. */
const SHOW_MS = 100
const SHOW_TRIES = 30

async function answer(terminal: Terminal, machine: Machine, asks: readonly OpenAsk[]): Promise<number> {
  if (asks.length === 0) terminal.out('no questions are waiting\n')
  for (const ask of asks) {
    const view = { ...ask.view, tool: `${ask.view.tool} for ${ask.host}`, where: ask.view.where ?? ask.project }
    const given = await askAtTerminal({ view, whole: view, grants: grantsOf(ask) }, new AbortController().signal)
    if (ask.waiting) {
      const choice = 'grant' in given ? ask.view.offers.indexOf(given.grant) : 0
      const { kind } = given
      const seconds = 'seconds' in given ? { seconds: given.seconds } : {}
      const message = 'message' in given ? { message: given.message } : {}
      tell(terminal, machine, ask, { kind, choice, ...seconds, ...message })
      continue
    }
    const done = await answerAsk(machine, ask, given, Date.now())
    terminal.out(`${paint(terminal, 'cyan', ask.id)}  ${visible(done)}\n`)
  }
  return EXIT.ok
}

/** Only the waiting process knows the details of its grants, so they are sent by name. */
function grantsOf({ waiting, view, suggestions }: OpenAsk): OpenAsk['suggestions'] {
  return waiting ? view.offers : suggestions
}

/** Answers a waiting process, unless another answer came first. */
function tell(terminal: Terminal, machine: Machine, ask: OpenAsk, answer: Omit<GivenAnswer, 'by'>): number {
  const problem = answerWaiting(machine, ask.id, { ...answer, by: 'approvals' })
  terminal.out(`${paint(terminal, 'cyan', ask.id)}  ${visible(problem ?? 'answered')}\n`)
  return problem === null ? EXIT.ok : EXIT.failed
}

/** Allows without the full prompt: one choice for a time, or this call once. */
async function allow(terminal: Terminal, machine: Machine, args: Arguments, ask: OpenAsk): Promise<number> {
  const minutes = number(textFlag(args, 'minutes') ?? '60', MAX_MINUTES, '--minutes')
  const grants = grantsOf(ask)
  const chosen = textFlag(args, 'choice')
  const choice = number(chosen ?? '1', Math.max(1, grants.length), '--choice')
  const saves = grants.length > 0 && (!ask.waiting || chosen !== undefined)
  // Agents choose the text behind an id, so show it before granting it.
  if (!args.flags.yes) {
    terminal.out(describe(terminal, ask))
    const question = saves ? `Grant ${choice} for ${minutes} minutes?` : `Allow it once, within ${minutes} minutes?`
    if (!(await confirm(terminal, `${question} [y/N] `))) {
      terminal.err('nothing was granted (--yes grants without asking)\n')
      return EXIT.failed
    }
  }
  const form = saves ? { answer: 'time', choice: choice - 1, seconds: minutes * 60 } : { answer: 'once' }
  const given = answerOf(ask.view, grants, form)
  if (given === null) throw new UsageError(`“${ask.id}” cannot be allowed this way; cordon approvals answer ${ask.id}`)
  if (ask.waiting) return tell(terminal, machine, ask, { kind: given.kind, choice: choice - 1, seconds: minutes * 60 })
  const done = await answerAsk(machine, ask, given, Date.now(), minutes)
  terminal.out(`${visible(done)} (in ${visible(ask.project)})\n`)
  return EXIT.ok
}

function describe(terminal: Terminal, { id, host, project, view }: OpenAsk, whole = false): string {
  const [title, ...rows] = askText(view, { whole }).split('\n')
  const about = `${paint(terminal, 'cyan', id)}  ${paint(terminal, 'bold', title!)}, for ${visible(host)} in ${visible(project)}`
  return `${about}\n${rows.map((row) => `        ${row}\n`).join('')}`
}

function number(text: string, most: number, flag: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > most) throw new UsageError(`${flag} takes a number from 1 to ${most}`)
  return value
}
