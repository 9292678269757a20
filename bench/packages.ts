/**
 * What the package gate costs: `npm ci` of a real project of some 300 packages through `cordon run`, with `[packages]` and
 * without, in turns, against a registry on loopback. npm's cache is empty each time. `npm run bench -- packages`.
 */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median, printTable } from './measure.ts'

const ROUNDS = Number(process.env.CORDON_BENCH_ROUNDS ?? 5)
const CLI = join(import.meta.dirname, '../dist/cordon.cjs')
const CACHE = join(import.meta.dirname, '../.cache/packages')
const MANIFEST = 'schema_version = 1\n[sandbox.os]\ncommand_tools = ["npm", "node"]\n'
const GATE = '[packages]\nminimum_age = "3d"\nnew_dependencies = "ask"\nlook_alikes = "ask"\n'
const PROJECT = {
  name: 'site',
  version: '1.0.0',
  dependencies: { express: '4.21.2', react: '18.3.1', 'react-dom': '18.3.1', lodash: '4.17.21' },
  devDependencies: { jest: '29.7.0', typescript: '5.6.3' },
}

export async function benchPackages(): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'cordon-bench-packages-'))
  const registry = spawn(process.execPath, [join(import.meta.dirname, 'npm-registry.ts'), join(CACHE, 'registry')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(registry.stdout, 'data')) as [Buffer]
    const origin = `http://127.0.0.1:${String(line).trim()}/`
    const count = prepareLock(origin)
    const ways = { without: place(base, 'without', origin, ''), with: place(base, 'with', origin, GATE) }
    const taken: Record<string, Taken[]> = { without: [], with: [] }
    for (let round = 0; round < ROUNDS; round++)
      for (const [name, own] of Object.entries(ways).toSorted(() => (round % 2 === 0 ? 1 : -1))) {
        const one = install(own)
        // The first round of each fills caches.
        if (round > 0) taken[name]!.push(one)
      }
    const measures: readonly ((all: readonly Taken[]) => number)[] = [
      (all) => median(all.map(({ elapsed }) => elapsed)),
      (all) => Math.min(...all.map(({ elapsed }) => elapsed)),
      (all) => median(all.map(({ processor }) => processor)),
      (all) => Math.min(...all.map(({ processor }) => processor)),
    ]
    printTable(`npm ci, ${count} packages, ${ROUNDS - 1} rounds in turns`, [
      ['', 'median ms', 'least ms', 'processor, median ms', 'least ms'],
      ...Object.entries(taken).map(([name, all]) => [name, ...measures.map((of) => of(all).toFixed(0))]),
      ['ratio', ...measures.map((of) => (of(taken.with!) / of(taken.without!)).toFixed(3))],
    ])
  } finally {
    registry.kill()
    rmSync(base, { recursive: true, force: true })
  }
}

/** The lock file is written once, with the port of that time; npm replaces it. Versions of today would be too young. */
function prepareLock(origin: string): number {
  const file = join(CACHE, 'package-lock.json')
  if (!existsSync(file)) {
    const once = join(CACHE, 'once')
    mkdirSync(once, { recursive: true })
    writeFileSync(join(once, 'package.json'), JSON.stringify(PROJECT))
    const words = [
      `--registry=${origin}`,
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--before=2025-06-01',
      `--cache=${join(once, 'c')}`,
    ]
    execFileSync('npm', ['install', ...words], { cwd: once, stdio: ['ignore', 'ignore', 'inherit'] })
    cpSync(join(once, 'package-lock.json'), file)
    rmSync(once, { recursive: true })
  }
  return Object.keys(JSON.parse(readFileSync(file, 'utf8')).packages).length - 1
}

interface Place {
  readonly directory: string
  readonly env: NodeJS.ProcessEnv
}

function place(base: string, name: string, origin: string, gate: string): Place {
  const [directory, home] = [join(base, name), join(base, `${name}-home`)]
  for (const one of [directory, home]) mkdirSync(one)
  const lock = readFileSync(join(CACHE, 'package-lock.json'), 'utf8')
  writeFileSync(join(directory, 'package-lock.json'), lock.replaceAll(/http:\/\/127\.0\.0\.1:\d+\//g, origin))
  writeFileSync(join(directory, 'package.json'), JSON.stringify(PROJECT))
  writeFileSync(join(directory, '.npmrc'), `registry=${origin}\n`)
  writeFileSync(join(directory, '.gitignore'), 'node_modules\n')
  writeFileSync(join(directory, 'cordon.toml'), `${MANIFEST}${gate}`)
  const env = { PATH: process.env.PATH, HOME: home }
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: directory, env, stdio: ['ignore', 'ignore', 'inherit'] })
  run('git', 'init', '-q')
  run('git', 'add', '.')
  run('git', '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'one')
  run(process.execPath, CLI, 'sign', '--yes')
  return { directory, env }
}

interface Taken {
  readonly elapsed: number
  /** Of all processes: on a busy machine it says more than the time that passed. */
  readonly processor: number
}

function install({ directory, env }: Place): Taken {
  rmSync(join(directory, 'node_modules'), { recursive: true, force: true })
  const words = ['--no-audit', '--no-fund', '--ignore-scripts', '--cache=/tmp/npm-cache']
  const command = [process.execPath, CLI, 'run', '--', 'npm', 'ci', ...words]
  const { status, stderr } = spawnSync('bash', ['-c', 'TIMEFORMAT="took %R %U %S"; time "$@"', 'bash', ...command], {
    cwd: directory,
    env,
    encoding: 'utf8',
  })
  const [elapsed, user, system] = /^took (\S+) (\S+) (\S+)$/m.exec(stderr)?.slice(1).map(Number) ?? []
  if (status !== 0 || elapsed === undefined) throw new Error(stderr)
  return { elapsed: elapsed * 1000, processor: (user! + system!) * 1000 }
}
