/** Runs a Python script in a sandbox whose servers may be reached from outside. Started by the test as a program, as any user. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { DevServerPorts } from '../../../src/run/network/dev-server-ports.ts'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { planIn } from '../../plan-in.ts'

export interface ServeRequest {
  readonly script: string
  readonly ports: readonly number[]
  /** Whether changes go through the init, which then hears of a server when it comes; without it it looks every so often. */
  readonly mediated: boolean
}

export type Report =
  | { readonly kind: 'notice' | 'said'; readonly text: string }
  | { readonly kind: 'ended'; readonly exitCode: number; readonly connections: number }

const tell = (one: Report) => process.stdout.write(`${JSON.stringify(one)}\n`)

const { script, ports, mediated } = JSON.parse(process.argv[2]!) as ServeRequest
const project = mkdtempSync(join(tmpdir(), 'cordon-serve-'))
const plan = planIn(project, ['/usr/bin/python3', '-u', '-c', script], {
  cwd: '/',
  changes: mediated ? { rules: [], gitKeys: '', keep: null, free: [] } : null,
  servers: ports,
  limits: { timeoutMs: 240_000 },
})
const abort = new AbortController()
process.stdin.on('end', () => abort.abort()).resume()
const open = new DevServerPorts((text) => tell({ kind: 'notice', text }))
let rest = ''
const output = new Writable({
  write(chunk: Buffer, _encoding, done) {
    const lines = (rest + chunk.toString('utf8')).split('\n')
    rest = lines.pop()!
    for (const text of lines) tell({ kind: 'said', text })
    done()
  },
})
const io = { stdout: output, stderr: output, signal: abort.signal, onServer: open.open.bind(open) }
const result = await createBwrapBackend().launch(plan, io)
await open.closed()
rmSync(project, { recursive: true })
const connections = open.served().reduce((sum, port) => sum + port.connections, 0)
tell({ kind: 'ended', exitCode: result.exitCode, connections })
process.exit()
