/** Runs the attacks of every layout in Cordon's own sandbox, as the current user. Started by the test as a program. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import type { Backend } from '../../../src/sandbox/backend.ts'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { createLandlockBackend } from '../../../src/sandbox/landlock/backend.ts'
import { type CommandEngine, createContainerBackend } from '../../../src/sandbox/oci/gvisor-backend.ts'
import type { Pin } from '../../../src/sandbox/plan.ts'
import { planIn } from '../../plan-in.ts'
import type { Layout } from './attack.ts'

export interface LayoutInput {
  readonly root: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  readonly masks: readonly string[]
  readonly pins: readonly Pin[]
  /** A container engine in bubblewrap's place. */
  readonly engine?: CommandEngine | 'landlock'
  /** Every layout, unless asked to. */
  readonly sandboxes?: readonly Layout[]
}

function backendOf(engine: LayoutInput['engine']): Backend {
  if (engine === 'landlock') return createLandlockBackend()
  return engine ? createContainerBackend(engine) : createBwrapBackend()
}

async function attackSandbox(input: LayoutInput, layout: Layout): Promise<string> {
  const readonly = join(input.root, 'readonly')
  const plan = planIn(input.project, ['/usr/bin/bash', join(readonly, 'driver.sh')], {
    env: { ...input.env, A: join(readonly, 'attacks', layout) },
    baseline: layout === 'all' ? 'all' : 'system',
    home: join(input.root, 'home'),
    reads: [readonly, join(input.root, 'sockets')],
    masks: input.masks,
    pins: input.pins,
    unixSockets: layout === 'unix',
    limits: { timeoutMs: 280_000, outputBytes: 10_000_000 },
  })
  const backend = backendOf(input.engine)
  if (layout !== 'terminal') {
    const result = await backend.launch(plan, { stdout: 'capture', stderr: 'capture' })
    return result.stdout!.bytes.toString('utf8') + result.stderr!.bytes.toString('utf8')
  }
  const chunks: Buffer[] = []
  const output = new Writable({
    write: (chunk, _, done) => {
      chunks.push(chunk)
      done()
    },
  })
  await backend.launch(plan, { terminal: { input: new PassThrough(), output } })
  return Buffer.concat(chunks).toString('utf8')
}

if (import.meta.main) {
  const input = JSON.parse(readFileSync(0, 'utf8')) as LayoutInput
  for (const layout of input.sandboxes ?? (['usual', 'unix', 'all', 'terminal'] as const))
    process.stdout.write(await attackSandbox(input, layout))
}
