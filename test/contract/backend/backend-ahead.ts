/**
 * Runs one command with rooms laid out ahead, says so, and ends with its input. With a second argument it mounts a file system
 * there, in namespaces that the test throws away, and prints what the next command sees. Started by the test as a program.
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
  // The next room is laid out by then.
  await sleep(2)
  execFileSync('mount', ['-t', 'tmpfs', 'mounted', mountPoint])
  writeFileSync(`${mountPoint}/file`, 'new')
  console.log(await run('cat', `${mountPoint}/file`))
}
