/** Runs a program beside the tests, which go on meanwhile, and keeps what it says up to a size. */

import { spawn } from 'node:child_process'

const KEPT_BYTES: number = 256 * 1024 * 1024

export interface Aside {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

export function runAside(
  [program, ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd = '/',
): Promise<Aside> {
  const child = spawn(program!, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  const kept = { stdout: [] as Buffer[], stderr: [] as Buffer[] }
  for (const name of ['stdout', 'stderr'] as const) {
    let bytes = 0
    child[name].on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= KEPT_BYTES) kept[name].push(chunk)
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (status) =>
      resolve({
        status,
        stdout: Buffer.concat(kept.stdout).toString('utf8'),
        stderr: Buffer.concat(kept.stderr).toString('utf8'),
      }),
    )
  })
}
