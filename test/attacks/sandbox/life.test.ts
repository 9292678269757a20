/** Attacks by quantity and by survival: bombs, floods, processes that want to stay, a wrapper killed at any moment. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Limits } from '../../../src/sandbox/limits.ts'
import { firstWord } from '../../first-word.ts'
import { until } from '../../until.ts'
import { asUser, eachUser } from '../../users.ts'
import { buildProber } from './fixture.ts'
import type { OneInput } from './launch-one.ts'

const LAUNCHER = fileURLToPath(new URL('./launch-one.ts', import.meta.url))
const MB = 1024 * 1024

interface Outcome {
  readonly exitCode: number
  readonly timedOut: boolean
  readonly kept: number
  readonly total: number
  readonly text: string
  readonly errors: string
}

interface Bomb {
  readonly name: string
  readonly note: string
  readonly script: string
  readonly limits: Limits
  /** The limits of the control: without the one under attack. */
  readonly without: Limits
  readonly escaped: (outcome: Outcome) => boolean
}

const BOMBS: readonly Bomb[] = [
  {
    name: 'fork bomb',
    note: 'more processes than the limit',
    script: '"$PROBER" forks 300',
    limits: { processes: 60, timeoutMs: 120_000 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => Number(text) > 60,
  },
  {
    name: 'fork bomb in the shell',
    note: 'a bounded form of the classic',
    // Not by bash, which waits for seconds and tries again; and what counts does not fork.
    script: 'sh -c "for i in $(echo {1..200}); do sleep 600 & done" 2>/dev/null; set -- /proc/[0-9]*; echo $#',
    limits: { processes: 40, timeoutMs: 120_000 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => Number(text) > 100,
  },
  {
    name: 'fork bomb by the thousand',
    note: 'a limit that the pid namespace enforces if it can',
    script: '"$PROBER" forks 1200',
    limits: { processes: 1000, timeoutMs: 120_000 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => Number(text) > 1000,
  },
  {
    name: 'memory bomb',
    note: 'more memory than the limit',
    script: '"$PROBER" memory 300',
    limits: { memoryBytes: 100 * MB, timeoutMs: 120_000 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => text === 'ok\n',
  },
  {
    name: 'large file',
    note: 'a file beyond the limit',
    script: 'head -c 8000000 /dev/zero > big; stat -c %s big',
    limits: { fileBytes: MB, timeoutMs: 120_000 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => Number(text) > MB,
  },
  {
    name: 'filled scratch',
    note: 'more in /tmp than its size, which is memory',
    script: 'head -c 8000000 /dev/zero > /tmp/big; stat -c %s /tmp/big',
    limits: { scratchBytes: MB, timeoutMs: 120_000 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => Number(text) > MB,
  },
  {
    name: 'filled /dev/shm',
    note: 'more in /dev/shm than its size, which is memory',
    script: 'head -c 8000000 /dev/zero > /dev/shm/big; stat -c %s /dev/shm/big',
    limits: { scratchBytes: MB, timeoutMs: 120_000 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => Number(text) > MB,
  },
  {
    name: 'endless loop',
    note: 'more processor time than the limit',
    script: 'while :; do :; done',
    limits: { cpuSeconds: 1, timeoutMs: 120_000 },
    without: { timeoutMs: 1500 },
    escaped: ({ timedOut }) => timedOut,
  },
  {
    name: 'endless wait',
    note: 'a command that ignores signals and stays',
    script: 'trap "" TERM INT HUP; sleep 2; echo stayed',
    limits: { timeoutMs: 300 },
    without: { timeoutMs: 120_000 },
    escaped: ({ text }) => text === 'stayed\n',
  },
  {
    name: 'output flood',
    note: 'more output than the cap, which is memory of the caller',
    script: 'head -c 20000000 /dev/zero',
    limits: { outputBytes: 1000, timeoutMs: 120_000 },
    without: { outputBytes: 100_000_000, timeoutMs: 120_000 },
    escaped: ({ kept }) => kept > 1000,
  },
]

/** Host processes whose command line contains the text. */
function processesWith(text: string): number[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return []
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text) ? [Number(pid)] : []
    } catch {
      return []
    }
  })
}

const noneLeft = (text: string) => until(`nothing of ${text} is left`, () => processesWith(text).length === 0)

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
})

eachUser(describe)('as $name', (user) => {
  let root: string
  let project: string
  let base: Omit<OneInput, 'script' | 'limits'>

  beforeAll(() => {
    root = mkdtempSync('/var/tmp/cordon-life-')
    chmodSync(root, 0o755)
    project = join(root, 'project')
    const tools = join(root, 'tools')
    for (const folder of [project, tools]) mkdirSync(folder)
    const prober = buildProber(tools)
    for (const path of [project, tools, prober]) chownSync(path, user.uid, user.gid)
    base = { project, reads: [tools], env: { PATH: '/usr/bin:/bin', PROBER: prober } }
  })
  afterAll(() => rmSync(root, { recursive: true, force: true }))

  const commandLine = (script: string, limits: Limits, inherit = false): string[] =>
    asUser(user, [process.execPath, LAUNCHER, JSON.stringify({ ...base, script, limits, inherit } satisfies OneInput)])

  const launch = (script: string, limits: Limits): Outcome => {
    const [program, ...args] = commandLine(script, limits)
    return JSON.parse(execFileSync(program!, args, { encoding: 'utf8', maxBuffer: 64 * MB })) as Outcome
  }

  const start = (script: string): ChildProcess => {
    const [program, ...args] = commandLine(script, {}, true)
    return spawn(program!, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  }

  test.each(BOMBS)('stopped: $name ($note)', ({ script, limits, escaped }) => {
    expect(escaped(launch(script, limits))).toBe(false)
  })

  test.each(BOMBS)('control, without the limit: $name', ({ script, without, escaped }) => {
    expect(escaped(launch(script, without))).toBe(true)
  })

  test('a background process does not outlive its command', async () => {
    const mark = randomBytes(8).toString('hex')
    launch(`( setsid bash -c 'sleep 600; : ${mark}' & ) ; nohup bash -c 'sleep 600; : ${mark}' >/dev/null 2>&1 &`, {})
    await noneLeft(mark)
  })

  test('a wrapper killed while its command runs leaves nothing', async () => {
    const mark = randomBytes(8).toString('hex')
    const wrapper = start(`( setsid bash -c 'sleep 600; : ${mark}' & ); echo started; sleep 600; : ${mark}`)
    await firstWord(wrapper)
    expect(processesWith(mark).length).toBeGreaterThan(1)
    wrapper.kill('SIGKILL')
    await noneLeft(mark)
  })

  test('a wrapper killed at any moment leaves nothing', async () => {
    const mark = randomBytes(8).toString('hex')
    for (let i = 0; i < 24; i++) {
      const wrapper = start(`sleep 600; : ${mark}`)
      // Node takes some tens of milliseconds to start; the sandbox follows.
      await sleep(60 + i * 5)
      wrapper.kill('SIGKILL')
    }
    await noneLeft(mark)
    // bubblewrap's own command line names the project, not the command.
    await noneLeft(root)
  })

  test('the caller’s terminal cannot be reached', () => {
    const inside =
      '[ -t 0 ] && echo ESCAPED; [ -t 1 ] && echo ESCAPED; ( : < /dev/tty ) 2>/dev/null && echo ESCAPED; echo ended'
    const underTerminal = (argv: readonly string[]) => {
      const quoted = argv.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
      return spawnSync('script', ['-qec', quoted, '/dev/null'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
        .stdout
    }
    const stored = underTerminal(commandLine(inside, {}, true))
    expect(stored).toContain('ended')
    expect(stored).not.toContain('ESCAPED')
    expect(underTerminal(['bash', '-c', inside])).toContain('ESCAPED')
  })
})

test('control: without a sandbox, a child outlives its killed wrapper', async () => {
  const mark = `604.${process.pid}`
  const wrapper = spawn('bash', ['-c', `setsid sleep ${mark} & echo started; wait`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  await firstWord(wrapper)
  const ended = new Promise((resolve) => wrapper.once('exit', resolve))
  wrapper.kill('SIGKILL')
  await ended
  const [left] = await until('it goes on', () => {
    const found = processesWith(`sleep\0${mark}`)
    return found.length > 0 && found
  })
  process.kill(left!)
})
