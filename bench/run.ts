/**
 * `npm run bench [-- PART…]`: every table in one run, each part in its own process. `--write` makes docs/reference/bench.md
 * of them; `--compare REV` measures another revision in turns with this one.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { arch, cpus, loadavg, release, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { compareTables } from './compare.ts'
import { printMissing, show, TABLES_VARIABLE, type Table } from './measure.ts'
import { type Measured, writePage } from './page-of-figures.ts'
import { PARTS } from './parts.ts'

const HERE = join(import.meta.dirname, '..')
/** Runs of each side of a comparison, in turns. */
const TURNS = 3

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean', default: false }, compare: { type: 'string' } },
})
const unknown = positionals.find((name) => !Object.hasOwn(PARTS, name))
if (unknown !== undefined) fail(`there is no part "${unknown}"; there are ${Object.keys(PARTS).join(', ')}`)
if (values.write && (positionals.length > 0 || values.compare !== undefined))
  fail('--write measures every part: one machine, one date')
const wanted = Object.keys(PARTS).filter((name) => positionals.length === 0 || positionals.includes(name))

const scratch = mkdtempSync(join(tmpdir(), 'cordon-bench-run-'))
try {
  if (values.compare !== undefined) compareWith(values.compare)
  else measureAll()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function measureAll(): void {
  const parts: Measured[] = []
  for (const name of wanted) {
    console.log(`\n== ${name}`)
    const load = loadavg()[0]!
    const started = performance.now()
    const tables = measure(name, HERE)
    const seconds = (performance.now() - started) / 1000
    console.log(`\n${name} took ${seconds.toFixed(0)} s`)
    if (tables === null) process.exitCode = 1
    else parts.push({ name, load, seconds, tables })
  }
  if (!values.write) return
  if (process.exitCode === 1) fail('a part failed, so nothing was written')
  const machine = `${cpus().length} cores (${cpus()[0]!.model}, ${arch()}), Linux ${release()}, Node ${process.versions.node}`
  const page = join(HERE, 'docs/reference/bench.md')
  writeFileSync(page, writePage(parts, machine, new Date().toISOString().slice(0, 10)))
  console.log(`\nwrote ${relative(process.cwd(), page)}`)
}

/** Measures both in turns, and prints each figure of this tree relative to the same of the other. */
function compareWith(revision: string): void {
  const other = join(scratch, 'other')
  const git = (...args: readonly string[]): string => execFileSync('git', args, { cwd: HERE, encoding: 'utf8' })
  git('worktree', 'add', '--detach', '--quiet', other, revision)
  try {
    build(other)
    for (const name of wanted) {
      const sides: readonly [Table[][], Table[][]] = [[], []]
      for (let turn = 0; turn < TURNS; turn++)
        for (const [side, tree] of [other, HERE].entries()) {
          console.log(`\n== ${name}, ${side === 0 ? revision : 'this tree'}, ${turn + 1} of ${TURNS}`)
          const tables = measure(name, tree)
          if (tables === null) process.exitCode = 1
          else sides[side]!.push(tables)
        }
      for (const { title, rows } of compareTables(...sides)) show(`${title}: before and after`, rows)
    }
  } finally {
    git('worktree', 'remove', '--force', other)
  }
}

/** Packages are shared where the lock file is the same. */
function build(tree: string): void {
  const lock = (of: string): string => readFileSync(join(of, 'package-lock.json'), 'utf8')
  const run = (program: string, ...args: readonly string[]): unknown =>
    execFileSync(program, args, { cwd: tree, stdio: ['ignore', 'ignore', 'inherit'] })
  if (lock(tree) === lock(HERE)) symlinkSync(join(HERE, 'node_modules'), join(tree, 'node_modules'))
  else run('npm', 'ci', '--silent')
  run('bash', 'scripts/set-up.sh', 'build')
}

/** Runs one part of a tree. Returns its tables, or null if it failed. */
function measure(name: string, tree: string): Table[] | null {
  const { file, run, needs = [] } = PARTS[name]!
  const missing = needs.filter((program) => spawnSync(program, ['--version']).error !== undefined)
  if (missing.length > 0) {
    const why = `not installed: ${missing.join(', ')}`
    printMissing(name, why)
    return [{ title: `Not measured: ${name}`, rows: [['why'], [why]] }]
  }
  const path = join(tree, 'bench', file)
  if (!existsSync(path)) return []
  const args = run === null ? [path] : ['--input-type=module', '-e', `(await import(${JSON.stringify(path)})).${run}()`]
  const tables = join(scratch, 'tables.jsonl')
  writeFileSync(tables, '')
  const ran = spawnSync(process.execPath, args, {
    stdio: 'inherit',
    env: { ...process.env, [TABLES_VARIABLE]: tables },
  })
  if (ran.status !== 0) return null
  return readFileSync(tables, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Table)
}

function fail(why: string): never {
  console.error(`bench: ${why}`)
  process.exit(2)
}
