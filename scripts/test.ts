/**
 * Runs every test and ends with the plain closing line that CI reads. A skipped test is a failure here, and so is a
 * temporary file that the run leaves behind.
 */

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { closedFolder, runReachable } from './reachable.ts'

/** Caches of programs that are not ours, which they keep on purpose. */
const CACHES: readonly RegExp[] = [/^node-compile-cache$/, /^v8-compile-cache-\d+$/]

// Tests that become another user need the checkout: below a home of mode 0700 they cannot even start.
const checkout = realpathSync('.')
const closed = process.getuid?.() === 0 ? closedFolder(checkout) : null
if (closed !== null) {
  const status = runReachable(checkout, ['node', 'scripts/test.ts', ...process.argv.slice(2)], process.env)
  if (status === null) {
    console.error(
      `Tests also run as an ordinary user, who cannot pass ${closed} to reach this checkout: move it (to /srv, say), or run npm test as the user it belongs to.`,
    )
  }
  process.exit(status ?? 1)
}

const scratch = mkdtempSync(join(tmpdir(), 'cordon-test-'))
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
// not believed, so the ordinary user of the tests has some of their own.
for (const user of process.getuid?.() === 0 ? [{}, { uid: 65534, gid: 65534 }] : [{}])
  spawn(process.execPath, ['src/index.ts'], {
    ...user,
    stdio: 'ignore',
    env: { ...process.env, NODE_COMPILE_CACHE: compiled },
  })

const vitest = spawnSync(
  'vitest',
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { stdio: 'inherit', env: { ...process.env, TMPDIR: temporary, CORDON_TEST_COMPILED: compiled } },
)
let skipped = 0
let left: string[] = []
try {
  left = readdirSync(temporary).filter((name) => !CACHES.some((cache) => cache.test(name)))
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
  skipped = numPendingTests
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
if (process.env.CORDON_ENGINES === undefined)
  console.log('Container engines are not among these: npm run test:engines.')
if (skipped > 0) console.error('A skipped test counts as a failure: make it run, or delete it.')
if (left.length > 0) {
  console.error(`${left.length} temporary files or folders were left behind; the test that makes one removes it:`)
  for (const name of left.slice(0, 40)) console.error(`  ${name}`)
  if (left.length > 40) console.error(`  and ${left.length - 40} more`)
}
process.exitCode = vitest.status === 0 && skipped === 0 && left.length === 0 ? 0 : 1
