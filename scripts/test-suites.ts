/**
 * `npm test -- suites --dir DIR [--only NAME] [--every N] [--test WORD] [--write]`: public suites that are not in the tree, from
 * the folder they were fetched to. What passes outside and fails in `cordon run` without a known reason fails the run.
 */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Case } from '../test/suites/cases.ts'
import { JUDGE_SUITES } from '../test/suites/judge-suites.ts'
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
    every: { type: 'string', default: '1' },
    test: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
})
if (values.dir === undefined) throw new Error('--dir DIR: the folder with the suites, one folder each')
const from = resolve(values.dir)
const every = Number(values.every)

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
  for (const made of [project, home]) mkdirSync(made, { recursive: true })
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

function runPrograms(suite: ProgramSuite, folder: string): Line {
  const places = (Object.keys(PLACES) as PlaceName[]).filter((place) => place !== 'outside' || !suite.mounts)
  const passed = { outside: 0, bubblewrap: 0, cordon: 0 }
  let cases = 0
  const reasons = new Map<string, number>()
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
      else reasons.set(why, (reasons.get(why) ?? 0) + 1)
    }
  }
  return {
    ...{ name: suite.name, from: suite.from, version: versionOf(folder), tests: tests.length, cases },
    ...{ ...passed, outside: suite.mounts ? null : passed.outside, reasons, unexplained },
  }
}

try {
  const lines: Line[] = []
  const isWanted = ({ name }: { readonly name: string }): boolean => values.only === undefined || name === values.only
  const missing: string[] = []
  for (const suite of [...PROGRAM_SUITES, ...JUDGE_SUITES].filter(isWanted)) {
    const folder = join(from, suite.folder)
    const state = !existsSync(folder)
      ? 'is not there'
      : 'isBuilt' in suite && !suite.isBuilt(folder)
        ? 'is not built'
        : null
    if (state !== null) {
      missing.push(suite.name)
      console.log(`${suite.name}: ${folder} ${state} (${suite.from}${'build' in suite ? `; ${suite.build}` : ''})`)
      continue
    }
    const line =
      'tests' in suite
        ? runPrograms(suite, folder)
        : { ...(await suite.run(folder, every)), name: suite.name, from: suite.from, version: versionOf(folder) }
    lines.push(line)
    console.log(
      `${line.name}: ${line.cases} cases, ${line.outside ?? '-'} pass outside, ${line.bubblewrap ?? '-'} in bubblewrap, ${line.cordon} here`,
    )
    for (const [why, count] of line.reasons) console.log(`  ${count}: ${why}`)
    for (const text of line.unexplained) console.log(`  UNEXPLAINED ${text}`)
  }
  if (values.write) {
    if (missing.length > 0) throw new Error(`not written: ${missing.join(', ')} did not run`)
    writeFileSync(PAGE, writePage(lines, every, new Date().toISOString().slice(0, 10)))
  }
  process.exitCode = lines.some(({ unexplained }) => unexplained.length > 0) ? 1 : missing.length > 0 ? 2 : 0
} finally {
  rmSync(base, { recursive: true, force: true })
}
