/** What a session of a real agent costs under the hook: twenty calls of a scripted model, bare and guarded in turns. */

import { type Agent, agents } from '../test/agents/agents.ts'
import { install } from '../test/agents/program.ts'
import { inSession, type Plan, type Step } from '../test/agents/session.ts'
import { median, printTable } from './measure.ts'

const ROUNDS = 3
const CALLS = 20
/** Of the bare session. */
const TARGET = 1.3

const MEASURED: readonly Agent['name'][] = ['claude-code', 'codex', 'gemini']
const MANIFEST = 'schema_version = 1\n[permission]\nmode = "contained"\n'

/** Three commands and a read, again and again. */
function steps(): readonly Step[] {
  const round: readonly Step[] = [
    { kind: 'shell', command: 'git status' },
    { kind: 'shell', command: 'ls -la src' },
    { kind: 'read', path: 'src/a.txt' },
    { kind: 'shell', command: 'grep -rn a src' },
  ]
  return Array.from({ length: CALLS }, (_, index) => round[index % round.length]!)
}

/** Runs this part of the bench. */
export async function benchAgents(): Promise<void> {
  const plan: Plan = { manifest: MANIFEST, steps: steps() }
  const rows: string[][] = []
  for (const agent of agents.filter(({ name }) => MEASURED.includes(name))) {
    const missing = install(agent)
    if (missing !== null) throw new Error(missing)
    const times: Record<'bare' | 'guarded', number[]> = { bare: [], guarded: [] }
    for (let round = 0; round < ROUNDS; round++)
      for (const way of ['bare', 'guarded'] as const)
        times[way].push(
          await inSession(agent, plan, way === 'guarded', ({ model }, said, ms) => whole(model.bodies, said, ms)),
        )
    const [bare, guarded] = [median(times.bare), median(times.guarded)]
    rows.push([
      agent.name,
      `${(bare / 1000).toFixed(2)} s`,
      `${(guarded / 1000).toFixed(2)} s`,
      `${(guarded / bare).toFixed(2)}x`,
      `<= ${TARGET.toFixed(2)}x`,
    ])
  }
  printTable(`A session of ${CALLS} calls (median of ${ROUNDS}, in turns)`, [
    ['agent', 'bare', 'with the hook', 'ratio', 'target'],
    ...rows,
  ])
}

/** The time of a session in which every call was made. */
function whole(bodies: readonly string[], said: string, ms: number): number {
  if (bodies.length <= CALLS)
    throw new Error(`only ${bodies.length} turns of ${CALLS + 1} were made: ${said.slice(-300)}`)
  return ms
}
