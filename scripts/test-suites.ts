/**
 * `npm test -- suites --dir DIR [--only NAME] [--every N] [--test WORD] [--write]`: public suites that are not in the tree, from
 * the folder they were fetched to. What passes outside and fails in `cordon run` without a known reason fails the run.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Case } from '../test/suites/cases.ts'
import { JUDGE_SUITES, type Judged } from '../test/suites/judge-suites.ts'
import { type Line, writePage } from '../test/suites/page.ts'
import { PROGRAM_SUITES, type ProgramSuite, type ProgramTest, versionOf } from '../test/suites/program-suites.ts'
import { removeTree } from '../test/users.ts'

const CLI = join(import.meta.dirname, '../dist/cordon.cjs')
const PAGE = join(import.meta.dirname, '../docs/reference/conformance.md')
const SECONDS = 600

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    only: { type: 'string' },
    every: { type: 'string' },
    test: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
})
if (values.dir === undefined) throw new Error('--dir DIR: the folder with the suites, one folder each')
const from = resolve(values.dir)

/** The last results of each suite, from which the page is written: a suite can run alone. */
const resultsFile = join(from, 'results.json')
const readResults = (): Record<string, Line> =>
  existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, 'utf8')) : {}
const today = (): string => new Date().toISOString().slice(0, 10)

/** Outside, in a sandbox with the same rights that judges nothing, and in Cordon. */
const PLACES = {
  outside: (argv: readonly string[]) => argv,
  bubblewrap: (argv: readonly string[], project: string) => [
    ...['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', project, project],
    ...['--unshare-all', '--cap-drop', 'ALL', '--die-with-parent', '--', ...argv],
  ],
  cordon: (argv: readonly string[], _project: string, suite: string) => [
    ...[process.execPath, CLI, 'run', '--quiet', '--read', suite, '--', ...argv],
  ],
}
type PlaceName = keyof typeof PLACES

const WITHOUT_RIGHTS = 'fails in bubblewrap too, which gives no capability either'

// Not in the temporary folder, which a sandbox has as its own.
const base = mkdtempSync('/var/tmp/cordon-suites-')

function run(suite: ProgramSuite, folder: string, { name, command }: ProgramTest, place: PlaceName): readonly Case[] {
  const [project, home] = [join(base, 'project'), join(base, 'home')]
  for (const created of [project, home]) mkdirSync(created, { recursive: true })
  try {
    const [program, ...args] = PLACES[place](command, project, folder)
    const { stdout, stderr } = spawnSync(program!, args, {
      cwd: project,
      env: { PATH: process.env.PATH, HOME: home, LC_ALL: 'C', ...suite.env },
      encoding: 'utf8',
      timeout: SECONDS * 1000,
      maxBuffer: 1 << 28,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    return suite.cases(`${stdout}\n${stderr}`).map((found) => ({ ...found, name: `${name} ${found.name}` }))
  } finally {
    removeTree(project)
    rmSync(home, { recursive: true, force: true })
  }
}

function runPrograms(suite: ProgramSuite, folder: string, every: number): Judged {
  const places = (Object.keys(PLACES) as PlaceName[]).filter((place) => place !== 'outside' || !suite.mounts)
  const passed = { outside: 0, bubblewrap: 0, cordon: 0 }
  let cases = 0
  const reasons: Record<string, number> = {}
  const unexplained: string[] = []
  const tests = suite.tests(folder).filter(({ name }, at) => at % every === 0 && name.includes(values.test))
  for (const test of tests) {
    const found = new Map(
      places.map((place) => [place, new Map(run(suite, folder, test, place).map((one) => [one.name, one]))]),
    )
    const passes = (place: PlaceName, name: string): boolean => found.get(place)?.get(name)?.result === 'passed'
    for (const name of found.get(places[0]!)!.keys()) {
      cases++
      for (const place of places) if (passes(place, name)) passed[place]++
      if (!passes(places[0]!, name) || passes('cordon', name)) continue
      const here = found.get('cordon')!.get(name)
      const text = `${name}: ${here === undefined ? 'no result' : `${here.result}: ${here.says}`}`
      const known = suite.known.find(({ pattern }) => pattern.test(text))?.why
      const why = known ?? (passes('bubblewrap', name) ? null : WITHOUT_RIGHTS)
      if (why === null) unexplained.push(text)
      else reasons[why] = (reasons[why] ?? 0) + 1
    }
  }
  const outside = suite.mounts ? null : passed.outside
  return { tests: tests.length, cases, ...passed, outside, reasons, unexplained }
}

try {
  const isWanted = ({ name }: { readonly name: string }): boolean => values.only === undefined || name === values.only
  const all = [...PROGRAM_SUITES, ...JUDGE_SUITES]
  let [missing, failed] = [0, 0]
  for (const suite of all.filter(isWanted)) {
    const folder = join(from, suite.folder)
    const unbuilt = 'isBuilt' in suite && !suite.isBuilt(folder)
    if (unbuilt || !existsSync(folder)) {
      missing++
      console.log(
        `${suite.name}: get ${suite.from} into ${folder}${'build' in suite ? `, and there: ${suite.build}` : ''}`,
      )
      continue
    }
    const every = Number(values.every ?? suite.every ?? 1)
    const judged = 'tests' in suite ? runPrograms(suite, folder, every) : await suite.run(folder, every)
    const { cases, outside, bubblewrap, cordon, reasons, unexplained } = judged
    if (unexplained.length > 0) failed++
    const passes = `${outside ?? '-'} pass outside, ${bubblewrap ?? '-'} in bubblewrap, ${cordon} in Cordon`
    console.log(`${suite.name}: ${cases} cases, ${passes}`)
    for (const [why, count] of Object.entries(reasons)) console.log(`  ${count}: ${why}`)
    for (const text of unexplained) console.log(`  NOT EXPLAINED ${text}`)
    const version = { name: suite.name, from: suite.from, version: versionOf(folder), date: today() }
    const line: Line = { ...version, every, ...judged }
    if (values.test === '') writeFileSync(resultsFile, JSON.stringify({ ...readResults(), [suite.name]: line }))
  }
  const results = readResults()
  if (values.write) writeFileSync(PAGE, writePage(all.flatMap(({ name }) => results[name] ?? [])))
  process.exitCode = failed > 0 ? 1 : missing > 0 ? 2 : 0
} finally {
  rmSync(base, { recursive: true, force: true })
}
