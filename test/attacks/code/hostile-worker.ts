/** Runs the tables of hostile programs at once as the process that it is started as, and prints what came of each, a line of JSON each. */

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createCordon } from '../../../src/session/cordon.ts'
import { thisMachine } from '../../../src/system/machine.ts'
import { IN_CONTAINERS, IN_PYTHON, IN_SCRIPTS, type Target, type Way } from './hostile.ts'

const [waysText, root, targetText] = process.argv.slice(2) as [string, string, string]
const target = JSON.parse(targetText) as Target
const machine = thisMachine()
const say = (value: object) => process.stdout.write(`${JSON.stringify(value)}\n`)

const TABLES = { container: IN_CONTAINERS, script: IN_SCRIPTS, python: IN_PYTHON }
const TOOLS = { container: 'sandbox_run', script: 'code_exec', python: 'python_exec' }

/** One table in one session; what others leave meanwhile is not this one's. */
async function attack({ way, engine }: Way, mark: string): Promise<void> {
  const cordon = await createCordon({
    project: root,
    machine,
    manifest: {
      object: {
        schema_version: 1,
        permission: { tools: { bash: 'allow', python_exec: 'allow', code_exec: 'allow', sandbox_run: 'allow' } },
        rings: { breaker: { failures: 1000 } },
        limits: { max_output_bytes: 65536 },
        sandbox: { run: { engines: [engine] } },
      },
    },
  })
  const session = cordon.openSession()
  for (const hostile of TABLES[way]) {
    const code = hostile.code({ ...target, mark })
    // What is to meet another limit than time has the time for it.
    const timeout = hostile.limits[0] === 'time' ? 1 : 20
    const input = way === 'container' ? { language: 'bash', code, timeout } : { code, timeout }
    const started = performance.now()
    const result = await session.call(TOOLS[way], input)
    const milliseconds = Math.round(performance.now() - started)
    const output = result.status === 'done' ? result.output : null
    const data = output?.data as { limit?: string | null } | undefined
    say({
      way,
      engine,
      name: hostile.name,
      status: result.status,
      isError: output?.isError ?? false,
      text: output?.text.slice(0, 4000) ?? JSON.stringify(result),
      limit: data?.limit ?? null,
      milliseconds,
      left: await leftOf(mark),
    })
  }
  await cordon.close()
  say({ way, engine, name: 'end', left: await leftOf(mark) })
}

const ways = JSON.parse(waysText) as readonly Way[]
await Promise.all(ways.map((way, index) => attack(way, `${target.mark}${index}`)))
const stages = process.getuid?.() === 0 ? '/run/cordon-containers' : join(machine.cacheDir, 'containers')
say({
  name: 'end of all',
  stages: existsSync(stages) ? readdirSync(stages).filter((name) => name.startsWith(`run-${process.pid}-`)) : [],
  groups: await groupsLeft(process.pid),
})

/** What was killed takes the kernel a moment to clear away. */
async function leftOf(mark: string): Promise<string[]> {
  for (let tries = 0; tries < 1200 && processesWith(mark).length > 0; tries++) await setTimeout(50)
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

/** They are removed as soon as the kernel lets go of them. */
async function groupsLeft(pid: number): Promise<string[]> {
  for (let tries = 0; tries < 1200 && groupsOf(pid).length > 0; tries++) await setTimeout(50)
  return groupsOf(pid)
}

/** In the trees of version 1, or below this process's own group of version 2. */
function groupsOf(pid: number): string[] {
  const mount = '/sys/fs/cgroup'
  const own = /^0::(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/'
  const trees = [...readdirSync(mount).map((name) => join(mount, name, 'cordon')), join(mount, own, 'cordon')]
  return trees.flatMap((tree) => {
    try {
      return readdirSync(tree).filter((name) => name.startsWith(`run-${pid}-`))
    } catch {
      return []
    }
  })
}
