/** The results of the trials: a file from which a stopped run continues, and the page written from it. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { wrapped } from '../../scripts/lint-prose.ts'
import { type Agent, agents } from './agents.ts'
import { besides, INSIDE, INSTALLED, lackOf, SCENARIOS } from './scenarios.ts'

/** One session of an agent, with its problems; none when all is as it should be. */
export interface Trial {
  readonly agent: Agent['name']
  readonly row: string
  readonly name: string
  readonly guarded: boolean
  readonly by: 'root' | 'user'
  readonly problems: readonly string[]
  readonly seconds: number
  /** The day. */
  readonly on: string
  /** The agent in its version: another one is another trial. */
  readonly package?: string
}

export const sameTrial = (one: TrialKey, other: TrialKey): boolean =>
  one.agent === other.agent && one.name === other.name && one.guarded === other.guarded && one.by === other.by

type TrialKey = Pick<Trial, 'agent' | 'name' | 'guarded' | 'by'>

export function recordTrial(file: string, trial: Trial): void {
  appendFileSync(file, `${JSON.stringify(trial)}\n`)
}

/** The trials of a file; for a repeated one, the last. */
export function recordedTrials(file: string): readonly Trial[] {
  if (!existsSync(file)) return []
  const all = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const trials = all.map((line) => JSON.parse(line) as Trial)
  return trials.filter((trial, at) => !trials.slice(at + 1).some((later) => sameTrial(trial, later)))
}

/** What a whole run makes when every trial is as it should be. */
export function everyTrial(by: Trial['by']): readonly Trial[] {
  return agents.flatMap(({ name: agent }) => {
    const own = SCENARIOS.filter((scenario) => scenario.agents.includes(agent))
    const all = [...own, ...besides(agent).map((row) => ({ row, name: row }))]
    return all.flatMap(({ row, name }) =>
      [false, true].map((guarded) => ({ agent, row, name, guarded, by, problems: [], seconds: 0, on: '' })),
    )
  })
}

/** The page of the documentation. */
export function pageOf(recorded: readonly Trial[]): string {
  // Results of rows that were deleted since are left out.
  const trials = recorded.filter((trial) => everyTrial(trial.by).some((known) => sameTrial(known, trial)))
  const days = trials.map(({ on }) => on).sort()
  const section = (by: Trial['by']): readonly string[] => {
    const own = trials.filter((trial) => trial.by === by)
    const good = own.filter(({ problems }) => problems.length === 0).length
    const minutes = Math.round(own.reduce((sum, { seconds }) => sum + seconds, 0) / 60)
    return [
      `## As ${by === 'root' ? 'root' : 'another user'}`,
      '',
      `${good} of ${own.length} sessions passed, of ${everyTrial(by).length} in the matrix, in ${minutes} minutes.`,
      '',
      ...tableOf(agents, own),
      '',
    ]
  }
  const page = [
    '# Test results',
    '',
    '<!-- Written by npm test -- agents --matrix --control --page=docs/agents/tried.md -->',
    '',
    '`npm test -- agents --matrix --control` runs the real agents with a scripted model. Each cell is a session. “Blocked” was',
    'read from disk and from what the model received. “Control succeeded” means that the same attack works without Cordon. A',
    'number counts modes. In the row about a person’s own rules, the control is the agent that applies them itself.',
    '',
    `Versions: ${agents.map(({ package: named }) => named.replace(/^.*\/|-ai(?=@)/g, '')).join(', ')}.`,
    `Tested ${days[0]} to ${days.at(-1)}. Cursor’s program is in no package registry, so it is not included.`,
    '',
    ...section('root'),
    ...section('user'),
  ].join('\n')
  return wrapped(page)
}

/** The table in Markdown: `blocked` where no attack succeeded, with the control where it was run, and else why. */
export function tableOf(chosen: readonly Agent[], trials: readonly Trial[]): readonly string[] {
  const rows = [...new Set([INSTALLED, ...SCENARIOS.map(({ row }) => row), INSIDE])]
  const notes: string[] = []
  const every = everyTrial('root').filter(({ guarded }) => guarded)
  const cell = (row: string, { name }: Agent): string => {
    const own = trials.filter((trial) => trial.row === row && trial.agent === name)
    if (own.length > 0) return outcomeOf(own, every.filter((trial) => trial.row === row && trial.agent === name).length)
    const isTried = every.some((trial) => trial.row === row && trial.agent === name)
    const why = isTried ? undefined : lackOf(row, name)
    if (why === undefined) return 'not run'
    if (!notes.includes(why)) notes.push(why)
    return `– (${notes.indexOf(why) + 1})`
  }
  const lines = rows.map((row) => `| ${[row, ...chosen.map((agent) => cell(row, agent))].join(' | ')} |`)
  return [
    `| ${['', ...chosen.map(({ name }) => name)].join(' | ')} |`,
    `|${'---|'.repeat(chosen.length + 1)}`,
    ...lines,
    '',
    ...notes.map((note, index) => `${index + 1}. ${note[0]!.toUpperCase()}${note.slice(1)}.`),
  ]
}

function outcomeOf(trials: readonly Trial[], of: number): string {
  const failed = trials.filter(({ problems }) => problems.length > 0)
  if (failed.length > 0)
    return `FAILED: ${failed.map(({ name, guarded }) => `${name}${guarded ? '' : ' (bare)'}`).join(', ')}`
  const guarded = trials.filter((trial) => trial.guarded).length
  const times = guarded < of ? ` (${guarded} of ${of})` : guarded > 1 ? ` (${guarded})` : ''
  return trials.some((trial) => !trial.guarded) ? `blocked${times}, control succeeded` : `blocked${times}`
}
