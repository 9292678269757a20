/**
 * What the broker for changes costs: real work in a sandbox whose changes go through the broker and are kept for undo, against bare bubblewrap with the
 * same namespaces and binds; what a broker would cost at the least (`broker-floor.c`: notified only, and notified and removed); and what
 * `cordon learn` adds, which is also notified of every read. In turns, in one run, by the clock (medians) and by processor time (the least
 * of the rounds, which a busy machine distorts less, without the start of the sandbox). `node bench/changes.ts [ROUNDS [NAME]]`: NAME is how the works begin that are wanted.
 */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gitKeyLines } from '../src/files/git-keys.ts'
import { createBwrapBackend } from '../src/sandbox/bwrap/backend.ts'
import type { SandboxPlan } from '../src/sandbox/plan.ts'
import { changeRules } from '../src/sandbox/protect/change-rules.ts'
import { CallStore } from '../src/undo/call-store.ts'
import { planIn } from '../test/plan-in.ts'
import { median, printTable } from './measure.ts'

interface Work {
  readonly name: string
  /** In its own shell, before the clock starts. */
  readonly before: string
  readonly command: string
  readonly goal: number | null
}

const FILES = 5_000
const ROUNDS = Number(process.argv[2] ?? 3)
const WANTED = process.argv[3] ?? ''
const base = mkdtempSync(join(tmpdir(), 'cordon-bench-changes-'))
const project = join(base, 'project')
const given = join(base, 'given')
const store = new CallStore(join(base, 'state'))
const floor = join(given, 'broker-floor')
const taken = join(project, 'processor-time')
const times = [floor, 'times', taken]
const npm = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js')
const hasNpm = spawnSync(process.execPath, [npm, '--version']).status === 0
const runNpm = hasNpm ? `${process.execPath} ${npm}` : 'npm'

const works: readonly Work[] = [
  {
    name: 'compile 20 C files',
    before: 'rm -rf out; mkdir out',
    command: `for f in ${given}/c/*.c; do cc -O1 -c $f -o out/$(basename $f).o || exit 1; done`,
    goal: 1.05,
  },
  {
    name: 'npm ci, 20 packages of a folder',
    before: `rm -rf app; cp -r ${given}/app app`,
    command: `cd app && ${runNpm} ci --offline --no-audit --no-fund --ignore-scripts --cache /tmp/npm`,
    goal: 1.15,
  },
  {
    name: 'git clone, 2,000 files',
    before: 'rm -rf clone',
    command: `git -c safe.directory='*' clone -q --no-hardlinks ${given}/repo clone`,
    goal: 1.3,
  },
  {
    name: `rm -rf, ${FILES} files`,
    before: `rm -rf tree; cp -r ${given}/tree tree`,
    command: 'rm -rf tree',
    goal: 1.8,
  },
  { name: `cp -r, ${FILES} files`, before: 'rm -rf copy', command: `cp -r ${given}/tree copy`, goal: null },
]

const SIDES = ['bare', 'reported', 'removed', 'brokered', 'watched'] as const
type Side = (typeof SIDES)[number]

try {
  furnish()
  const rows: string[][] = []
  const processorRows: string[][] = []
  for (const work of works.filter(({ name }) => name.startsWith(WANTED))) {
    const empty = (): Record<Side, number[]> => ({ bare: [], reported: [], removed: [], brokered: [], watched: [] })
    const clock = empty()
    const processor = empty()
    for (let round = 0; round < ROUNDS + 1; round++) {
      for (const side of SIDES) {
        rmSync(taken, { force: true })
        execFileSync('/bin/sh', ['-c', work.before], { cwd: project })
        const took = await timed(() => run(side, work.command))
        if (round === 0) continue
        clock[side].push(took.ms)
        processor[side].push(took.processor)
      }
    }
    const ms = (side: Side) => median(clock[side])
    rows.push([
      work.name,
      `${ms('bare').toFixed(0)} ms`,
      `${ms('brokered').toFixed(0)} ms`,
      (ms('brokered') / ms('bare')).toFixed(2),
      (ms('removed') / ms('bare')).toFixed(2),
      work.goal === null ? '' : String(work.goal),
      (ms('watched') / ms('brokered')).toFixed(2),
    ])
    const least = (side: Side) => Math.min(...processor[side])
    const of = (side: Side) => (least(side) / least('bare')).toFixed(2)
    processorRows.push([
      work.name,
      `${least('bare').toFixed(0)} ms`,
      `${least('brokered').toFixed(0)} ms`,
      of('brokered'),
      of('reported'),
      of('removed'),
      work.goal === null ? '' : String(work.goal),
    ])
  }
  printTable(`changes through the broker, kept for undo (medians of ${ROUNDS})`, [
    ['', 'bubblewrap', 'Cordon', 'ratio', 'floor', 'goal', 'learning to Cordon'],
    ...rows,
  ])
  printTable(`the same in processor time (the least of ${ROUNDS})`, [
    ['', 'bubblewrap', 'Cordon', 'ratio', 'notified only', 'notified and removed', 'goal'],
    ...processorRows,
  ])
} finally {
  rmSync(base, { recursive: true, force: true })
}

/** Everything that is worked on, once. */
function furnish(): void {
  for (const folder of [project, given, join(base, 'state'), join(given, 'c'), join(given, 'app/packages')])
    mkdirSync(folder, { recursive: true })
  for (let i = 0; i < 20; i++) {
    const lines = Array.from(
      { length: 60 },
      (_, at) => `int f${i}_${at}(int x) { for (int i = 0; i < x; i++) x ^= i * ${at + 3}; return x; }`,
    )
    writeFileSync(join(given, 'c', `f${i}.c`), `#include <stdio.h>\n#include <stdlib.h>\n${lines.join('\n')}\n`)
  }
  execFileSync('cc', ['-O2', '-o', floor, join(import.meta.dirname, 'broker-floor.c')])
  fill(join(given, 'tree'), FILES)
  fill(join(given, 'repo'), 2_000)
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=x', '-c', 'user.email=x@example.org', ...words], { cwd: join(given, 'repo') })
  git('init', '-q')
  git('add', '-A')
  git('commit', '-qm', 'x')
  packages(join(given, 'app'))
}

function fill(folder: string, files: number): void {
  for (let i = 0; i < files; i++) {
    const place = join(folder, `d${i % 30}`, `e${Math.floor(i / 30) % 10}`)
    if (i < 300) mkdirSync(place, { recursive: true })
    writeFileSync(join(place, `f${i}.ts`), `export const f${i} = '${'x'.repeat(400 + ((i * 37) % 4000))}'\n`)
  }
}

/** A project of packages that come as archives from a folder. */
function packages(app: string): void {
  const dependencies: Record<string, string> = {}
  for (let i = 0; i < 20; i++) {
    const name = `part-${i}`
    const folder = join(base, 'pack', name)
    fill(join(folder, 'package/lib'), 60)
    writeFileSync(join(folder, 'package/package.json'), JSON.stringify({ name, version: '1.0.0' }))
    execFileSync('tar', ['-czf', join(app, `packages/${name}.tgz`), '-C', folder, 'package'])
    dependencies[name] = `file:packages/${name}.tgz`
  }
  writeFileSync(join(app, 'package.json'), JSON.stringify({ name: 'app', version: '1.0.0', dependencies }))
  execFileSync(
    '/bin/sh',
    ['-c', `${runNpm} install --offline --package-lock-only --no-audit --no-fund --cache ${base}/npm`],
    { cwd: app, stdio: 'ignore' },
  )
  rmSync(join(base, 'pack'), { recursive: true })
}

function planFor(command: readonly string[], folder: string | null, learns = false): SandboxPlan {
  const home = '/home/nobody-here'
  const own = {
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    manifestPath: join(project, 'cordon.toml'),
  }
  const changes =
    folder === null
      ? null
      : {
          rules: changeRules({ home, write: [project], named: [], own }),
          gitKeys: gitKeyLines([])
            .map((line) => `${line}\0`)
            .join(''),
          keep: { folder, fileBytes: 64 * 1024 ** 2, totalBytes: 1024 ** 3, must: 'everything' as const },
          free: [],
        }
  return planIn(project, [...times, ...command], {
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: '/tmp', LANG: 'C' },
    home,
    reads: [given, dirname(dirname(process.execPath)), dirname(dirname(npm))],
    changes,
    learns,
  })
}

async function timed(work: () => Promise<void>): Promise<{ readonly ms: number; readonly processor: number }> {
  const start = performance.now()
  await work()
  const ms = performance.now() - start
  return { ms, processor: Number(readFileSync(taken, 'latin1')) / 1000 }
}

function run(side: Side, command: string): Promise<void> {
  const words = ['/bin/sh', '-c', command]
  if (side === 'bare') return runBare(words)
  if (side === 'reported') return runBare([floor, 'answers', ...words])
  // Removing is what the broker does itself in every case; of the other works only the notices are counted.
  if (side === 'removed') return runBare([floor, 'removes', ...words])
  return runHeld(words, side === 'watched')
}

async function runHeld(command: readonly string[], learns: boolean): Promise<void> {
  const { id, folder } = store.begin({ roots: [project], what: 'bench' })
  const backend = createBwrapBackend()
  const result = await backend.launch(planFor(command, folder, learns), { stdout: 'discard', stderr: 'capture' })
  if (result.exitCode !== 0) throw new Error(`${command.join(' ')}: ${result.stderr?.bytes.toString('utf8')}`)
  store.forget(id)
}

async function runBare(command: readonly string[]): Promise<void> {
  const { program, args } = createBwrapBackend().compile(planFor([], null))
  const isOwn = (arg: string) => arg === '--as-pid-1' || arg === '--cap-add' || arg.startsWith('CAP_')
  const bare = [
    ...args.slice(0, args.indexOf('--')).filter((arg) => !isOwn(arg)),
    '--chdir',
    project,
    '--',
    ...times,
    ...command,
  ]
  const env = { PATH: process.env.PATH, HOME: '/tmp', LANG: 'C' }
  const child = spawn(program, bare, { stdio: ['ignore', 'ignore', 'pipe'], env, cwd: '/' })
  const errors: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error(`bare: ${command.join(' ')}: ${Buffer.concat(errors).toString('utf8')}`)
}
