/** A test internet, a proxy in front of it and sandboxes behind it, as the current user. Started by the test as a program. */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type CommandProxy, openProxy, type ProxyStats } from '../../../src/egress/command-proxy.ts'
import type { EgressRules } from '../../../src/egress/route/rules.ts'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { hosts, listen } from '../../contract/egress/world.ts'
import { planIn } from '../../plan-in.ts'
import { until } from '../../until.ts'
import { createWireWorld, rulesOf, type WireRow } from './wire-row.ts'
import { corpusRows, wireRows } from './wire-rows.ts'

/** What the layout saw. */
export interface LayoutReport {
  readonly uid: number
  /** The verdict of every wire row, by id, as a client inside saw it. */
  readonly verdicts: Readonly<Record<string, string>>
  /** A line for every other way out that was tried. */
  readonly escapes: readonly string[]
  /** The proxy of a command that was ended with an open connection, before and after. */
  readonly during: ProxyStats
  readonly afterwards: ProxyStats
  /** Connections that proxyPorts still had when their commands were over. */
  readonly left: readonly number[]
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')
const HERE = fileURLToPath(new URL('.', import.meta.url))
const RULES = { allowed: hosts('github.com'), denied: [], allowPrivate: false }

interface Run {
  readonly argv: readonly string[]
  readonly rules: Pick<EgressRules, 'allowed' | 'denied' | 'allowPrivate'>
  readonly stdin?: string
  readonly signal?: AbortSignal
  readonly onProxy?: (proxy: CommandProxy) => void
}

if (import.meta.main) {
  const backend = createBwrapBackend()
  const world = await createWireWorld()
  const project = mkdtempSync(join(tmpdir(), 'cordon-network-'))
  const left: number[] = []

  async function run({ argv, rules, stdin = '', signal, onProxy }: Run): Promise<string> {
    const plan = planIn(project, argv, {
      home: join(project, 'home'),
      reads: [ROOT, dirname(process.execPath)],
      network: 'listener',
      limits: { timeoutMs: 240_000, outputBytes: 10_000_000 },
    })
    const { ca, upstream, resolver } = world
    const proxyPorts: CommandProxy[] = []
    const result = await backend.launch(plan, {
      stdin,
      stdout: 'capture',
      stderr: 'capture',
      ...(signal && { signal }),
      onListener: (listener) => {
        const proxy = openProxy({ listener, rules: { command: argv.join(' '), ...rules }, ca, upstream, resolver })
        proxyPorts.push(proxy)
        onProxy?.(proxy)
      },
    })
    await Promise.all(proxyPorts.map((proxy) => proxy.close()))
    left.push(...proxyPorts.map((proxy) => proxy.stats().open))
    return result.stdout!.bytes.toString() + result.stderr!.bytes.toString()
  }

  async function playRows(): Promise<Record<string, string>> {
    const verdicts: Record<string, string> = {}
    for (const rows of Map.groupBy([...corpusRows, ...wireRows], (row) => JSON.stringify(row.config)).values()) {
      const stdin = JSON.stringify({ ca: world.ca.pem, rows: rows satisfies readonly WireRow[] })
      const argv = [process.execPath, join(HERE, 'play-inside.ts')]
      const output = await run({ argv, rules: rulesOf(rows[0]!.config), stdin })
      Object.assign(verdicts, JSON.parse(output) as Record<string, string>)
    }
    return verdicts
  }

  async function tryEscapes(): Promise<string[]> {
    const outside = createServer()
    await listen(outside)
    const other = await world.open({ allowed: null })
    const { port } = outside.address() as { port: number }
    const argv = ['/usr/bin/python3', '-', String(port), String(other.port)]
    const output = await run({ argv, rules: RULES, stdin: readFileSync(join(HERE, 'escape.py'), 'utf8') })
    outside.close()
    return output.trim().split('\n')
  }

  async function endWhileOpen(): Promise<{ during: ProxyStats; afterwards: ProxyStats }> {
    const abort = new AbortController()
    let proxy: CommandProxy | null = null
    const hold =
      'exec 3<>/dev/tcp/127.0.0.1/3128; printf "CONNECT github.com:443 HTTP/1.1\\r\\nHost: github.com:443\\r\\n\\r\\n" >&3; read -r line <&3; sleep 60'
    const running = run({
      argv: ['/usr/bin/bash', '-c', hold],
      rules: RULES,
      signal: abort.signal,
      onProxy: (opened) => {
        proxy = opened
      },
    })
    const stats = () => (proxy as CommandProxy | null)?.stats()
    await until('it has a connection', () => (stats()?.open ?? 0) > 0)
    const during = stats()!
    abort.abort()
    await running
    return { during, afterwards: stats()! }
  }

  try {
    const verdicts = await playRows()
    const escapes = await tryEscapes()
    const report: LayoutReport = { uid: process.getuid!(), verdicts, escapes, ...(await endWhileOpen()), left }
    process.stdout.write(JSON.stringify(report))
  } finally {
    await world.close()
    rmSync(project, { recursive: true, force: true })
  }
}
