/** Runs hostile programs as whoever it is started as, and prints what came of each, a line of JSON each. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createCordon } from '../../../src/runtime/cordon.ts'
import { thisMachine } from '../../../src/system/machine.ts'
import { IN_CONTAINERS, IN_PYTHON, IN_SCRIPTS, type Target } from './hostile.ts'

const [way, engine, root, targetText] = process.argv.slice(2) as [string, string, string, string]
const target = JSON.parse(targetText) as Target
const machine = thisMachine()
const cordon = await createCordon({
  project: root,
  machine,
  manifest: {
    object: {
      schema_version: 1,
      permission: { tools: { python_exec: 'allow', code_exec: 'allow', sandbox_run: 'allow' } },
      rings: { breaker: { failures: 1000 } },
      sandbox: { run: { engines: [engine] } },
    },
  },
})
const session = cordon.openSession()
const say = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)

const table = { container: IN_CONTAINERS, script: IN_SCRIPTS, python: IN_PYTHON }[way]!
for (const hostile of table) {
  const code = hostile.code(target)
  // What is to meet another limit than time has the time for it.
  const timeout = hostile.limits.length === 1 && hostile.limits[0] === 'time' ? 1 : 2
  const input = way === 'container' ? { language: 'bash', code, timeout } : { code, timeout }
  const tool = { container: 'sandbox_run', script: 'code_exec', python: 'python_exec' }[way]!
  const started = performance.now()
  const result = await session.call(tool, input)
  const milliseconds = Math.round(performance.now() - started)
  const output = result.status === 'done' ? result.output : null
  const data = output?.data as { limit?: string | null } | undefined
  say({
    name: hostile.name,
    status: result.status,
    isError: output?.isError ?? false,
    text: output?.text.slice(0, 4000) ?? JSON.stringify(result),
    limit: data?.limit ?? null,
    milliseconds,
    left: await leftOf(target.mark),
  })
}
await cordon.close()
const stages = process.getuid?.() === 0 ? '/run/cordon-containers' : join(machine.cacheDir, 'containers')
say({
  name: 'end',
  stages: existsSync(stages) ? readdirSync(stages).filter((name) => name.startsWith(`run-${process.pid}-`)) : [],
  groups: groupsOf(process.pid),
  left: await leftOf(target.mark),
})

/** What was killed takes the kernel a moment to clear away. */
async function leftOf(mark: string): Promise<string[]> {
  for (let tries = 0; tries < 40 && processesWith(mark).length > 0; tries++) await setTimeout(50)
  return processesWith(mark)
}

function processesWith(mark: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return []
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return words.includes('sleep') && words.includes(mark) ? [pid] : []
    } catch {
      return []
    }
  })
}

function groupsOf(pid: number): string[] {
  const mount = '/sys/fs/cgroup'
  return readdirSync(mount).flatMap((controller) => {
    try {
      return readdirSync(join(mount, controller, 'cordon')).filter((name) => name.startsWith(`run-${pid}-`))
    } catch {
      return []
    }
  })
}
