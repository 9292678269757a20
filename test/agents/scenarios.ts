/** What real agents are put through under the hook: one row a situation, with what must come of it and what comes of it without Cordon. */

import { spawnSync } from 'node:child_process'
import { cpSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Agent, codexScript } from './agents.ts'
import { ATTEMPTS } from './attempts.ts'
import { DELEGATED } from './delegated.ts'
import { cordon } from './program.ts'
import { DENIED, leaked, type Name, pushed, type Scenario, sh, WORK, work, worked } from './scenario.ts'
import { MODES } from './scenario-modes.ts'
import { OWN } from './scenario-own.ts'
import { RIVALS } from './scenario-rivals.ts'
import { OWN_RULES } from './scenario-rules.ts'
import { AT_TERMINAL } from './scenario-screen.ts'
import { UNSEEN } from './scenario-unseen.ts'
import { type Call, heard, type Plan, type Step, wasCreated } from './session.ts'

const EVERY: readonly Name[] = ['claude-code', 'codex', 'gemini', 'opencode', 'copilot', 'pi', 'qwen', 'cline']

const FIVE: Step = [sh('touch allowed.txt'), sh(DENIED), sh('cat .env'), sh('touch two.txt'), sh(DENIED)]
const LAST = 'echo the-last-of-them'
/** Ten at a time, so that answers come late if they ever do, and no two alike, since some agents stop at those. */
const MANY: readonly Step[] = [
  ...Array.from({ length: 20 }, (_, round) => Array.from({ length: 10 }, (_, at) => sh(`${DENIED}-${round}-${at}`))),
  sh(LAST),
]

/** A fifth of a core, where the process that runs this may make one; it goes with all that the session left in it. */
const SLOW = `for place in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
  group=$place/cordon-agents-$$
  mkdir -p $group || continue
  if echo 20000 > $group/cpu.cfs_quota_us || echo '20000 100000' > $group/cpu.max; then
    sh -c 'echo $$ > "$0/cgroup.procs" && exec "$@"' $group "$@"
    code=$?
  fi
  for try in 1 2 3 4 5 6 7 8 9 10; do
    kill $(cat $group/cgroup.procs)
    rmdir $group && break
    sleep 1
  done
  [ -n "$code" ] && exit $code
done 2>/dev/null`

/** A Cordon that only this session has. */
function copyCordon(base: string): void {
  const isKept = (path: string): boolean => !path.includes('.code-cache')
  cpSync(dirname(cordon[1]), join(base, 'own'), { recursive: true, filter: isKept })
}

/** How each goes on with its last session. */
const RESUMED: Readonly<Partial<Record<Name, (agent: Agent) => readonly string[]>>> = {
  'claude-code': ({ args }) => [...args, '--continue'],
  codex: () => ['exec', 'resume', '--last', '--skip-git-repo-check', '-c', 'sandbox_mode="danger-full-access"', 'on'],
  gemini: ({ args }) => [...args, '--resume', 'latest'],
  opencode: () => ['run', '-c', '-m', 'scripted/scripted', 'on'],
  copilot: ({ args }) => [...args, '--continue'],
  pi: ({ args }) => ['--continue', ...args],
  qwen: ({ args }) => [...args, '--continue'],
}

const inBackground = (tool: string, more: Readonly<Record<string, unknown>>): readonly Step[] => [
  ...['touch allowed.txt', DENIED, 'cat .env > src/shown.txt'].map((command) => ({
    tool,
    input: { command, description: 'x', ...more },
  })),
  sh('sleep 2'),
  sh('cat src/shown.txt'),
]
/** What is typed into a shell that is open already. */
const typed =
  (chars: string): Call =>
  (body) => ({
    ...codexScript('write_stdin', {
      session_id: Number(/session_id\W+(\d+)/.exec(body)?.[1] ?? 0),
      chars: `${chars}\n`,
      yield_time_ms: 2000,
    }),
  })
/** Commands beside the conversation: in the background, typed into an open shell, or in a process that stays. */
const BESIDE: Readonly<Partial<Record<Name, Partial<Plan>>>> = {
  'claude-code': {
    steps: [
      ...inBackground('Bash', { run_in_background: true }),
      { tool: 'Monitor', input: { command: 'cat .env', description: 'x', timeout_ms: 3000, persistent: false } },
    ],
  },
  codex: {
    // Where a command is denied by its words, an open shell needs a yes: it could be typed there.
    manifest: 'schema_version = 1\n[permission]\nmode = "contained"\n',
    steps: [
      codexScript('exec_command', { cmd: 'sh', tty: true, yield_time_ms: 1000 }),
      typed('touch allowed.txt'),
      typed('touch ../outside.txt; touch denied-ran.txt ../denied-ran.txt'),
      typed('cat .env'),
    ],
  },
  gemini: { steps: inBackground('run_shell_command', { is_background: true }) },
  qwen: { steps: inBackground('run_shell_command', { is_background: true }) },
  copilot: { steps: inBackground('bash', { mode: 'async' }) },
  cline: { env: { CLINE_SESSION_BACKEND_MODE: 'hub' } },
}

/** How each is started by an editor. */
const EDITORS: Readonly<Partial<Record<Name, Partial<Plan>>>> = {
  opencode: { args: ['acp'], env: { OPENCODE_CONFIG_CONTENT: '{"model":"scripted/scripted"}' } },
  copilot: { args: ['--acp', '--no-auto-update'] },
  qwen: { args: ['--acp'] },
}

/** The rows that every agent has and that are not scenario. */
export const INSTALLED = 'install starts it: root, folder, worktree'
export const INSIDE = 'cordon run -- AGENT'

export const SCENARIOS: readonly Scenario[] = [
  ATTEMPTS,
  AT_TERMINAL,
  {
    name: 'a sub-directory',
    row: 'a sub-directory',
    agents: EVERY,
    plan: () => work({ cwd: 'project/src', steps: [sh('touch ../allowed.txt'), sh(DENIED), sh('cat ../.env')] }),
    findings: [worked, pushed, leaked],
  },
  {
    name: 'a worktree',
    row: 'a worktree',
    agents: EVERY,
    plan: () =>
      work({
        cwd: 'tree',
        prepare: ({ base, project }) => {
          spawnSync('git', [
            '-c',
            'safe.directory=*',
            '-C',
            project,
            'worktree',
            'add',
            '-q',
            '--detach',
            join(base, 'tree'),
          ])
        },
        steps: [sh('touch ../project/denied-ran.txt && git push origin main'), sh('cat ../project/.env')],
      }),
    findings: [pushed, leaked],
  },
  ...MODES,
  ...RIVALS,
  ...OWN,
  ...OWN_RULES,
  ...UNSEEN,
  {
    name: 'five calls at once',
    row: 'five calls at once',
    agents: EVERY,
    plan: () => work({ steps: [FIVE] }),
    findings: [worked, pushed, leaked],
  },
  {
    name: 'the background',
    row: 'the background, open shells',
    agents: EVERY.filter((name) => name in BESIDE),
    plan: ({ name }) => work(BESIDE[name]),
    findings: [
      worked,
      {
        ...pushed,
        // What is typed into a shell is not judged; the sandbox confines it.
        happened: (at) =>
          at.model.bodies.join('').includes('write_stdin')
            ? wasCreated(at, '../outside.txt')
            : wasCreated(at, 'denied-ran.txt'),
      },
      leaked,
    ],
  },
  {
    name: 'a sub-agent',
    row: 'sub-agents',
    agents: EVERY.filter((name) => name in DELEGATED),
    plan: ({ name }) => work({ steps: DELEGATED[name] ?? [], other: { word: 'OTHERAGENT', steps: WORK } }),
    findings: [worked, pushed, leaked],
  },
  {
    name: 'a resumed session',
    row: 'a resumed session',
    agents: EVERY.filter((name) => name in RESUMED),
    plan: (agent) =>
      work({
        steps: [sh('true')],
        more: [{ args: RESUMED[agent.name]?.(agent) ?? [], steps: WORK }],
      }),
    findings: [worked, pushed, leaked],
  },
  {
    name: 'an editor that drives it',
    row: 'an editor that drives it',
    agents: EVERY.filter((name) => name in EDITORS),
    plan: ({ name }) =>
      work({ steps: [...WORK, { kind: 'read', path: '$PROJECT/.env' }], editor: [{}], ...EDITORS[name] }),
    findings: [worked, pushed, leaked],
  },
  {
    name: 'an editor that drives it',
    row: 'an editor that drives it',
    agents: ['gemini'],
    plan: () => work({ args: ['--acp', '-m', 'gemini-2.5-pro'], editor: [{}] }),
    // It asks no hook about calls then, so nothing goes to its model.
    findings: [{ ...worked, guarded: false }, pushed, leaked],
    isMute: true,
  },
  {
    name: 'no answer in time',
    row: 'Cordon hangs',
    agents: EVERY,
    plan: () =>
      work({
        steps: [sh('touch denied-ran.txt && cat .env')],
        cordon: ({ base }) => {
          copyCordon(base)
          return [cordon[0], join(base, 'own/cordon.cjs')]
        },
        // The same program, of which nothing comes any more.
        prepare: ({ base }) => {
          copyCordon(base)
          writeFileSync(join(base, 'own/cordon.cjs'), 'setInterval(() => {}, 1e9)\n')
        },
        env: { CORDON_RESIDENT: 'off' },
      }),
    findings: [pushed, leaked],
    // Some are stopped before anything goes to their model.
    isMute: true,
    isIdle: true,
  },
  {
    name: '200 calls at a fifth of a core',
    row: '200 calls at a fifth of a core',
    agents: EVERY,
    plan: () => work({ under: ['sh', '-c', SLOW, 'sh'], limitMs: 900_000, steps: MANY }),
    findings: [pushed, { what: 'all were called', happened: (at) => heard(at, LAST), guarded: true }],
    isIdle: true,
  },
]

/** Agents that were added later: each was driven through the rows of every agent alone. */
const LATER: readonly Name[] = ['kimi', 'command-code', 'grok', 'droid', 'kilo']

/** The rows beside the scenarios that are run with this agent. */
export function besides(name: Name): readonly string[] {
  return [INSTALLED, INSIDE].filter((row) => LACKS[row]?.[name] === undefined)
}

/** Why a cell has no scenario; undefined where nothing explains it. */
export function lackOf(row: string, name: Name): string | undefined {
  return LACKS[row]?.[name] ?? (LATER.includes(name) ? 'not tried with this agent yet' : undefined)
}

/** Cells that have no scenario, because the agent has no such thing. */
const LACKS: Readonly<Record<string, Readonly<Partial<Record<Name, string>>>>> = {
  [INSTALLED]: { 'command-code': 'it wants an account before it starts' },
  'permission modes': { pi: 'it has none: it asks nobody' },
  'its own sandbox': {
    gemini: 'it needs Docker or Podman with its own image',
    opencode: 'it has none',
    copilot: 'its hooks end with an error in it, and no call runs',
    pi: 'it has none',
    qwen: 'off unless a container image is set up',
    cline: 'it has none',
  },
  'its person’s own rules': { pi: 'it has none', cline: 'it has none' },
  'a second hook that rewrites': { qwen: 'it ignores rewrites' },
  'a worktree that it creates': { opencode: 'it makes none', pi: 'it makes none' },
  'a schedule that outlives the session': {
    codex: 'it has none',
    gemini: 'it has none',
    opencode: 'it has none',
    copilot: 'it has none',
    pi: 'it has none',
    qwen: 'its schedules end with the session',
    cline: 'schedules are files, see the settings',
  },
  'what it expands by itself': {
    codex: 'skills are files that its agent reads by commands',
    copilot: 'skills are text without commands or mentions',
    pi: 'skills and prompts are text that its agent reads, without commands or mentions',
    cline: 'not tried: it offers no such tool here',
  },
  'memory imports': {
    cline:
      'rules import nothing; one that links to a secret goes to its model, which no hook can stop, and every later call is denied',
  },
  'the background, open shells': { opencode: 'it has no such tool', pi: 'it has no such tool' },
  'sub-agents': { pi: 'it has none' },
  'an editor that drives it': {
    'claude-code': 'editors start it as any shell does, or by its own library',
    codex: 'it speaks no protocol of editors but its own',
    cline: 'it wants an account of its maker there',
    pi: 'it speaks none',
  },
  'a resumed session': { cline: 'it goes on with a session at a terminal alone' },
}
