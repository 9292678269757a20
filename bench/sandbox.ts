/**
 * Sandbox benchmarks: a launch inside a running process against bare bubblewrap with the same binds, masks by the
 * hundred and the thousand, and memory. Run with `node bench/sandbox.ts [--json]`; the ratios are what counts.
 */

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Backend } from '../src/sandbox/backend.ts'
import { createBwrapBackend } from '../src/sandbox/bwrap/backend.ts'
import type { SandboxPlan } from '../src/sandbox/plan.ts'
import { type PlanChange, planIn } from '../test/plan-in.ts'

interface SandboxFigures {
  readonly bareMs: number
  readonly launchMs: number
  /** The target is 1.3. */
  readonly ratio: number
  /** In a layout that was prepared ahead, as the commands of a session after a pause are. */
  readonly aheadMs: number
  readonly aheadRatio: number
  readonly limitedMs: number
  readonly listenerMs: number
  readonly masks: Readonly<Record<number, number>>
  readonly idleMegabytes: number
  readonly backendMegabytes: number
}

const ROUNDS = 60

/** For a space to be prepared. */
const PAUSE_MS = 40

async function median(work: () => Promise<unknown>, rounds = ROUNDS, pause = 0): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < rounds + 5; i++) {
    const start = performance.now()
    await work()
    if (i >= 5) times.push(performance.now() - start)
    if (pause > 0) await sleep(pause)
  }
  return times.sort((a, b) => a - b)[rounds >> 1]!
}

function planFor(root: string, masks: readonly string[], extra: PlanChange = {}): SandboxPlan {
  return planIn(root, ['/usr/bin/true'], { masks, ...extra })
}

/** The same namespaces and binds, with bubblewrap's own reaper and no init of ours. */
function bareArguments(args: readonly string[]): string[] {
  const isOwn = (arg: string) => arg === '--as-pid-1' || arg === '--cap-add' || arg.startsWith('CAP_')
  return [...args.slice(0, args.indexOf('--')).filter((arg) => !isOwn(arg)), '--', '/usr/bin/true']
}

function runBare(program: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: {} })
    child.stdout.resume()
    child.stderr.resume()
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`bare bwrap ended with ${code}`))))
  })
}

/** Measures everything, in one process and one run, so that the figures can be compared with each other. */
async function benchSandbox(): Promise<SandboxFigures> {
  const root = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  try {
    const before = process.memoryUsage().rss
    const backend = createBwrapBackend()
    const io = { stdout: 'capture', stderr: 'capture' } as const
    const plan = planFor(root, [])
    const compiled = backend.compile(plan)
    const bare = bareArguments(compiled.args)
    const run = async (chosen: SandboxPlan, on: Backend = backend) => {
      const result = await on.launch(chosen, { ...io, onListener: () => {} })
      if (result.exitCode !== 0) throw new Error(`the command ended with ${result.exitCode}`)
    }

    // In turns, so that a busy machine slows both alike.
    const bareTimes: number[] = []
    const launchTimes: number[] = []
    for (let i = 0; i < ROUNDS + 5; i++) {
      const start = performance.now()
      await runBare(compiled.program, bare)
      const middle = performance.now()
      await run(plan)
      if (i < 5) continue
      bareTimes.push(middle - start)
      launchTimes.push(performance.now() - middle)
    }
    const middleOf = (times: number[]) => times.sort((a, b) => a - b)[times.length >> 1]!
    const bareMs = middleOf(bareTimes)
    const launchMs = middleOf(launchTimes)

    const ahead = createBwrapBackend({ commands: 'many' })
    const aheadMs = await median(() => run(plan, ahead), 30, PAUSE_MS)
    ahead.release()

    const masks: Record<number, number> = {}
    for (const count of [200, 1000, 3000]) {
      const folder = join(root, `masks-${count}`)
      mkdirSync(folder)
      const paths = Array.from({ length: count }, (_, i) => join(folder, `${i}.key`))
      for (const path of paths) writeFileSync(path, 'secret')
      const masked = planFor(root, paths)
      masks[count] = await median(() => run(masked), 15)
    }
    const limited = planFor(root, [], { limits: { memoryBytes: 1024 ** 3, processes: 100, cpus: 1 } })
    const listening = planFor(root, [], { network: 'listener' })
    return {
      bareMs,
      launchMs,
      ratio: launchMs / bareMs,
      aheadMs,
      aheadRatio: aheadMs / bareMs,
      limitedMs: await median(() => run(limited), 30),
      listenerMs: await median(() => run(listening), 30),
      masks,
      idleMegabytes: before / 1024 ** 2,
      backendMegabytes: process.memoryUsage().rss / 1024 ** 2,
    }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const figures = await benchSandbox()
  if (process.argv.includes('--json')) console.log(JSON.stringify(figures))
  else console.table(figures)
}
