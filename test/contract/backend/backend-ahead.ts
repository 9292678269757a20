/**
 * Runs one command with sandboxes prepared ahead, says so, and ends with its input. With a second argument it mounts a file system
 * there, in namespaces that the test throws away, and takes it away again, and prints what the next commands see. Started by the test as a program.
 */

import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { planIn } from '../../plan-in.ts'

const [project, mountPoint] = process.argv.slice(2) as [string, string?]
const backend = createBwrapBackend({ commands: 'many' })

async function run(...argv: string[]): Promise<string> {
  const plan = planIn(project, argv, { limits: { processes: 100 } })
  return (await backend.launch(plan, { stdout: 'capture', stderr: 'capture' })).stdout!.bytes.toString()
}

await run('true')
if (mountPoint === undefined) {
  console.log('waiting')
  await once(process.stdin.resume(), 'end')
} else {
  const file = `${mountPoint}/file`
  writeFileSync(file, 'below')
  // The next layout is prepared by then.
  await sleep(2)
  execFileSync('mount', ['-t', 'tmpfs', 'mounted', mountPoint])
  writeFileSync(file, 'mounted')
  console.log(await run('cat', file))
  await sleep(2)
  // A process that waits in the same spare sandbox keeps it: it is discarded as a busy one is.
  execFileSync('umount', ['--lazy', mountPoint])
  console.log(await run('cat', file))
}
