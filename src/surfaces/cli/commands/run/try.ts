/** `cordon try`: a tour in a throw-away project with its own home and state. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { resultText } from '../../../../call/tool-result.ts'
import { askText, askView, createCordon, type Prompter, terminalPrompter } from '../../../../session/cordon.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { isTerminalDevice, paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { commandText } from '../../arguments.ts'
import { TOUR, TOUR_FILES, type TourPlace, type TourRan, type TourStep } from '../../tour.ts'
import { type CommandContext, EXIT } from '../../usage.ts'

/** Long enough to read a step, short enough for a tour of twenty seconds. */
const PAUSE_MS = 1200
const ENDS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const person = isTerminalDevice(0) && isTerminalDevice(1) && !args.flags.yes
  const place = makePlace()
  const remove = () => rmSync(place.base, { recursive: true, force: true })
  const leave = (signal: NodeJS.Signals) => {
    remove()
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of ENDS) process.once(signal, leave)
  try {
    terminal.out(`${paint(terminal, 'bold', 'A temporary project')} with its own home: your files are not touched.\n`)
    const begun = [cordon(place, terminal, ['init']), cordon(place, terminal, ['sign', '--yes'])]
    for (const ran of begun) if (ran.code !== 0) return stopped(terminal, place, ran)
    let kept = 0
    for (const step of TOUR) {
      kept += (await takeStep(terminal, place, step, person)) ? 1 : 0
      if (person) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
    const all = kept === TOUR.length
    terminal.out(
      `\n${paint(terminal, all ? 'green' : 'red', `${kept} of ${TOUR.length} as promised`)}${all ? '. In your own project: cordon init, then cordon run -- COMMAND' : '; cordon doctor reports what this machine lacks'}\n`,
    )
    return all ? EXIT.ok : EXIT.failed
  } finally {
    for (const signal of ENDS) process.removeListener(signal, leave)
    remove()
  }
}

function makePlace(): TourPlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-try-')))
  const place = { base, project: join(base, 'project'), home: join(base, 'home') }
  for (const [path, text] of Object.entries(TOUR_FILES)) {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  return place
}

async function takeStep(terminal: Terminal, place: TourPlace, step: TourStep, person: boolean): Promise<boolean> {
  const { title, words, promise, holds } = step
  terminal.out(`\n${paint(terminal, 'bold', title)}\n`)
  if (words) terminal.out(`${paint(terminal, 'dim', '$')} cordon ${typed(words)}\n`)
  const ran = words ? cordon(place, terminal, words) : await ask(place, terminal, person)
  terminal.out(indented(place, ran.text))
  const kept = holds(place, ran)
  terminal.out(
    `${paint(terminal, kept ? 'green' : 'red', kept ? '✓' : '✗')} ${kept ? promise : `not so: ${promise}`}\n`,
  )
  return kept
}

function typed(words: readonly string[]): string {
  const at = words.indexOf('--')
  return at < 0 ? words.join(' ') : `${words.slice(0, at + 1).join(' ')} ${commandText([...words.slice(at + 1)])}`
}

/** Output with the tour's folder shortened and control characters removed. */
function indented(place: TourPlace, text: string): string {
  const lines = text.replaceAll(place.base, '~').trimEnd().split('\n')
  return text === '' ? '' : lines.map((line) => `  ${visible(line)}\n`).join('')
}

function cordon(place: TourPlace, terminal: Terminal, words: readonly string[]): TourRan {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [process.argv[1]!, ...words], {
    cwd: place.project,
    env: environment(place, terminal),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (error) throw error
  return { code: status, text: `${stdout}${stderr}` }
}

function environment({ base, home }: TourPlace, { width }: Terminal): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    XDG_STATE_HOME: join(base, 'state'),
    XDG_CONFIG_HOME: join(base, 'config'),
    CORDON_KEYCHAIN: 'off',
    COLUMNS: String(width),
  }
}

/** Simulates an agent that reads a secret by name. Asks at a terminal; otherwise the tour answers yes. */
async function ask(place: TourPlace, terminal: Terminal, person: boolean): Promise<TourRan> {
  const own = thisMachine()
  const machine: Machine = {
    ...own,
    cwd: place.project,
    home: place.home,
    stateDir: join(place.base, 'state/cordon'),
    configDir: join(place.base, 'config/cordon'),
    env: environment(place, terminal),
  }
  let said: string | null = null
  const inner = terminalPrompter()
  const prompter: Prompter = {
    name: 'terminal',
    ask: async (request, signal) => {
      const answer = person ? await inner.ask(request, signal) : ({ kind: 'once' } as const)
      if (!person) terminal.out(indented(place, `${askText(askView(request))}\n\ny: once`))
      said = answer.kind
      return answer
    },
  }
  const opened = await createCordon({ project: place.project, machine, prompter })
  try {
    const result = await opened.openSession().call('read', { path: '.env' })
    const yes = said !== null && !String(said).startsWith('deny')
    const text = resultText(result)
    return { code: said !== null && yes === (result.status === 'done') ? 0 : 1, text: `${yes ? '' : 'no: '}${text}` }
  } finally {
    await opened.close()
  }
}

/** If the tour cannot start, prints the program's own error. */
function stopped(terminal: Terminal, place: TourPlace, { text }: TourRan): number {
  terminal.err(indented(place, text))
  return EXIT.fault
}
