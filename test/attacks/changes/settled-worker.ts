/** Runs a script in a sandbox without a broker, and settles what it left, as on a machine without Landlock: BASE SCRIPT. */

import { join } from 'node:path'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { planSandbox } from '../../../src/sandbox/plan.ts'
import { SecretTree } from '../../../src/sandbox/protect/tree.ts'
import { takeBaseline } from '../../../src/sandbox/quarantine/baseline.ts'
import { settleRun } from '../../../src/sandbox/quarantine/quarantine.ts'
import { readHostFacts } from '../../../src/sandbox/session.ts'

const [base, script] = process.argv.slice(2) as [string, string]
const project = join(base, 'project')
const stateDir = join(base, 'state')
const own = { configDir: join(base, 'config'), stateDir, manifestPath: join(project, 'cordon.toml') }
const tree = new SecretTree([project])
tree.refresh()
const baseline = takeBaseline(tree, { home: base, named: [], own })
const request = {
  argv: ['/bin/sh', '-c', script],
  cwd: project,
  env: { PATH: '/usr/bin:/bin', HOME: '/tmp', LANG: 'C' },
  baseline: 'system' as const,
  home: '/home/nobody-here',
  uid: process.getuid!(),
  gid: process.getgid!(),
  reads: [],
  writes: [project],
  masks: [],
  // Harder than in use, where existing files are pinned as well.
  pins: [],
  network: 'none' as const,
  unixSockets: false,
  limits: { timeoutMs: 120_000 },
}
const result = await createBwrapBackend().launch(planSandbox({ ...request, facts: readHostFacts(request) }), {
  stdout: 'discard',
  stderr: 'discard',
})
const findings = settleRun(tree, baseline, stateDir)
tree.close()
console.log(JSON.stringify({ status: result.exitCode, findings }))
