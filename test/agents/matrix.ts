/** The matrix: every agent in every situation, bare and guarded, and the table of what came of it. */

import { type Agent, agents, type Driven } from './agents.ts'
import { driveInside } from './inside.ts'
import { install } from './program.ts'
import { rehearsed } from './rehearsed.ts'
import type { Finding, Scenario } from './scenario.ts'
import { besides, INSIDE, INSTALLED, lackOf, SCENARIOS } from './scenarios.ts'
import { asNobody, inSession } from './session.ts'
import { recordedTrials, recordTrial, sameTrial, type Trial, tableOf } from './tried.ts'

export interface MatrixWishes {
  /** Agents and rows; empty for all. */
  readonly agents: readonly string[]
  readonly rows: readonly string[]
  /** With Cordon, and without it, where every attack has to succeed, or the row could not fail. */
  readonly guarded: readonly boolean[]
  /** So many at once, and one more of those that mostly wait beside them. */
  readonly jobs: number
  /** A file that keeps what came of each trial; what is in order there is not run again. */
  readonly results?: string
}

interface Job {
  readonly agent: Agent
  readonly row: string
  readonly name: string
  readonly isIdle?: true
  readonly run: (guarded: boolean) => Promise<readonly string[]>
}

/** Runs what is wished, says each outcome as it comes, and gives the lines of the table and the number of failures. */
export async function runMatrix(
  wishes: MatrixWishes,
  say: (line: string) => void,
): Promise<{ readonly table: readonly string[]; readonly failed: number; readonly ran: number }> {
  const by = asNobody ? 'user' : 'root'
  const past = wishes.results === undefined ? [] : recordedTrials(wishes.results)
  const isDone = (trial: Parameters<typeof sameTrial>[0] & Pick<Trial, 'package'>): boolean =>
    past.some((known) => known.problems.length === 0 && sameTrial(known, trial) && known.package === trial.package)
  const chosen = agents.filter(({ name }) => wishes.agents.length === 0 || wishes.agents.includes(name))
  const missing = new Map(chosen.flatMap((agent) => [[agent.name, install(agent)] as const]))
  for (const [name, why] of missing) if (why !== null) say(`${name}: not run, and that is a failure: ${why}`)
  const jobs = chosen
    .filter(({ name }) => missing.get(name) === null)
    .flatMap(jobsOf)
    .filter(({ row, name }) => wishes.rows.length === 0 || wishes.rows.includes(row) || wishes.rows.includes(name))
    .flatMap((job) => wishes.guarded.map((guarded) => ({ ...job, guarded })))
    .filter((job) => !isDone({ ...job, agent: job.agent.name, package: job.agent.package, by }))
  const trials: Trial[] = []
  const worker = async (next: Iterable<(typeof jobs)[number]>): Promise<void> => {
    for (const { agent, row, name, guarded, run } of next) {
      const started = performance.now()
      const problems = await run(guarded).catch((error: unknown) => [String(error)])
      const seconds = Math.round((performance.now() - started) / 1000)
      const on = new Date().toISOString().slice(0, 10)
      const trial: Trial = { agent: agent.name, row, name, guarded, by, problems, seconds, on, package: agent.package }
      trials.push(trial)
      if (wishes.results !== undefined) recordTrial(wishes.results, trial)
      const place = `${guarded ? 'with Cordon' : 'bare'}${asNobody ? ', as a user' : ''}`
      say(
        `${agent.name}, ${name}, ${place}: ${problems.length === 0 ? 'as it should be' : problems.join('; ')} (${seconds} s)`,
      )
    }
  }
  const lanes = [
    { lane: jobs.filter(({ isIdle }) => isIdle), width: wishes.jobs + 1 },
    { lane: jobs.filter(({ isIdle }) => !isIdle), width: wishes.jobs },
  ]
  await Promise.all(
    lanes.flatMap(({ lane, width }) => {
      const next = lane.values()
      return Array.from({ length: width }, () => worker(next))
    }),
  )
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
    isIdle: scenario.isIdle,
    run: (guarded: boolean) => driveRow(agent, scenario, guarded),
  }))
  const runs: Readonly<Record<string, typeof driveInside>> = { [INSTALLED]: rehearsed, [INSIDE]: driveInside }
  const beside = besides(agent.name).map((row) => ({
    agent,
    row,
    name: row,
    isIdle: undefined,
    run: (guarded: boolean) => runs[row]!(agent, guarded),
  }))
  return [...own, ...beside]
}

/** One row in one session; the problems found. */
export async function driveRow(
  agent: Driven,
  { plan, findings, isMute }: Scenario,
  guarded: boolean,
): Promise<readonly string[]> {
  const wanted = ({ what, guarded: must, bare = true }: Finding): boolean =>
    guarded ? must && !agent.keeps?.includes(what) : bare && !agent.stops?.includes(what)
  return inSession(agent, plan(agent as Agent), guarded, (world, said) => {
    const problems = findings.flatMap((finding) => {
      const expected = wanted(finding)
      return finding.happened(world) === expected ? [] : [expected ? `not so: ${finding.what}` : finding.what]
    })
    if (world.model.bodies.length < (guarded && isMute ? 0 : 2)) problems.push('the agent did not talk to the model')
    return problems.length === 0 ? [] : [...problems, `it said: ${said.slice(-300)}`]
  })
}

/** Cells that are neither tried nor explained. */
export function unexplained(): readonly string[] {
  const rows = new Map(SCENARIOS.map(({ row }) => [row, new Set<string>()]))
  for (const { row, agents: names } of SCENARIOS) for (const name of names) rows.get(row)!.add(name)
  return [...rows].flatMap(([row, tried]) =>
    agents.flatMap(({ name }) => (tried.has(name) || lackOf(row, name) ? [] : [`${name}, ${row}`])),
  )
}
