/** `cordon try`: a tour in a throw-away project with its own home and state. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { resultText } from '../../../../call/tool-result.ts'
import { askText, askView, createCordon, type Prompter, terminalPrompter } from '../../../../session/cordon.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { isTerminalDevice, paint, type Terminal, visible } from '../../../terminal/terminal.ts'
import { commandText } from '../../arguments.ts'
import { type CommandContext, EXIT } from '../../usage.ts'

/** The folders of a tour, below one temporary folder. */
interface TourPlace {
  readonly base: string
  readonly project: string
  readonly home: string
}

interface TourStep {
  readonly title: string
  /** The words after `cordon`; null for the question, which an agent's session asks. */
  readonly words: readonly string[] | null
  /** The expected result in words; `isTrue` checks it outside the sandbox. */
  readonly promise: string
  readonly isTrue: (place: TourPlace, ran: TourRan) => boolean
}

/** A command's exit code and all output. */
interface TourRan {
  readonly code: number | null
  readonly text: string
}

const TOUR_KEY = 'API_KEY=this-is-the-secret-of-the-tour'
const PROFILE = 'export EDITOR=vi\n'
const NOTE = 'buy milk\n'
const CODE = 'add() { echo $(($1 + $2)); }\n'

/** The tour's files, by paths below its base. */
const TOUR_FILES: Readonly<Record<string, string>> = {
  'project/.env': `${TOUR_KEY}\n`,
  'project/src/sum.sh': CODE,
  'project/test.sh':
    '. ./src/sum.sh\n[ "$(add 2 2)" = 4 ] && echo "ok 1 - adds" || exit 1\n[ "$(add 2 -2)" = 0 ] && echo "ok 2 - subtracts" || exit 1\n',
  // A repository like `git init` creates, so that the tour does not need git.
  'project/.git/HEAD': 'ref: refs/heads/main\n',
  'project/.git/config': '[core]\n\trepositoryformatversion = 0\n',
  'project/.git/objects/info/.keep': '',
  'project/.git/refs/heads/.keep': '',
  'project/.git/info/exclude': '',
  'project/.git/hooks/README.sample': '',
  'home/.profile': PROFILE,
  'notes/todo.txt': NOTE,
}

const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

/** The steps before the question, and those after it. */
export const TOUR: readonly TourStep[] = [
  {
    title: 'An agent reads the secrets of the project',
    words: ['run', '--', 'cat', '.env'],
    promise: 'the secret was not read, and the attempt was reported',
    isTrue: (_, { text }) => !text.includes(TOUR_KEY) && text.includes('.env is a secret'),
  },
  {
    title: 'It leaves a hook that you would run later, outside',
    words: ['run', '--', 'sh', '-c', 'echo evil > .git/hooks/pre-commit'],
    promise: 'there is no hook',
    isTrue: ({ project }, { code }) => code !== 0 && !existsSync(join(project, '.git/hooks/pre-commit')),
  },
  {
    title: 'It writes outside of the project',
    words: ['run', '--', 'sh', '-c', 'echo evil >> ~/.profile; echo evil > ../notes/todo.txt'],
    promise: 'your files are as they were',
    isTrue: ({ base, home }) => read(join(home, '.profile')) === PROFILE && read(join(base, 'notes/todo.txt')) === NOTE,
  },
  {
    title: 'It sends something to a host that is not allowed',
    words: ['run', '--', 'sh', '-c', 'curl -sS https://evil.example || getent hosts evil.example'],
    promise: 'nothing was sent, and the host was named',
    isTrue: (_, { code, text }) => code !== 0 && text.includes('evil.example'),
  },
  {
    title: 'It runs the tests: no questions',
    words: ['run', '--', 'sh', 'test.sh'],
    promise: 'the tests pass',
    isTrue: (_, { code, text }) => code === 0 && text.includes('ok 2 - subtracts'),
  },
  {
    title: 'It asks you for the secret, by its file tool: you decide',
    words: null,
    promise: 'your answer was followed',
    isTrue: (_, { code }) => code === 0,
  },
  {
    title: 'It deletes your code',
    words: ['run', '--', 'rm', '-rf', 'src'],
    promise: 'the code is gone',
    isTrue: ({ project }, { code }) => code === 0 && !existsSync(join(project, 'src')),
  },
  {
    title: 'You undo that',
    words: ['undo', '--last'],
    promise: 'every byte of the code is back',
    isTrue: ({ project }) => read(join(project, 'src/sum.sh')) === CODE,
  },
  {
    title: 'What happened is on record',
    words: ['audit', 'tail'],
    promise: 'every call is recorded',
    isTrue: (_, { text }) => text.includes('.env') && text.includes('evil.example'),
  },
  {
    title: 'The record is intact',
    words: ['audit', 'verify'],
    promise: 'no line was changed or cut',
    isTrue: (_, { code, text }) => code === 0 && /all whole|no damage found/.test(text),
  },
]

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
  const { title, words, promise, isTrue } = step
  terminal.out(`\n${paint(terminal, 'bold', title)}\n`)
  if (words) terminal.out(`${paint(terminal, 'dim', '$')} cordon ${typed(words)}\n`)
  const ran = words ? cordon(place, terminal, words) : await ask(place, terminal, person)
  terminal.out(indented(place, ran.text))
  const kept = isTrue(place, ran)
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
