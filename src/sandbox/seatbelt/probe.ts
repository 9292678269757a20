/** Probes macOS by really running a sandbox and attacking from inside it; what it does not keep, nothing runs under. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../system/fault.ts'
import type { Backend } from '../backend.ts'
import { planSandbox } from '../plan.ts'
import type { Assurance, Support } from '../report.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import { readHostFacts } from '../session.ts'

interface Check {
  readonly name: string
  readonly detail: string
  /** bash 3.2; exit status 0 means that the attack worked. `$P` project, `$O` a place outside, `$PORT` a server outside. */
  readonly attack: string
}

const CHECKS: readonly Check[] = [
  { name: 'ungranted files', detail: 'cannot be read', attack: 'cat "$O/secret"' },
  { name: 'listings outside', detail: 'are refused', attack: 'ls "$O"' },
  { name: 'masks', detail: 'secrets cannot be opened', attack: 'cat "$P/.env"' },
  { name: 'links to secrets', detail: 'lead nowhere', attack: 'ln -s .env "$P/other" && cat "$P/other"' },
  { name: 'protected paths', detail: 'cannot be changed', attack: 'touch "$P/pinned/new"' },
  { name: 'protected paths in place', detail: 'cannot be moved away', attack: 'mv "$P/above" "$P/elsewhere"' },
  { name: 'writes outside', detail: 'are refused', attack: 'touch "$O/new"' },
  { name: 'system files', detail: 'are read-only', attack: 'touch /usr/local/cordon-probe || touch /etc/cordon-probe' },
  { name: 'network', detail: 'no connection but to the port of the proxy', attack: ': > "/dev/tcp/127.0.0.1/$PORT"' },
]

/** What no profile can give; said, so that nobody relies on it. */
const LACKING: readonly Assurance[] = [
  {
    name: 'process isolation',
    status: 'degraded',
    detail: 'other processes are visible; none can be signalled or looked into',
  },
  {
    name: 'leftover processes',
    status: 'degraded',
    detail: 'what leaves its process group goes on after the command, under the same profile',
  },
  {
    name: 'masks as empty files',
    status: 'degraded',
    detail: 'a secret is refused instead, and opens are not observed',
  },
  {
    name: 'changes',
    status: 'degraded',
    detail: 'protected files that a command makes are taken away after it has ended; nothing can be undone',
  },
  { name: 'own temporary folder', status: 'degraded', detail: 'TMPDIR is private to the command; /tmp is closed' },
]

const SCRIPT: string = [
  ...CHECKS.map(
    ({ attack }, i) => `if ( ${attack} ) >/dev/null 2>&1; then echo "${i} broken"; else echo "${i} held"; fi`,
  ),
  'echo written > "$P/new" && cat "$P/new" > /dev/null && echo writable',
].join('\n')

const REPORT =
  'This machine does not keep a promise of the sandbox: please report it with the output of `cordon doctor --json`.'

/** Throws nothing: what failed is in the result. */
export async function probeSeatbelt(backend: Pick<Backend, 'name' | 'launch'>): Promise<Support> {
  const support = (usable: boolean, assurances: readonly Assurance[]): Support => ({
    backend: backend.name,
    usable,
    assurances,
    cgroup: null,
    numbered: false,
    unheld: ['memory', 'processes', 'cpus'],
  })
  try {
    const output = await attackFromInside(backend)
    const held: readonly Assurance[] = CHECKS.map(({ name, detail }, i) =>
      output.includes(`${i} held`)
        ? { name, status: 'enforced', detail }
        : {
            name,
            status: 'absent',
            detail: `an attack from inside succeeded (${detail} was expected)`,
            remedy: REPORT,
          },
    )
    return support(
      held.every(({ status }) => status === 'enforced'),
      [...held, ...LACKING],
    )
  } catch (error) {
    const remedy = error instanceof SandboxFault ? (error.remedy ?? REPORT) : REPORT
    return support(false, [{ name: 'sandbox', status: 'absent', detail: messageOf(error), remedy }])
  }
}

async function attackFromInside(backend: Pick<Backend, 'launch'>): Promise<string> {
  const base = mkdtempSync(join(realpathSync.native(tmpdir()), 'cordon-probe-'))
  const server = createServer((socket) => socket.end())
  try {
    for (const folder of ['project/pinned', 'project/above/pinned', 'outside'])
      mkdirSync(join(base, folder), { recursive: true })
    for (const path of ['project/.env', 'outside/secret']) writeFileSync(join(base, path), 'secret')
    const [project, outside] = [join(base, 'project'), join(base, 'outside')]
    const port = await portOf(server)
    const request = {
      argv: ['/bin/bash', '-c', SCRIPT],
      cwd: project,
      env: { PATH: '/usr/bin:/bin', P: project, O: outside, PORT: String(port) },
      baseline: 'system' as const,
      home: join(base, 'home'),
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      reads: [],
      writes: [project],
      masks: [join(project, '.env')],
      pins: ['pinned', 'above/pinned'].map((name) => ({ path: join(project, name), mode: 'read-only' as const })),
      network: 'none' as const,
      unixSockets: false,
      limits: { timeoutMs: 10_000 },
    }
    const plan = planSandbox({ ...request, facts: readHostFacts(request) })
    const result = await backend.launch(plan, { stdout: 'capture', stderr: 'capture' })
    const output = result.stdout?.bytes.toString('utf8') ?? ''
    const said = `${output}${result.stderr?.bytes.toString('utf8', 0, 500) ?? ''}`
    if (result.exitCode !== 0 || !output.includes('writable'))
      throw new SandboxFault(
        'sandbox-failed',
        `the probe ended with ${result.exitCode} and said ${JSON.stringify(said)}`,
        {
          remedy: REPORT,
        },
      )
    return output
  } finally {
    server.close()
    rmSync(base, { recursive: true, force: true })
  }
}

function portOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.address() as { port: number }).port))
  })
}
