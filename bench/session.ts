/** What a whole guarded call costs, and eight sessions side by side; `node bench/session.ts`. */

import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { scanText } from '../src/scan/injection.ts'
import { openSessionWorld } from '../test/contract/session-world.ts'
import { median, printTable } from './measure.ts'

const READ_ROUNDS = 600
const BASH_ROUNDS = 60
const SESSIONS = 8
const CALLS = 1000

/** Medians of guarded calls against bare ones, run in turns, then the concurrent sessions with their memory. */
export async function benchSession(): Promise<void> {
  const world = openSessionWorld()
  try {
    const text = 'const answer = compute(question, [1, 2, 3]) // a line of code\n'.repeat(200).slice(0, 10_240)
    world.file('src/file.ts', text)
    const object = { schema_version: 1, permission: { mode: 'auto' } }
    const cordon = await world.open({ manifest: { object } })
    const session = cordon.openSession()
    const path = join(world.root, 'src/file.ts')
    const rows: string[][] = [['call', 'guarded ms', 'bare ms', 'over ms', 'ratio']]
    const compare = async (name: string, rounds: number, guarded: () => unknown, bare: () => unknown) => {
      const times: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds + 20; round++) {
        for (const [side, run] of [guarded, bare].entries()) {
          const start = performance.now()
          await run()
          if (round >= 20) times[side]!.push(performance.now() - start)
        }
      }
      const [with_ = 0, without = 0] = times.map(median)
      rows.push([
        name,
        with_.toFixed(3),
        without.toFixed(3),
        (with_ - without).toFixed(3),
        (with_ / without).toFixed(2),
      ])
    }
    await compare(
      'read, 10 KB',
      READ_ROUNDS,
      () => session.call('read', { path }),
      () => readFile(path, 'utf8'),
    )
    await compare(
      'of it: scanning 10 KB for injections',
      READ_ROUNDS,
      () => scanText(text),
      () => {},
    )
    await compare(
      'stat',
      READ_ROUNDS,
      () => session.call('stat', { path }),
      () => {},
    )
    await compare(
      'bash true',
      BASH_ROUNDS,
      () => session.call('bash', { command: 'true x' }),
      () => bareBubblewrap(world.root),
    )
    printTable('A guarded call', rows)
    await session.close()

    const memory: string[][] = [['calls of each session', 'seconds', 'heap MB', 'RSS MB']]
    const sessions = Array.from({ length: SESSIONS }, () => cordon.openSession())
    const start = performance.now()
    for (let done = 0; done < CALLS; done += CALLS / 4) {
      await Promise.all(
        sessions.map(async (one, index) => {
          for (let call = 0; call < CALLS / 4; call++) {
            if (call % 50 === 0) await one.call('bash', { command: 'true x' })
            else if (call % 10 === 0) await one.call('write', { path: `out/${index}.txt`, content: `${call}` })
            else await one.call('read', { path })
          }
        }),
      )
      globalThis.gc?.()
      const { heapUsed, rss } = process.memoryUsage()
      const seconds = (performance.now() - start) / 1000
      memory.push([`${done + CALLS / 4}`, seconds.toFixed(1), (heapUsed / 1e6).toFixed(1), (rss / 1e6).toFixed(1)])
    }
    printTable(`${SESSIONS} sessions at once`, memory)
  } finally {
    await world.close()
  }
}

/** The same room without Cordon: bubblewrap with its namespaces and the binds that a command gets. */
function bareBubblewrap(root: string): Promise<void> {
  const binds = ['/usr', '/etc', '/opt'].flatMap((path) => ['--ro-bind-try', path, path])
  const links = ['bin', 'sbin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`])
  const rest = ['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--bind', root, root, '--chdir', root]
  const args = ['--unshare-all', '--die-with-parent', ...binds, ...links, ...rest, '/bin/bash', '-c', 'true x']
  return new Promise((resolve, reject) => {
    const child = spawn('bwrap', args, { stdio: 'ignore' })
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`bwrap ended with ${code}`))))
  })
}

if (import.meta.main) await benchSession()
