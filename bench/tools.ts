/** The cost of the guard: file tools confined by the kernel against bare calls of Node. */

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machineFiles } from '../src/system/files.ts'
import { checkedPath } from '../src/system/guarded/checked-path.ts'
import { openWorld } from '../test/contract/tools/tools-world.ts'
import { median, printTable } from './measure.ts'

const ROUNDS = 400

/** Medians of a call and its bare counterpart, run in turns. */
export async function benchTools(): Promise<void> {
  const world = openWorld()
  try {
    const text = `${'a line of about forty characters, say\n'.repeat(270)}`.slice(0, 10_240)
    for (let index = 0; index < 200; index++) world.file(`src/deep/er/file-${index}.ts`, text)
    const path = checkedPath(join(world.root, 'src/deep/er/file-0.ts'))
    const { files } = world.context
    const rows: string[][] = [['tool', 'guarded ms', 'bare ms', 'over ms']]
    const compare = async (name: string, guarded: () => unknown, bare: () => unknown, rounds = ROUNDS) => {
      const times: [number[], number[]] = [[], []]
      for (let round = 0; round < rounds + 20; round++) {
        for (const [side, run] of [guarded, bare].entries()) {
          const start = performance.now()
          await run()
          if (round >= 20) times[side]!.push(performance.now() - start)
        }
      }
      const [with_, without] = times.map(median)
      rows.push([name, with_!.toFixed(4), without!.toFixed(4), (with_! - without!).toFixed(4)])
    }
    await compare(
      'GuardedFiles.read, 10 KB',
      () => files.read(path),
      () => readFileSync(path),
    )
    await compare(
      'read, 10 KB (parse, resolve, run)',
      () => world.call('read', { path: 'src/deep/er/file-0.ts' }),
      () => readFileSync(path, 'utf8'),
    )
    await compare(
      'resolving the path alone',
      () => machineFiles.canonical(path),
      () => {},
    )
    await compare(
      'write, 10 KB, unsynced',
      () => files.write(path, Buffer.from(text), { sync: false }),
      () => {
        writeFileSync(`${path}.tmp`, text)
        renameSync(`${path}.tmp`, path)
      },
    )
    await compare(
      'write, 10 KB, synced',
      () => world.call('write', { path: 'src/deep/er/file-0.ts', content: text }),
      () => writeFileSync(path, text, { flush: true }),
      100,
    )
    await compare(
      'grep in 200 files of 10 KB',
      () => world.call('grep', { pattern: 'nowhere to be found' }),
      () => {},
      10,
    )
    await compare(
      'grep with repetition (worker)',
      () => world.call('grep', { pattern: 'no+where .*found' }),
      () => {},
      10,
    )
    await compare(
      'glob over 200 files',
      () => world.call('glob', { pattern: '**/*.ts' }),
      () => {},
      20,
    )
    printTable('File tools', rows)
  } finally {
    world.close()
  }
}

if (import.meta.main) await benchTools()
