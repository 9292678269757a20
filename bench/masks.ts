/** Measures masks and protection on 100,000 files in 10,000 folders with 200 secrets: first index, then runs after 10 changes. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ProjectGuard } from '../src/sandbox/quarantine/run.ts'
import { MaskIndex } from '../src/sandbox/secrets/masks.ts'
import { readIndexCache, SecretMemory, writeIndexCache } from '../src/sandbox/secrets/masks-cache.ts'
import { MaskWatch } from '../src/sandbox/secrets/masks-watch.ts'
import { maskPlaces, PlaceListings } from '../src/sandbox/secrets/secrets.ts'
import { median, printTable } from './measure.ts'

const LEAVES = 9_801
const FILES = 100_000
const SECRETS = 200
const CHANGES = 10
const ROUNDS = 15

const base = mkdtempSync(join(tmpdir(), 'cordon-bench-masks-'))
const root = join(base, 'project')
const own = { configDir: join(base, 'config'), stateDir: join(base, 'state'), manifestPath: join(root, 'cordon.toml') }
const home = join(base, 'home')
const rows: string[][] = []

/** What a session does around each command. */
class Session {
  readonly #facts = { home, roots: [root], deniedShapes: [], memory: new SecretMemory(own.stateDir) }
  readonly #index = new MaskIndex(this.#facts)
  readonly #listings = new PlaceListings()
  readonly #guard = new ProjectGuard(this.#index.tree, own.stateDir)

  constructor() {
    readIndexCache(own.stateDir, this.#facts, this.#index.tree)
  }

  begin(): { readonly masks: readonly string[]; readonly end: () => void } {
    this.#index.refresh()
    const run = this.#guard.begin({ home, write: [root], named: [], own })
    const places = maskPlaces({ home, visible: ['/'], grants: [] }, this.#listings)
    const masks = [...this.#index.masks([]).files, ...places.files, ...places.directories]
    const watch = new MaskWatch(masks, (path) => this.#index.identityOf(path))
    return {
      masks,
      end: () => {
        run.end()
        watch.close(this.#index.masks([]).files)
      },
    }
  }

  close(): void {
    writeIndexCache(own.stateDir, this.#facts, this.#index.tree)
    this.#index.close()
  }
}

try {
  mkdirSync(own.stateDir, { mode: 0o700 })
  const leaves = buildTree()
  const session = new Session()
  const first = timed(() => session.begin())
  first.value.end()
  report('first index', first.ms, `${first.value.masks.length} masks`)

  await pause(300)
  session.begin().end()
  // The watches are set up while nothing else is to be done.
  await pause(3_000)
  const before: number[] = []
  const after: number[] = []
  const processor: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    for (let change = 0; change < CHANGES; change++) {
      const folder = leaves[(round * 997 + change * 641) % leaves.length]!
      writeFileSync(join(folder, `.env.${round}-${change}`), 'A=1')
    }
    const begun = timed(() => session.begin())
    before.push(begun.ms)
    await pause(50)
    const ended = timed(() => begun.value.end())
    after.push(ended.ms)
    processor.push(begun.processor + ended.processor)
    await pause(80)
  }
  report(`before a run, after ${CHANGES} changes`, median(before), spread(before))
  report('after a run', median(after), spread(after))
  const both = before.map((ms, index) => ms + after[index]!)
  report('both: added to a command here', median(both), spread(both))
  report('the same in processor time', median(processor), spread(processor))
  const last = session.begin()
  report('masks at the end', last.masks.length, `${SECRETS} and ${ROUNDS * CHANGES} created since`, '')
  last.end()
  report('index kept for the next process', timed(() => session.close()).ms, '')

  const next = new Session()
  report('first run of the next process', timed(() => next.begin()).ms, 'with the kept index')
  next.close()
  printTable('Masks in a tree of 100,000 files', [['', 'measured', ''], ...rows])
} finally {
  rmSync(base, { recursive: true, force: true })
}

function buildTree(): string[] {
  const created: string[] = []
  for (let index = 0; index < LEAVES; index++) {
    const parent = index % 3 === 0 ? 'node_modules' : 'packages'
    const folder = join(root, parent, `group-${index % 98}`, `module-${index}`)
    mkdirSync(folder, { recursive: true })
    created.push(folder)
  }
  for (let file = 0; file < FILES; file++) writeFileSync(join(created[file % LEAVES]!, `file-${file}.ts`), '')
  for (let secret = 0; secret < SECRETS; secret++) writeFileSync(join(created[secret * 49]!, '.env'), 'SECRET=1')
  const folders = execFileSync('find', [root, '-type', 'd'], { encoding: 'utf8', maxBuffer: 1e8 }).trim().split('\n')
  report('folders', folders.length, `${FILES} files`, '')
  return created
}

function timed<T>(work: () => T): { readonly ms: number; readonly processor: number; readonly value: T } {
  const before = process.cpuUsage()
  const start = performance.now()
  const value = work()
  const ms = performance.now() - start
  const { user, system } = process.cpuUsage(before)
  return { ms, processor: (user + system) / 1000, value }
}

function spread(values: readonly number[]): string {
  return `best ${Math.min(...values).toFixed(1)}, worst ${Math.max(...values).toFixed(1)}`
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function report(what: string, value: number, detail: string, unit = 'ms'): void {
  rows.push([what, `${value.toFixed(unit === '' ? 0 : 1)} ${unit}`.trim(), detail])
}
