/** Launches one script in Cordon's sandbox as the current user and prints the result as JSON. Started by tests as a program. */

import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import type { Limits } from '../../../src/sandbox/limits.ts'
import { planIn } from '../../plan-in.ts'

export interface OneInput {
  readonly project: string
  readonly reads: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly script: string
  readonly limits: Limits
  /** True: streams pass through and nothing is printed at the end. */
  readonly inherit?: boolean
}

if (import.meta.main) {
  const input = JSON.parse(process.argv[2]!) as OneInput
  const { script, project, env, reads, limits } = input
  const plan = planIn(project, ['/usr/bin/bash', '-c', script], { env, reads, limits })
  const backend = createBwrapBackend()
  if (input.inherit) {
    const result = await backend.launch(plan, { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit' })
    process.exitCode = result.exitCode
  } else {
    const result = await backend.launch(plan, { stdout: 'capture', stderr: 'capture' })
    const { stdout, stderr, ...rest } = result
    const shown = { kept: stdout!.bytes.length, total: stdout!.total, text: stdout!.bytes.toString('utf8', 0, 1000) }
    console.log(JSON.stringify({ ...rest, ...shown, errors: stderr!.bytes.toString('utf8', 0, 1000) }))
  }
}
