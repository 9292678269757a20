/**
 * `npm test`: runs every test, or what its words name (`npm test -- --list`), and ends with the plain line of counts that CI
 * reads. A skipped test is a failure here, and so is a temporary file that the run leaves behind.
 */

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NEEDS_ROOT, removeTree } from '../test/users.ts'
import { closedFolder, runReachable } from './reachable.ts'
import { changedFiles, nearTests, needsBuild, type RelatedTest, readTexts, relatedTests } from './related.ts'
import { listSuites, SUITES, type Suite } from './suites.ts'

function runSuite({ setUp, packages, command, env }: Suite, more: readonly string[]): number {
  prepare(setUp, packages)
  const [program, ...args] = [...command, ...more]
  return spawnSync(program!, args, { stdio: 'inherit', env: { ...process.env, ...env } }).status ?? 1
}

/** Installs and builds what is missing, or ends with what to install. */
function prepare(what: Suite['setUp'], packages: readonly string[] = []): void {
  const { status } = spawnSync('bash', ['scripts/set-up.sh', what, ...packages], { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/** How long tests of the second stage may take, one after the other: two cores are done with it in half of that. */
const NEAR_SECONDS = 60

/** Unit tests and cases that are related to what changed; then, where these pass, the nearest of the others. */
function runChanged(since: string | null): number {
  const texts = readTexts()
  const changed = changedFiles(since)
  const related = relatedTests(texts, changed)
  const isFirst = ({ path }: RelatedTest): boolean => /^(?:src|test\/cases|test\/layers)\//.test(path)
  const first = related.filter(isFirst).map(({ path }) => path)
  const others = related.filter(
    (test) => !isFirst(test) && /^test\/(?:soundness|contract|attacks|egress|promises|e2e)\//.test(test.path),
  )
  const last = lastSeconds()
  const near = nearTests(
    others.filter(({ path, distance }) => distance === 0 || !needsBuild(texts, path)),
    (path) => last(path) ?? 5,
    NEAR_SECONDS,
  )
  console.log(
    `${changed.length} files changed: ${first.length} related unit tests and cases, then ${near.length} more.`,
  )
  prepare(near.some((path) => needsBuild(texts, path)) ? 'test' : 'native')
  const left = others.length - near.length
  if (left > 0) console.log(`${left} related files of other tests are left to npm test.`)
  const status = first.length === 0 ? 0 : runTests(first)
  return status === 0 && near.length > 0 ? runTests(near) : status
}

/** How long each file took the last time, by Vitest's own notes. */
function lastSeconds(): (path: string) => number | null {
  const [notes] = globSync('node_modules/.vite/vitest/*/results.json')
  if (notes === undefined) return () => null
  const { projects } = JSON.parse(readFileSync(notes, 'utf8')) as Notes
  const files = Object.assign(
    {},
    ...Object.values(projects).map((project) => project.files),
  ) as Notes['projects'][string]['files']
  return (path) => (files[path] === undefined ? null : files[path].duration / 1000)
}

interface Notes {
  readonly projects: Readonly<
    Record<string, { readonly files: Readonly<Record<string, { readonly duration: number }>> }>
  >
}

/** Runs vitest with further words; returns the status. */
function runTests(more: readonly string[]): number {
  // Tests that become another user need the checkout: below a home of mode 0700 they cannot even start.
  const checkout = realpathSync('.')
  const closed = process.getuid?.() === 0 ? closedFolder(checkout) : null
  if (closed !== null) {
    const status = runReachable(checkout, ['node', 'scripts/test.ts', ...more], process.env)
    if (status === null)
      console.error(
        `Tests also run as an ordinary user, who cannot pass ${closed} to reach this checkout: move it (to /srv, say), or run npm test as the user it belongs to.`,
      )
    return status ?? 1
  }

  const scratch = mkdtempSync(join(tmpdir(), 'cordon-test-'))
  try {
    return runIn(scratch, more)
  } finally {
    // A test that failed may leave folders that are closed to their owner.
    removeTree(scratch)
  }
}

/** Caches of programs that are not ours, which they keep on purpose. */
const CACHES: readonly RegExp[] = [/^node-compile-cache$/, /^v8-compile-cache-\d+$/]

interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly testResults: readonly { readonly assertionResults: readonly Result[] }[]
}

interface Result {
  readonly status: string
  readonly tags: readonly string[]
}

function runIn(scratch: string, more: readonly string[]): number {
  const report = join(scratch, 'report.json')
  const temporary = join(scratch, 'tmp')
  // What the programs of the tests are compiled to: hundreds of them start from source.
  const compiled = join(scratch, 'compiled')
  for (const folder of [temporary, compiled]) {
    mkdirSync(folder)
    // Some tests run as another user, who needs a place as open as /tmp is.
    chmodSync(folder, 0o1777)
  }
  chmodSync(scratch, 0o711)

  // One that is killed does not keep what it compiled, and dozens of them are: these end, while Vitest starts. Others' code is
  // not believed, so the ordinary user of the tests has its own.
  for (const user of process.getuid?.() === 0 ? [{}, { uid: 65534, gid: 65534 }] : [{}])
    spawn(process.execPath, ['src/index.ts'], {
      ...user,
      stdio: 'ignore',
      env: { ...process.env, NODE_COMPILE_CACHE: compiled },
    })

  const vitest = spawnSync(
    'vitest',
    ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...more],
    { stdio: 'inherit', env: { ...process.env, TMPDIR: temporary, CORDON_TEST_COMPILED: compiled } },
  )
  const left = readdirSync(temporary).filter((name) => !CACHES.some((cache) => cache.test(name)))
  if (left.length > 0) {
    console.error(`${left.length} temporary files or folders were left behind; the test that makes one removes it:`)
    for (const name of left.slice(0, 40)) console.error(`  ${name}`)
    if (left.length > 40) console.error(`  and ${left.length - 40} more`)
  }
  const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
    readFileSync(report, 'utf8'),
  ) as Report
  const leftOut = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status, tags }) => status === 'skipped' && tags.includes(NEEDS_ROOT.tags)).length
  const skipped = numPendingTests - leftOut
  if (skipped > 0) console.error('A skipped test counts as a failure: make it run, or delete it.')
  if (leftOut > 0) console.log(`${leftOut} rows need root and were left out.`)
  if (process.env.CORDON_ENGINES === undefined)
    console.log('Container engines are not among these: npm test -- engines.')
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${skipped} skipped`)
  return vitest.status === 0 && skipped === 0 && left.length === 0 ? 0 : 1
}

const words = process.argv.slice(2)
const suite = SUITES.find(({ name }) => name === words[0])
if (words[0] === '--list') console.log(listSuites())
else if (suite) process.exitCode = runSuite(suite, words.slice(1))
else if (words[0]?.startsWith('--changed')) process.exitCode = runChanged(words[0].split('=')[1] ?? null)
else {
  prepare('test')
  process.exitCode = runTests(words)
}
