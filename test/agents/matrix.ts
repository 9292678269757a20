/** The matrix: every agent in every situation, bare and guarded, and the table of what came of it. */

import { type Agent, agents, type Driven } from './agents.ts'
import { driveInside } from './inside.ts'
import { install } from './program.ts'
import { rehearsed } from './rehearsed.ts'
import type { Finding, Scenario } from './scenario.ts'
import { LACKS, SCENARIOS } from './scenarios.ts'
import { asNobody, inSession } from './session.ts'

/** What came of one cell: each trial with its problems, none when all is as it should be. */
interface Trial {
  readonly agent: Agent['name']
  readonly row: string
  readonly name: string
  readonly guarded: boolean
  readonly problems: readonly string[]
}

export interface MatrixWishes {
  /** Agents and rows; empty for all. */
  readonly agents: readonly string[]
  readonly rows: readonly string[]
  /** Also without Cordon, where every attack has to succeed, or the row could not fail. */
  readonly control: boolean
  /** So many at once. */
  readonly jobs: number
}

interface Job {
  readonly agent: Agent
  readonly row: string
  readonly name: string
  readonly run: (guarded: boolean) => Promise<readonly string[]>
}

/** Runs what is wished, says each outcome as it comes, and gives the lines of the table and the number of failures. */
export async function runMatrix(
  wishes: MatrixWishes,
  say: (line: string) => void,
): Promise<{ readonly table: readonly string[]; readonly failed: number; readonly ran: number }> {
  const chosen = agents.filter(({ name }) => wishes.agents.length === 0 || wishes.agents.includes(name))
  const missing = new Map(chosen.flatMap((agent) => [[agent.name, install(agent)] as const]))
  for (const [name, why] of missing) if (why !== null) say(`${name}: not run, and that is a failure: ${why}`)
  const jobs = chosen
    .filter(({ name }) => missing.get(name) === null)
    .flatMap(jobsOf)
    .filter(({ row, name }) => wishes.rows.length === 0 || wishes.rows.includes(row) || wishes.rows.includes(name))
    .flatMap((job) => (wishes.control ? [false, true] : [true]).map((guarded) => ({ ...job, guarded })))
  const trials: Trial[] = []
  const next = jobs[Symbol.iterator]()
  const worker = async (): Promise<void> => {
    for (const { agent, row, name, guarded, run } of next) {
      const problems = await run(guarded).catch((error: unknown) => [String(error)])
      trials.push({ agent: agent.name, row, name, guarded, problems })
      const place = `${guarded ? 'with Cordon' : 'bare'}${asNobody ? ', as a user' : ''}`
      say(`${agent.name}, ${name}, ${place}: ${problems.length === 0 ? 'as it should be' : problems.join('; ')}`)
    }
  }
  await Promise.all(Array.from({ length: wishes.jobs }, worker))
  const broken = trials.filter(({ problems }) => problems.length > 0).length
  const absent = [...missing.values()].filter((why) => why !== null).length
  return { table: tableOf(chosen, trials), failed: broken + absent, ran: trials.length }
}

/** What one agent is put through. */
function jobsOf(agent: Agent): readonly Job[] {
  const own = SCENARIOS.filter((scenario) => scenario.agents.includes(agent.name)).map((scenario) => ({
    agent,
    row: scenario.row,
    name: scenario.name,
    run: (guarded: boolean) => driveRow(agent, scenario, guarded),
  }))
  return [
    { agent, row: INSTALLED, name: INSTALLED, run: (guarded) => rehearsed(agent, guarded) },
    ...own,
    { agent, row: INSIDE, name: INSIDE, run: (guarded) => driveInside(agent, guarded) },
  ]
}

const INSTALLED = 'install starts it: root, folder, worktree'
const INSIDE = 'cordon run -- AGENT'

/** One row in one session; the problems found. */
export async function driveRow(
  agent: Driven,
  { plan, findings, isMute }: Scenario,
  guarded: boolean,
): Promise<readonly string[]> {
  const wanted = ({ what, guarded: must, bare = true }: Finding): boolean =>
    guarded ? must : bare && !agent.stops?.includes(what)
  return inSession(agent, plan(agent as Agent), guarded, (world, said) => {
    const problems = findings.flatMap((finding) => {
      const expected = wanted(finding)
      return finding.happened(world) === expected ? [] : [expected ? `not so: ${finding.what}` : finding.what]
    })
    if (world.model.bodies.length < (guarded && isMute ? 0 : 2)) problems.push('the agent did not talk to the model')
    return problems.length === 0 ? [] : [...problems, `it said: ${said.slice(-300)}`]
  })
}

/** The table in Markdown: `held` where nothing happened that must not, with the control where it was run, and else why. */
function tableOf(chosen: readonly Agent[], trials: readonly Trial[]): readonly string[] {
  const rows = [...new Set([INSTALLED, ...SCENARIOS.map(({ row }) => row), INSIDE])]
  const notes: string[] = []
  const cell = (row: string, { name }: Agent): string => {
    const own = trials.filter((trial) => trial.row === row && trial.agent === name)
    if (own.length > 0) return outcomeOf(own)
    const why = LACKS[row]?.[name]
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
    ...notes.map((note, index) => `(${index + 1}) ${note}.`),
  ]
}

function outcomeOf(trials: readonly Trial[]): string {
  const failed = trials.filter(({ problems }) => problems.length > 0)
  if (failed.length > 0)
    return `FAILED: ${failed.map(({ name, guarded }) => `${name}${guarded ? '' : ' (bare)'}`).join(', ')}`
  const guarded = trials.filter((trial) => trial.guarded).length
  const times = guarded > 1 ? ` (${guarded})` : ''
  return trials.some((trial) => !trial.guarded) ? `held${times}, control broke` : `held${times}`
}

/** Cells that are neither tried nor explained. */
export function unexplained(): readonly string[] {
  const rows = new Map(SCENARIOS.map(({ row }) => [row, new Set<string>()]))
  for (const { row, agents: names } of SCENARIOS) for (const name of names) rows.get(row)!.add(name)
  return [...rows].flatMap(([row, tried]) =>
    agents.flatMap(({ name }) => (tried.has(name) || LACKS[row]?.[name] ? [] : [`${name}, ${row}`])),
  )
}
