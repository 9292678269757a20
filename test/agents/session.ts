/** One scripted session of a real agent, bare or with Cordon's hook: its world, its start, and what is there afterwards. */

import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ModelServer, type ScriptedCall, startModelServer } from '../../src/surfaces/hook/host/scripted-model.ts'
import type { AgentWorld, Attempt, Driven } from './agents.ts'
import { driveByEditor, type EditorTurn } from './editor.ts'
import { cordon, endLeftovers, findable, findableAlone, programWords, runProgram } from './program.ts'
import { runAtTerminal, type ScreenAnswer } from './terminal.ts'

export interface SessionWorld extends AgentWorld {
  readonly base: string
  readonly model: ModelServer
}

/** An attempt in any agent's words, a call in this one's, or one that depends on what came back. */
export type Call = Attempt | ScriptedCall | ((body: string) => ScriptedCall)
/** Several are created at once. */
export type Step = Call | readonly Call[]

/** What one session does and is given. */
export interface Plan {
  readonly manifest: string
  /** Whose settings the hook goes to; absent: where the installation puts it. */
  readonly scope?: 'user' | 'project'
  /** The words that run Cordon, where they are not the usual ones. */
  readonly cordon?: (world: Pick<SessionWorld, 'base'>) => readonly string[]
  /** Files below the base, before Cordon is installed and after. `$BASE`, `$PROJECT` and `$PORT` stand for this session's. */
  readonly files?: Readonly<Record<string, string>>
  readonly later?: Readonly<Record<string, string>>
  readonly prepare?: (world: SessionWorld) => void
  readonly steps: readonly Step[]
  /** Steps of a conversation that begins with this word. */
  readonly other?: { readonly word: string; readonly steps: readonly Step[] }
  readonly args?: readonly string[]
  /** Further starts: the same conversation goes on, or another one begins. */
  readonly more?: readonly {
    readonly args?: readonly string[]
    readonly steps: readonly Step[]
  }[]
  /** For so long at most, in milliseconds; absent: ten. */
  readonly limitMs?: number
  /** Where it is started, below the base. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Words before the agent's own. */
  readonly under?: readonly string[]
  /** It runs at a terminal, until the last step was answered; with answers to its own first questions. */
  readonly screen?: readonly ScreenAnswer[]
  /** An editor drives it over the Agent Client Protocol, one turn each, with the given steps or those above. */
  readonly editor?: readonly (EditorTurn & { readonly steps?: readonly Step[] })[]
}

/** The user it runs as; root may choose another. */
export const asNobody: boolean = process.argv.includes('--as-user') && process.getuid?.() === 0
const NOBODY = 65534
/** The words that run something as somebody else. */
export const USER: readonly string[] = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--']

/** Runs it; what `look` finds in the world afterwards. Throws where Cordon cannot be installed. */
export async function inSession<T>(
  agent: Driven,
  plan: Plan,
  guarded: boolean,
  look: (world: SessionWorld, said: string, ms: number) => T,
): Promise<T> {
  // In /tmp Codex's own sandbox does not find its helper.
  const base = mkdtempSync(join(process.env.CORDON_AGENTS_TMP ?? '/var/tmp', `cordon-session-${agent.name}-`))
  const world = { base, home: join(base, 'home'), project: join(base, 'project') }
  let port = 0
  let steps = plan.steps
  // How many results there were when it was started: a session that goes on begins with those of before.
  let past: number | null = null
  let over: number | null = null
  /** With the places of this session in it. */
  const filled = <T>(value: T): T =>
    JSON.parse(
      JSON.stringify(value)
        .replaceAll('$PROJECT', world.project)
        .replaceAll('$BASE', base)
        .replaceAll('$PORT', String(port)),
    ) as T
  const turn = (steps: readonly Step[], index: number, tools: readonly string[], body: string) => {
    over = null
    const said = (one: Call): readonly ScriptedCall[] => {
      if (typeof one === 'function') return [one(body)]
      const call = filled(one)
      return 'tool' in call ? [call] : [agent.call(call, tools, { ...world, port }) ?? []].flat()
    }
    // A step of several takes as many results as it has calls, and what follows it as many again.
    let at = 0
    for (const step of steps) {
      const calls = [step].flat() as readonly Call[]
      if (at === index) return calls.flatMap(said)
      at += calls.length
      if (agent.follows === undefined) continue
      if (at === index) return agent.follows(lastMessages(body, calls.length)).flatMap(said)
      at += calls.length
    }
    over = Date.now()
    return []
  }
  const model = await startModelServer(
    Array.from({ length: 512 }, (_, index) => (tools: readonly string[], body: string) => {
      const { other } = plan
      if (other !== undefined && beginning(body).includes(other.word)) return turn(other.steps, index, tools, body)
      past ??= index
      return turn(steps, index - past, tools, body)
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
    if (asNobody) ownByUser(base)
    if (guarded) {
      put(base, { 'project/cordon.toml': plan.manifest })
      if (asNobody) ownByUser(base)
      const hook = ['install', agent.name, '--yes', ...(plan.scope ? [`--${plan.scope}`] : [])]
      for (const args of [['sign', '--yes'], ...(agent.name === 'cordon' ? [] : [hook])]) {
        const words = [...(asNobody ? USER : []), ...(plan.cordon?.(world) ?? cordon), ...args]
        // Where it finds the agent it starts it, which has its own row; Codex alone must be asked for its trust.
        const installing = args === hook && agent.name !== 'codex' ? { ...env, PATH: findableAlone } : env
        const run = await runProgram(words, world.project, installing)
        if (run.status !== 0) throw new Error(`cordon ${args.join(' ')} failed: ${run.stderr}`)
      }
    }
    put(base, plan.later ?? {})
    plan.prepare?.(at)
    if (asNobody) ownByUser(base)
    const started = performance.now()
    const before = [...(plan.under ?? []), ...(asNobody ? USER : []), ...programWords(agent)]
    const start = async (args: readonly string[]): Promise<string> => {
      const [words, cwd] = [[...before, ...filled(args)], join(base, plan.cwd ?? 'project')]
      const begins = ({ steps: next = plan.steps }): void => {
        past = null
        steps = next
      }
      if (plan.screen)
        return runAtTerminal(words, { cwd, env }, plan.screen, () => over !== null && Date.now() > over + 3000)
      if (plan.editor) return driveByEditor(words, cwd, env, plan.editor, begins, plan.limitMs)
      return (await runProgram(words, cwd, env, plan.limitMs)).said
    }
    let said = await start(plan.args ?? agent.args)
    for (const { args = agent.args, steps: next } of plan.more ?? []) {
      past = null
      steps = next
      said += await start(args)
    }
    const result = look(at, said, performance.now() - started)
    if (process.env.CORDON_AGENTS_KEEP) {
      put(base, { 'said.txt': said, 'bodies.jsonl': model.bodies.join('\n') })
      process.stderr.write(`kept ${base}\n`)
    }
    return result
  } finally {
    endLeftovers(world.home)
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
export const wasCreated = ({ project }: SessionWorld, name: string): boolean => existsSync(join(project, name))

function put(base: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), text.replaceAll('$BASE', base), { mode: text.startsWith('#!') ? 0o755 : 0o644 })
  }
}

/** Gives everything below to the process that runs it. */
export function ownByUser(path: string): void {
  chownSync(path, NOBODY, NOBODY)
  if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) ownByUser(join(path, name))
}

/** The last messages of a request in the protocol of chats. */
function lastMessages(body: string, count: number): readonly string[] {
  const { messages = [] } = JSON.parse(body) as { messages?: readonly unknown[] }
  return messages.slice(-count).map((message) => JSON.stringify(message))
}

/** What is before the model's first answer, whatever the protocol. */
function beginning(body: string): string {
  type Item = { readonly role?: string; readonly type?: string }
  const { messages, input, contents } = JSON.parse(body) as Record<string, readonly Item[]>
  const all = (messages ?? input ?? contents ?? []).map((item) =>
    // What one agent of Codex says to another.
    item.type === 'agent_message' ? { ...item, role: 'user' } : item,
  )
  const first = all.findIndex(({ role }) => role === undefined || role === 'assistant' || role === 'model')
  return JSON.stringify(all.slice(0, first === -1 ? all.length : first).filter(({ role }) => role === 'user'))
}
