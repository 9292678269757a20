/** The door seen from inside a real sandbox: the wire rows again, every other way out, and another command's door. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Door, openDoor } from '../../../src/egress/door.ts'
import type { EgressRules } from '../../../src/egress/rules.ts'
import { createBwrapBackend } from '../../../src/sandbox/backend.ts'
import { planSandbox } from '../../../src/sandbox/plan.ts'
import { readHostFacts } from '../../../src/sandbox/session.ts'
import { hosts, listen, type World } from '../../egress/world.ts'
import { createWireWorld, rulesOf, type WireRow } from './wire-row.ts'
import { corpusRows, wireRows } from './wire-rows.ts'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
const HERE = fileURLToPath(new URL('.', import.meta.url))
const backend = createBwrapBackend()

let world: World
let project: string

beforeAll(async () => {
  world = await createWireWorld()
  project = mkdtempSync(join(tmpdir(), 'cordon-network-'))
})
afterAll(async () => {
  await world.close()
  rmSync(project, { recursive: true, force: true })
})

interface Run {
  readonly argv: readonly string[]
  readonly rules: Pick<EgressRules, 'allowed' | 'denied' | 'allowPrivate'>
  readonly stdin?: string
  readonly signal?: AbortSignal
  readonly onDoor?: (door: Door) => void
}

async function run({ argv, rules, stdin = '', signal, onDoor }: Run): Promise<string> {
  const request = {
    argv,
    cwd: project,
    env: { PATH: '/usr/bin:/bin' },
    baseline: 'system' as const,
    home: join(project, 'home'),
    uid: process.getuid!(),
    gid: process.getgid!(),
    reads: [ROOT, dirname(process.execPath)],
    writes: [project],
    masks: [],
    pins: [],
    network: 'listener' as const,
    unixSockets: false,
    limits: { timeoutMs: 60_000, outputBytes: 10_000_000 },
  }
  const plan = planSandbox({ ...request, facts: readHostFacts(request) })
  const { ca, upstream, resolver, events } = world
  const doors: Door[] = []
  const result = await backend.launch(plan, {
    stdin,
    stdout: 'capture',
    stderr: 'capture',
    ...(signal && { signal }),
    onListener: (listener) => {
      const whole = { command: argv.join(' '), ...rules }
      const door = openDoor({ listener, rules: whole, ca, upstream, resolver, onEvent: (event) => events.push(event) })
      doors.push(door)
      onDoor?.(door)
    },
  })
  await Promise.all(doors.map((door) => door.close()))
  expect(doors.map((door) => door.stats().open)).toEqual([0])
  return result.stdout!.bytes.toString() + result.stderr!.bytes.toString()
}

describe('wire rows from inside', () => {
  const groups = new Map<string, WireRow[]>()
  for (const row of [...corpusRows, ...wireRows]) {
    const key = JSON.stringify(row.config)
    groups.set(key, [...(groups.get(key) ?? []), row])
  }
  it.each([...groups.values()].map((rows) => ({ rows, allow: rows[0]!.config.allow.join(' '), count: rows.length })))(
    '$count rows under "$allow"',
    async ({ rows }) => {
      const stdin = JSON.stringify({ ca: world.ca.pem, rows })
      const output = await run({
        argv: [process.execPath, join(HERE, 'play-inside.ts')],
        rules: rulesOf(rows[0]!.config),
        stdin,
      })
      expect(JSON.parse(output)).toEqual(Object.fromEntries(rows.map((row) => [row.id, row.expect])))
    },
  )
})

describe('every other way out', () => {
  it('is closed', async () => {
    const outside = createServer()
    await listen(outside)
    const other = await world.open({ allowed: null })
    const { port } = outside.address() as { port: number }
    const script = readFileSync(join(HERE, 'escape.py'), 'utf8')
    const argv = ['/usr/bin/python3', '-', String(port), String(other.port)]
    const output = await run({
      argv,
      rules: { allowed: hosts('github.com'), denied: [], allowPrivate: false },
      stdin: script,
    })
    outside.close()
    const lines = output.trim().split('\n')
    expect(lines.filter((line) => / OUT$/.test(line))).toEqual([])
    expect(lines.length, output).toBe(20)
  })
})

describe('a command that ends', () => {
  it('leaves no door: what it left behind is dead, and its connections with it', async () => {
    const abort = new AbortController()
    let door: Door | null = null
    const hold =
      'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT github.com:443 HTTP/1.1\\r\\nHost: github.com:443\\r\\n\\r\\n" >&3; read -r line <&3; sleep 60'
    const running = run({
      argv: ['/usr/bin/bash', '-c', hold],
      rules: { allowed: hosts('github.com'), denied: [], allowPrivate: false },
      signal: abort.signal,
      onDoor: (opened) => {
        door = opened
      },
    })
    while (door === null || (door as Door).stats().open === 0) await new Promise((resolve) => setTimeout(resolve, 5))
    abort.abort()
    await running
    expect((door as Door).stats()).toMatchObject({ open: 0, upstream: 0 })
  })
})
