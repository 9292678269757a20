/** One scripted session of a real agent, bare or with Cordon's hook: its world, its start, and what is there afterwards. */

import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import {
  type ModelServer,
  type ScriptedCall,
  startModelServer,
} from '../../src/surfaces/hook/install/scripted-model.ts'
import type { Agent, AgentWorld, Attempt } from './agents.ts'
import { cordon, findable, programOf, runProgram } from './program.ts'

export interface SessionWorld extends AgentWorld {
  readonly base: string
  readonly model: ModelServer
}

/** An attempt in any agent's words, or a call in this one's; several are made at once. */
export type Step = Attempt | ScriptedCall | readonly (Attempt | ScriptedCall)[]

/** What one session does and is given. */
export interface Plan {
  readonly manifest: string
  /** Files below the base; `$BASE` stands for it. Before Cordon is installed, and after. */
  readonly files?: Readonly<Record<string, string>>
  readonly later?: Readonly<Record<string, string>>
  readonly prepare?: (world: SessionWorld) => void
  readonly steps: readonly Step[]
  /** Steps of a conversation whose first message holds this word. */
  readonly other?: { readonly word: string; readonly steps: readonly Step[] }
  readonly args?: readonly string[]
  /** A second start, in which the same session goes on. */
  readonly again?: { readonly args: readonly string[]; readonly steps: readonly Step[] }
  /** For so long at most, in milliseconds; absent: three minutes. */
  readonly limitMs?: number
  /** Where it is started, below the base. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Words before the agent's own. */
  readonly under?: readonly string[]
}

/** Who runs it; root may run it as somebody else. */
export const asNobody: boolean = process.argv.includes('--as-user') && process.getuid?.() === 0
const NOBODY = 65534
const USER = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']

/** Runs it; what `look` finds in the world afterwards. Throws where Cordon cannot be installed. */
export async function inSession<T>(
  agent: Agent,
  plan: Plan,
  guarded: boolean,
  look: (world: SessionWorld, said: string, ms: number) => T,
): Promise<T> {
  // In /tmp Codex's own sandbox does not find its helper.
  const base = mkdtempSync(join(process.env.CORDON_AGENTS_TMP ?? '/var/tmp', `cordon-session-${agent.name}-`))
  const world = { base, home: join(base, 'home'), project: join(base, 'project') }
  let port = 0
  let [steps, past] = [plan.steps, 0]
  const turn = (steps: readonly Step[], index: number, tools: readonly string[]): readonly ScriptedCall[] => {
    // A step of several takes as many results as it has calls.
    let at = 0
    for (const step of steps) {
      const calls = [step].flat() as readonly (Attempt | ScriptedCall)[]
      if (at === index)
        return calls.flatMap((one) => ('tool' in one ? one : (agent.call(one, tools, { ...world, port }) ?? [])))
      at += calls.length
    }
    return []
  }
  const model = await startModelServer(
    Array.from({ length: 256 }, (_, index) => (tools: readonly string[], body: string) => {
      const { other } = plan
      if (other !== undefined && firstMessage(body).includes(other.word)) return turn(other.steps, index, tools)
      return turn(steps, index - past, tools)
    }),
  )
  port = model.port
  const at: SessionWorld = { ...world, port, model }
  try {
    for (const folder of [world.home, join(world.project, 'src')]) mkdirSync(folder, { recursive: true })
    put(base, { 'project/.env': `TOKEN=${SECRET}\n`, 'project/src/a.txt': 'a\n', ...plan.files })
    for (const words of [
      ['init', '-q'],
      ['add', 'src'],
      ['-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'x'],
    ])
      spawnSync('git', ['-C', world.project, ...words])
    agent.prepare(at)
    const env: Record<string, string> = {
      PATH: findable,
      HOME: world.home,
      TERM: 'dumb',
      CI: '1',
      CORDON_KEYCHAIN: 'off',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
      ...agent.env(at),
      [agent.key.name]: 'scripted',
      ...plan.env,
    }
    if (asNobody) own(base)
    if (guarded) {
      put(base, { 'project/cordon.toml': plan.manifest })
      if (asNobody) own(base)
      for (const args of [
        ['sign', '--yes'],
        ['install', agent.name, '--yes'],
      ]) {
        const [program = '', ...words] = [...(asNobody ? USER : []), ...cordon, ...args]
        const run = spawnSync(program, words, { cwd: world.project, env, encoding: 'utf8' })
        if (run.status !== 0) throw new Error(`cordon ${args.join(' ')} failed: ${run.stderr}`)
      }
    }
    put(base, plan.later ?? {})
    plan.prepare?.(at)
    if (asNobody) own(base)
    const started = performance.now()
    const before = [...(plan.under ?? []), ...(asNobody ? USER : []), programOf(agent)]
    const start = (args: readonly string[]): Promise<string> =>
      runProgram([...before, ...args], join(base, plan.cwd ?? 'project'), env, plan.limitMs)
    let said = await start(plan.args ?? agent.args)
    if (plan.again) {
      past = steps.flat().length
      steps = plan.again.steps
      said += await start(plan.again.args)
    }
    const result = look(at, said, performance.now() - started)
    if (process.env.CORDON_AGENTS_KEEP) {
      put(base, { 'said.txt': said, 'bodies.jsonl': model.bodies.join('\n') })
      process.stderr.write(`kept ${base}\n`)
    }
    return result
  } finally {
    await model.close()
    if (!process.env.CORDON_AGENTS_KEEP) rmSync(base, { recursive: true, force: true })
  }
}

/** In the project's .env. */
export const SECRET = 'hunter2-of-the-session'

/** Whether the model was ever sent a text. */
export const heard = ({ model }: SessionWorld, text: string): boolean =>
  model.bodies.some((body) => body.includes(text))

/** Whether there is a file below the project. */
export const made = ({ project }: SessionWorld, name: string): boolean => existsSync(join(project, name))

function put(base: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), text.replaceAll('$BASE', base), { mode: text.startsWith('#!') ? 0o755 : 0o644 })
  }
}

function own(path: string): void {
  chownSync(path, NOBODY, NOBODY)
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) own(join(path, name))
}

/** The first message of the person in a request, whatever its protocol. */
function firstMessage(body: string): string {
  const { messages, input, contents } = JSON.parse(body) as Record<string, readonly { readonly role?: string }[]>
  return JSON.stringify((messages ?? input ?? contents ?? []).find(({ role }) => role === 'user') ?? '')
}
