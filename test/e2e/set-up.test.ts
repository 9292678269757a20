/** A checkout sets itself up: whatever runs at the same time, fails or is killed, `./cordon` works or says why not. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../until.ts'
import type { Ran } from './cordon.ts'

const HERE = resolve(import.meta.dirname, '../..')
/** The sources of a build: many files, for the tests that read them. */
const SOURCES = ['src', 'native']
const PARTS = [...SOURCES, 'cordon', 'scripts', ...globSync('{package,tsconfig}*.json', { cwd: HERE })]
const LONG_AGO = new Date('2001-01-01')

let template: string
let base: string
let checkout: string

/** A copy with everything of the files, their times among it; node's own is many times slower with as many files. */
function copy(from: string, to: string): void {
  execFileSync('cp', ['-a', '--', from, to])
}

beforeAll(() => {
  template = mkdtempSync(join(tmpdir(), 'cordon-set-up-'))
  mkdirSync(join(template, 'node_modules'))
  for (const part of PARTS) copy(join(HERE, part), join(template, part))
  for (const path of globSync('src/**/*.test.ts', { cwd: template })) rmSync(join(template, path))
  // Neither the compiler nor the first runs of a new build are what is tested here.
  writeFileSync(join(template, 'scripts/warm-up.ts'), '')
  // Some shells compare times by the second.
  for (const path of globSync('{cordon,*.json,src/**,native/**,scripts/**}', { cwd: template }))
    utimesSync(join(template, path), LONG_AGO, LONG_AGO)
  for (const name of readdirSync(join(HERE, 'node_modules')))
    if (name !== '.cordon-lock') symlinkSync(join(HERE, 'node_modules', name), join(template, 'node_modules', name))
  copy(join(HERE, 'package-lock.json'), join(template, 'node_modules/.cordon-lock'))
  mkdirSync(join(template, 'dist'))
  copy(join(HERE, 'dist/native'), join(template, 'dist/native'))
})
afterAll(() => rmSync(template, { recursive: true, force: true }))

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-set-up-'))
  checkout = join(base, `it's a "clone" für alle $HOME`)
  for (const folder of [checkout, project()]) mkdirSync(folder)
  for (const part of readdirSync(template)) if (!SOURCES.includes(part)) copy(join(template, part), checkout)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

function putSources(): void {
  for (const part of SOURCES) copy(join(template, part), checkout)
}

/** Has the real build compile no more of the library than one file: all of it takes a quarter of a minute. */
function compileOnly(file: string): void {
  const path = join(checkout, 'tsconfig.build.json')
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), include: [file] }))
  utimesSync(path, LONG_AGO, LONG_AGO)
}

/** A build that waits for a file `go`, and gives what was built here: for tests of who builds, and when. */
function putShortBuild(): void {
  const from = JSON.stringify(join(HERE, 'dist'))
  const text = `import { cpSync, existsSync, utimesSync } from 'node:fs'
while (!existsSync('go')) await new Promise((next) => setTimeout(next, 20))
cpSync(${from}, 'dist', { recursive: true, filter: (path) => !/\\.lock|\\.code-cache/.test(path) })
utimesSync('dist/.built', new Date(), new Date())
`
  const path = join(checkout, 'scripts/build.ts')
  writeFileSync(path, text)
  utimesSync(path, LONG_AGO, LONG_AGO)
}

/** As a checkout is that was built before. */
function putBuild(): void {
  // Other tests run the program here meanwhile, and write what was compiled.
  for (const part of readdirSync(join(HERE, 'dist')).filter((name) => name !== '.code-cache'))
    copy(join(HERE, 'dist', part), join(checkout, 'dist'))
  ageBuild()
}

function ageBuild(): void {
  const before = new Date(Date.now() - 60_000)
  utimesSync(join(checkout, 'dist/.built'), before, before)
}

/** Where commands are checked: a home is refused as a project. */
const project = () => join(base, 'project')

const environment = (path = process.env.PATH) => ({ PATH: path, HOME: base, CORDON_RESIDENT: 'off' })

function start(args: readonly string[], path?: string): ChildProcess {
  return spawn(join(checkout, 'cordon'), args, { cwd: project(), env: environment(path), detached: true })
}

async function end(child: ChildProcess): Promise<Ran> {
  let [out, err] = ['', '']
  child.stdout!.on('data', (text) => (out += text))
  child.stderr!.on('data', (text) => (err += text))
  return await new Promise((ended) => child.on('close', (code) => ended({ code, out, err })))
}

const run = (...args: string[]): Promise<Ran> => end(start(args))

/** What an agent's settings hold: the built program itself. */
function runBuilt(): Ran {
  const ran = spawnSync(process.execPath, [join(checkout, 'dist/cordon.cjs'), 'check', '--', 'ls'], {
    cwd: project(),
    env: environment(),
    encoding: 'utf8',
  })
  return { code: ran.status, out: ran.stdout, err: ran.stderr }
}

/** A file with more in it, replaced as git does it. */
function pull(file: string, more: string): void {
  const path = join(checkout, file)
  const text = readFileSync(path, 'utf8')
  rmSync(path)
  writeFileSync(path, text + more)
}

const builds = (ran: readonly Ran[]) => ran.filter(({ err }) => /^set-up: building$/m.test(err)).length
const hidden = () => readdirSync(join(checkout, 'dist')).filter((name) => name.startsWith('.draft'))

/** Everything of this machine's PATH but one program. */
function pathWithout(program: string): string {
  const folder = join(base, 'bin')
  mkdirSync(folder)
  const seen = new Set([program])
  for (const from of process.env.PATH!.split(':'))
    for (const name of existsSync(from) ? readdirSync(from) : []) {
      if (seen.has(name)) continue
      symlinkSync(join(from, name), join(folder, name))
      seen.add(name)
    }
  return folder
}

describe('two at the same time', () => {
  it.each([
    ['with flock', () => process.env.PATH],
    ['with perl instead', () => pathWithout('flock')],
  ])('build once, and both run (%s)', async (_, path) => {
    putSources()
    putShortBuild()
    const used = path()
    const both = [1, 2].map(() => start(['check', '--', 'ls'], used))
    let said = ''
    for (const child of both) child.stderr!.on('data', (text) => (said += text))
    const ends = both.map(end)
    await until('one waits for the other', () => said.includes('waiting for another set-up'))
    writeFileSync(join(checkout, 'go'), '')
    const ran = await Promise.all(ends)
    expect(ran.map(({ code, out }) => [code, out.split(' ')[0]])).toEqual(Array(2).fill([3, 'ask']))
    expect(builds(ran), JSON.stringify(ran)).toBe(1)
    const again = await run('check', '--', 'ls')
    expect([again.code, builds([again])]).toEqual([3, 0])
  })
})

it('what was written into a file that stays is built, but not for a hook', async () => {
  putSources()
  putBuild()
  putShortBuild()
  writeFileSync(join(checkout, 'go'), '')
  appendFileSync(join(checkout, 'src/surfaces/cli/start/main.ts'), '//\n')
  expect(builds([await run('hook', 'claude-code')])).toBe(0)
  expect(builds([await run('--version'), await run('--version')])).toBe(1)
  ageBuild()
  pull('src/surfaces/cli/start/main.ts', '//\n')
  expect(builds([await run('--version')])).toBe(1)
})

it('a build that fails leaves the old one, and nothing is judged by it', async () => {
  putSources()
  putBuild()
  compileOnly('src/broken.ts')
  writeFileSync(join(checkout, 'src/broken.ts'), 'export const broken: number = "text"\n')
  const checked = await run('check', '--', 'ls')
  // For another reason, and again before anything is bundled.
  compileOnly('src/nowhere.ts')
  const hooked = await run('hook', 'claude-code')
  expect([checked.code, checked.out, hooked.code, hooked.out]).toEqual([125, '', 2, ''])
  expect(checked.err).toContain('src/broken.ts')
  expect(hooked.err).toContain('No inputs were found')
  expect(runBuilt().code).toBe(3)
  expect(hidden()).toEqual([])
})

it('a killed set-up neither blocks the next one nor keeps its half for ever, and hooks find a whole program all along', async () => {
  // An earlier build's stamp said nothing.
  putSources()
  putBuild()
  compileOnly('src/system/fault.ts')
  writeFileSync(join(checkout, 'dist/.built'), '')
  // A stamp is older than the chunks of its build, which the next build leaves to processes that load them still.
  utimesSync(join(checkout, 'dist/.built'), LONG_AGO, LONG_AGO)
  const killed = start(['check', '--', 'ls'])
  await new Promise<void>((reached) =>
    killed.stderr!.on('data', (text) => {
      if (String(text).includes('building')) reached()
    }),
  )
  await until('a draft is begun', () => hidden().length > 0)
  process.kill(-killed.pid!, 'SIGKILL')
  const [half] = hidden()
  utimesSync(join(checkout, 'dist', half!), 0, 0)
  const building = run('check', '--', 'ls')
  let going = true
  void building.finally(() => (going = false))
  while (going) {
    expect(runBuilt()).toMatchObject({ code: 3, err: expect.stringMatching(/^there is no cordon.toml/) })
    await new Promise((next) => setImmediate(next))
  }
  const again = await building
  expect([again.code, builds([again])], again.err).toEqual([3, 1])
  expect(hidden()).toEqual([])
})

it.each([
  { name: 'Darwin', says: 'sandbox-exec, which is part of macOS', note: 'a Mac without its sandbox' },
  { name: 'FreeBSD', says: 'Cordon has a sandbox for Linux and macOS', note: 'a system without one of ours' },
])('$note gets that message', async ({ name, says }) => {
  writeFileSync(join(base, 'uname'), `#!/bin/sh\necho ${name}\n`, { mode: 0o755 })
  const ran = await end(start(['check', '--', 'ls'], `${base}:${process.env.PATH}`))
  expect([ran.code, ran.out]).toEqual([125, ''])
  expect(ran.err).toContain(says)
})

it('a checkout that cannot be written and is not built says whose turn it is', async () => {
  rmSync(join(checkout, 'dist'), { recursive: true })
  writeFileSync(join(checkout, 'dist'), 'in the way')
  const ran = await run('check', '--', 'ls')
  expect([ran.code, ran.out]).toEqual([125, ''])
  expect(ran.err).toContain('dist cannot be written')
})
