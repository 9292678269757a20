/** Measures the mask index on 100,000 files in 10,000 folders with 200 secrets: first index, then after 10 changes. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MaskIndex } from '../src/sandbox/masks.ts'
import { readIndexCache, writeIndexCache } from '../src/sandbox/masks-cache.ts'
import { protectTree } from '../src/sandbox/protect.ts'

const FOLDERS = 10_000
const FILES_PER_FOLDER = 10
const SECRETS = 200
const CHANGES = 10
const ROUNDS = 15

const base = mkdtempSync(join(tmpdir(), 'cordon-bench-masks-'))
const root = join(base, 'project')
const state = join(base, 'state')
mkdirSync(state, { mode: 0o700 })
try {
  const folders = buildTree(root)
  const facts = { home: '/nonexistent', roots: [root], deniedShapes: [] }
  const index = new MaskIndex(facts)
  const first = timed(() => index.refresh())
  const masks = timed(() => index.masks([]))
  report('first index', first.ms, `${first.value.folders} folders, ${masks.value.files.length} masks`)

  await pause(300)
  index.refresh()
  await pause(300)
  const nothing: number[] = []
  const changed: number[] = []
  const guarded: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    nothing.push(timed(() => index.refresh()).ms)
    for (let change = 0; change < CHANGES; change++) {
      writeFileSync(join(folders[(round * 997 + change * 641) % folders.length]!, `.env.${round}-${change}`), 'A=1')
    }
    changed.push(timed(() => [index.refresh(), index.masks([])]).ms)
    guarded.push(timed(() => protectTree(index.tree, { ...facts, write: [root], named: [], own: noOwn() })).ms)
    await pause(80)
  }
  report('refresh, nothing changed', median(nothing), `worst ${Math.max(...nothing).toFixed(1)} ms`)
  report(`refresh and masks after ${CHANGES} changes`, median(changed), `worst ${Math.max(...changed).toFixed(1)} ms`)
  report('pins of protected paths', median(guarded), '')
  report('masks found at the end', index.masks([]).files.length, 'files')

  const write = timed(() => writeIndexCache(state, facts, index.tree))
  const next = new MaskIndex(facts)
  const read = timed(() => readIndexCache(state, facts, next.tree))
  const verify = timed(() => next.refresh())
  report('index written for the next process', write.ms, '')
  report('index taken over by a new process', read.ms + verify.ms, `of it ${verify.ms.toFixed(1)} ms to verify`)
  index.close()
  next.close()
} finally {
  rmSync(base, { recursive: true, force: true })
}

function noOwn(): { configDir: string; stateDir: string; manifestPath: string } {
  return { configDir: '/nonexistent/c', stateDir: '/nonexistent/s', manifestPath: join(root, 'cordon.toml') }
}

function buildTree(top: string): string[] {
  const made: string[] = []
  for (let index = 0; index < FOLDERS; index++) {
    const parent = index % 3 === 0 ? 'node_modules' : 'packages'
    const folder = join(top, parent, `group-${index % 100}`, `deep/er-${Math.floor(index / 1000)}`, `module-${index}`)
    mkdirSync(folder, { recursive: true })
    for (let file = 0; file < FILES_PER_FOLDER; file++) writeFileSync(join(folder, `file-${file}.ts`), '')
    if (index % (FOLDERS / SECRETS) === 0) writeFileSync(join(folder, '.env'), 'SECRET=1')
    made.push(folder)
  }
  return made
}

function timed<T>(work: () => T): { readonly ms: number; readonly value: T } {
  const start = performance.now()
  const value = work()
  return { ms: performance.now() - start, value }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function report(what: string, value: number, detail: string): void {
  console.log(`${what.padEnd(40)} ${value.toFixed(1).padStart(8)} ${detail}`)
}
