/**
 * Sandbox benchmarks: a launch inside a running process against bare bubblewrap with the same binds, masks by the
 * hundred and the thousand, and memory.
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
import { bareArguments, median, printTable } from './measure.ts'

const ROUNDS = 60

/** For a space to be prepared. */
const PAUSE_MS = 40

/** Median milliseconds of one run of this work. */
async function medianOf(work: () => Promise<unknown>, rounds = ROUNDS, pause = 0): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < rounds + 5; i++) {
    const start = performance.now()
    await work()
    if (i >= 5) times.push(performance.now() - start)
    if (pause > 0) await sleep(pause)
  }
  return median(times)
}

function planFor(root: string, masks: readonly string[], extra: PlanChange = {}): SandboxPlan {
  return planIn(root, ['/usr/bin/true'], { masks, ...extra })
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
async function benchSandbox(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  try {
    const before = process.memoryUsage().rss
    const backend = createBwrapBackend()
    const io = { stdout: 'capture', stderr: 'capture' } as const
    const plan = planFor(root, [])
    const compiled = backend.compile(plan)
    const bare = bareArguments(compiled.args, ['/usr/bin/true'])
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
    const bareMs = median(bareTimes)

    const ahead = createBwrapBackend({ commands: 'many' })
    const aheadMs = await medianOf(() => run(plan, ahead), 30, PAUSE_MS)
    ahead.release()

    const row = (name: string, ms: number, goal = ''): string[] => [
      name,
      `${ms.toFixed(1)} ms`,
      (ms / bareMs).toFixed(2),
      goal,
    ]
    const masks: string[][] = []
    for (const count of [200, 1000, 3000]) {
      const folder = join(root, `masks-${count}`)
      mkdirSync(folder)
      const paths = Array.from({ length: count }, (_, i) => join(folder, `${i}.key`))
      for (const path of paths) writeFileSync(path, 'secret')
      const masked = planFor(root, paths)
      masks.push(row(`with ${count} masks`, await medianOf(() => run(masked), 15)))
    }
    const limited = planFor(root, [], { limits: { memoryBytes: 1024 ** 3, processes: 100, cpus: 1 } })
    const listening = planFor(root, [], { network: 'listener' })
    printTable('One launch in a running process', [
      ['', 'measured', 'relative to bubblewrap', 'goal'],
      row('bubblewrap with the same binds', bareMs),
      row('`true`', median(launchTimes), '1.3'),
      row('`true` in a sandbox prepared ahead', aheadMs),
      row('with limits', await medianOf(() => run(limited), 30)),
      row('with a proxy', await medianOf(() => run(listening), 30)),
      ...masks,
      [
        'memory of the process, before and after',
        `${megabytes(before)} and ${megabytes(process.memoryUsage().rss)}`,
        '',
        '',
      ],
    ])
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(0)} MB`
}

await benchSandbox()
