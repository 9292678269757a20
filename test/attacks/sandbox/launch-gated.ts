/** Runs a script in each sandbox after the host did something while masks and pins were mounted and nothing ran. Started by the test as a program. */

import { execFileSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { planIn } from '../../plan-in.ts'

export interface GatedInput {
  readonly project: string
  /** Names in it. */
  readonly masks: readonly string[]
  readonly pins: readonly string[]
  /** What the host does once masks and pins are in place. */
  readonly meanwhile: string
  readonly script: string
}

if (import.meta.main) {
  const backend = createBwrapBackend()
  for (const { project, script, meanwhile, ...input } of JSON.parse(process.argv[2]!) as readonly GatedInput[]) {
    const masks = input.masks.map((name) => join(project, name))
    const pins = input.pins.map((name) => ({ path: join(project, name), mode: 'read-only' as const }))
    const plan = planIn(project, ['/usr/bin/bash', '-c', script], { masks, pins })
    // The scan finds nothing: it compares names and numbers, which can repeat.
    const verify = () => execFileSync('sh', ['-c', meanwhile], { cwd: project }).length === 0
    writeSync(1, `#${project}\n`)
    try {
      await backend.launch(plan, { stdin: 'inherit', stdout: 'inherit', stderr: 'inherit', verify })
    } catch (error) {
      writeSync(1, `[${(error as { code?: string }).code}]\n`)
    }
  }
  backend.release()
}
