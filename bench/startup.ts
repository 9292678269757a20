/** What one-shot commands cost from a cold process: against `node -e 0`, and `cordon run` against bubblewrap and the peers. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare, printTable, type Timed } from './measure.ts'
import { installPeers } from './peers.ts'

const COMMAND = 'git diff --stat HEAD~1 -- src/ && npm test -- --run src/policy 2>&1 | tail -n 20'
const ROUNDS = 25
/** The built program. */
export const CLI: string = join(import.meta.dirname, '../dist/cordon.cjs')

/** How much of `node -e 0` a command may take. */
const TARGETS: Readonly<Record<string, number>> = {
  'cordon --version': 1.1,
  'cordon check (file)': 1.5,
  'cordon check (command)': 1.5,
  'cordon hook (Bash)': 1.6,
  'cordon hook (Read)': 1.6,
  'cordon hook (a result)': 1.6,
}

/** How much of a peer's time `cordon run -- true` may take. */
const PEER_TARGETS: Readonly<Record<string, number>> = { 'codex sandbox': 1, 'sandbox-runtime': 0.2 }

/** Where everything happens: a project with the manifest that `cordon init` writes, signed, and an empty folder. */
export interface Place {
  readonly project: string
  readonly empty: string
  readonly scratch: string
  readonly env: NodeJS.ProcessEnv
}

/** Runs this part of the bench. */
export async function benchStartup(): Promise<void> {
  // Not in the temporary folder: codex refuses to keep its helper there.
  const base = mkdtempSync('/var/tmp/cordon-bench-')
  try {
    const place = makePlace(base)
    benchCommands(place)
    benchImport(place)
    benchRuns(place)
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

/** Makes the place, with a home and its own runtime directory. */
export function makePlace(base: string): Place {
  const [project, empty, home] = ['project', 'empty', 'home'].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ]
  for (const folder of [project, empty, home, join(project, 'src')]) mkdirSync(folder)
  writeFileSync(join(project, 'src/a.ts'), '')
  writeFileSync(join(project, 'package.json'), JSON.stringify({ scripts: { test: 'vitest', build: 'tsc' } }))
  const runtime = join(base, 'runtime')
  mkdirSync(runtime, { mode: 0o700 })
  const env = { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: runtime }
  for (const args of [['init'], ['sign', '--yes']])
    execFileSync(process.execPath, [CLI, ...args], { cwd: project, env, stdio: 'ignore' })
  return { project, empty, scratch: base, env }
}

function benchCommands({ project, env }: Place): void {
  const cordon = (args: readonly string[], input?: string): Timed => ({
    command: [process.execPath, CLI, ...args],
    options: { cwd: project, env, ...(input !== undefined && { input }) },
  })
  const hook = (tool: string, input: object, result?: object): Timed =>
    cordon(['hook', 'claude-code', '--root', project], hookInput(project, tool, input, result))
  const output = { stdout: 'On branch main\nnothing to commit, working tree clean\n', stderr: '' }
  const times = compare(
    {
      'node -e 0': { command: [process.execPath, '-e', '0'], options: { cwd: project, env } },
      'cordon --version': cordon(['--version']),
      'cordon check (file)': cordon(['check', '--json', '--tool', 'read', '--input', '{"path":"src/a.ts"}']),
      'cordon check (command)': cordon(['check', '--json', '--', COMMAND]),
      'cordon hook (Bash)': hook('Bash', { command: 'git status' }),
      'cordon hook (Read)': hook('Read', { file_path: join(project, 'src/a.ts') }),
      'cordon hook (a result)': hook('Bash', { command: 'git status' }, output),
    },
    ROUNDS,
  )
  const base = times['node -e 0']!
  printTable(`Start-up (median of ${ROUNDS}, in turns)`, [
    ['command', 'time', 'of node -e 0', 'target'],
    ...Object.entries(times).map(([name, time]) => {
      const target = TARGETS[name]
      return [name, `${time.toFixed(1)} ms`, `${(time / base).toFixed(2)}x`, target ? `<= ${target.toFixed(2)}x` : '']
    }),
  ])
}

/** What a program pays that imports the library, without opening a project. */
function benchImport({ project, env }: Place): void {
  const library = JSON.stringify(join(import.meta.dirname, '../dist/lib/index.js'))
  const script = (code: string): Timed => ({
    command: [process.execPath, '--input-type=module', '-e', code],
    options: { cwd: project, env },
  })
  const times = compare({ 'node -e 0': script('0'), "import 'cordon'": script(`await import(${library})`) }, ROUNDS)
  const took = times["import 'cordon'"]! - times['node -e 0']!
  const counted = `let n = 0
    const { registerHooks } = await import('node:module')
    registerHooks({ load: (url, context, next) => (url.includes('/dist/lib/') && n++, next(url, context)) })
    await import(${library})
    console.log(n)`
  const args = ['--input-type=module', '-e', counted]
  const modules = execFileSync(process.execPath, args, { cwd: project, env, encoding: 'utf8' }).trim()
  printTable(`Importing the library (median of ${ROUNDS}, in turns)`, [
    ['what', 'value', 'target'],
    ['time above node -e 0', `${took.toFixed(1)} ms`, '<= 150 ms'],
    ['modules', modules, '<= 250'],
  ])
}

/** What Claude Code gives its hook, before a call or with its result. */
export function hookInput(project: string, tool: string, input: object, result?: object): string {
  return JSON.stringify({
    // A session in which a command ran bare gets nothing more.
    session_id: result ? 'bench-results' : 'bench',
    cwd: project,
    hook_event_name: result ? 'PostToolUse' : 'PreToolUse',
    tool_name: tool,
    tool_input: input,
    tool_response: result,
  })
}

function benchRuns({ project, empty, scratch, env }: Place): void {
  const options = { cwd: empty, env }
  const run = [process.execPath, CLI, 'run', '--', 'true']
  const peers = installPeers().map(
    (peer) => [peer.name, { command: peer.command(['true'], { project: empty, scratch }), options }] as const,
  )
  const times = compare(
    {
      'node -e 0': { command: [process.execPath, '-e', '0'], options },
      'cordon run -- true': { command: run, options },
      'the same in a signed project': { command: run, options: { cwd: project, env } },
      ...Object.fromEntries(peers),
    },
    ROUNDS,
  )
  const own = times['cordon run -- true']!
  printTable(`One command in a sandbox, from a cold process (median of ${ROUNDS}, in turns)`, [
    ['command', 'time', 'cordon run takes', 'target'],
    ...Object.entries(times).map(([name, time]) => {
      const target = PEER_TARGETS[name]
      return [name, `${time.toFixed(1)} ms`, `${(own / time).toFixed(2)}x`, target ? `<= ${target.toFixed(2)}x` : '']
    }),
  ])
}
