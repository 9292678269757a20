/**
 * Every backend that the contract tests: to join, add a row. Its rows are left out only by what it declares that it
 * cannot do (`Backend.capabilities`), and a plan that needs that is refused.
 */

import { Writable } from 'node:stream'
import { describe, test } from 'vitest'
import type { Backend, Capability, LaunchIo } from '../../../src/sandbox/backend.ts'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { createSeatbeltBackend } from '../../../src/sandbox/experimental/seatbelt/backend.ts'
import { createLandlockBackend } from '../../../src/sandbox/landlock/backend.ts'
import { createContainerBackend } from '../../../src/sandbox/oci/gvisor-backend.ts'
import { commandEnginesHere } from '../code/engines-here.ts'

export const BACKENDS: readonly { readonly name: string; readonly backend: Backend }[] =
  process.platform === 'darwin'
    ? [{ name: 'seatbelt', backend: createSeatbeltBackend() }]
    : [
        { name: 'bwrap', backend: createBwrapBackend() },
        { name: 'landlock', backend: createLandlockBackend() },
        { name: 'bwrap, prepared ahead', backend: aheadOf(createBwrapBackend({ commands: 'many' })) },
        ...commandEnginesHere().map((engine) => ({ name: engine, backend: createContainerBackend(engine) })),
      ]

/** What a row is written with: one that needs what a backend does not declare is not written. */
export function rowsOf({ capabilities }: Backend): (needs: Capability) => Rows {
  return (needs) => (capabilities.has(needs) ? RUN : LEFT_OUT)
}

interface Rows {
  readonly test: typeof test
  readonly describe: typeof describe
}

const RUN: Rows = { test, describe }
const leftOut = Object.assign(() => {}, { each: () => () => {} })
const LEFT_OUT = { test: leftOut, describe: leftOut } as unknown as Rows

/** A backend of which every command runs in a layout that was prepared ahead. */
function aheadOf(backend: Backend): Backend {
  return {
    ...backend,
    launch: async (planned, io = {}) => {
      const plan = 'complete' in planned ? planned.complete() : planned
      const streams: LaunchIo = {
        stdin: io.stdin === undefined || io.stdin === 'none' || io.stdin === 'inherit' ? (io.stdin ?? 'none') : '',
        ...(io.stdout !== undefined && { stdout: io.stdout instanceof Writable ? 'capture' : io.stdout }),
        ...(io.stderr !== undefined && { stderr: io.stderr instanceof Writable ? 'capture' : io.stderr }),
      }
      const first = {
        ...plan,
        argv: ['true'],
        cwd: '/',
        masks: [],
        pins: [],
        network: { kind: 'none' },
        servers: [],
      } as const
      // What cannot be prepared is the business of the launch that follows.
      await backend.launch(first, streams).catch(() => null)
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
      return backend.launch(plan, io)
    },
  }
}
