/** Runs every test and ends with the plain closing line that CI reads; a skipped test is a failure here. */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const scratch = mkdtempSync(join(tmpdir(), 'cordon-test-'))
const report = join(scratch, 'report.json')
const vitest = spawnSync(
  'vitest',
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
let skipped = 0
try {
  const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'))
  skipped = numPendingTests
  console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
if (skipped > 0) console.error('A skipped test counts as a failure: make it run, or delete it.')
process.exitCode = vitest.status === 0 && skipped === 0 ? 0 : 1
