/** Probes a backend by attacking from inside: a project with a secret and protected paths. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { release, tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../system/fault.ts'
import { type Backend, SandboxFault } from './backend.ts'
import { planSandbox, type SandboxPlan, type SandboxRequest } from './plan.ts'
import type { Assurance, Support } from './report.ts'
import { readHostFacts } from './session.ts'

/** The advice of a probe about a broken promise. */
export const REPORT_IT =
  'This machine does not keep a promise of the sandbox: please report it with the output of `cordon doctor --json`.'

/** Makes the files in a folder of the probe's own. */
export function furnishProbe(base: string): void {
  for (const folder of ['project/pinned', 'project/above/pinned', 'outside'])
    mkdirSync(join(base, folder), { recursive: true })
  for (const path of ['project/.env', 'outside/secret']) writeFileSync(join(base, path), 'secret')
}

/** The program of a probe, and its other needs. */
interface ProbeAttack extends Pick<SandboxRequest, 'argv' | 'network' | 'limits' | 'changes' | 'programs'> {
  readonly env: Readonly<Record<string, string>>
}

/** The plan of an attack; `$P` is the project and `$O` the place outside. */
export function planProbe(base: string, { env, ...attack }: ProbeAttack): SandboxPlan {
  const [project, outside] = [join(base, 'project'), join(base, 'outside')]
  const request = {
    cwd: project,
    env: { PATH: '/usr/bin:/bin', P: project, O: outside, ...env },
    baseline: 'system' as const,
    home: join(base, 'home'),
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    reads: [],
    writes: [project],
    masks: [join(project, '.env')],
    pins: ['pinned', 'above/pinned'].map((name) => ({ path: join(project, name), mode: 'read-only' as const })),
    unixSockets: false,
    ...attack,
  }
  return planSandbox({ ...request, facts: readHostFacts(request) })
}

/** One line for each attack: `3 stopped` or `3 broken`. */
export function attackLines(checks: readonly { readonly attack: string }[]): readonly string[] {
  return checks.map(
    ({ attack }, i) => `if ( ${attack} ) >/dev/null 2>&1; then echo "${i} broken"; else echo "${i} stopped"; fi`,
  )
}

/** The promises by these lines. */
export function assurancesOf(
  checks: readonly { readonly name: string; readonly detail: string }[],
  output: string,
): readonly Assurance[] {
  return checks.map(({ name, detail }, i) =>
    output.includes(`${i} stopped`)
      ? { name, status: 'enforced', detail }
      : {
          name,
          status: 'absent',
          detail: `an attack from inside succeeded (${detail} was expected)`,
          remedy: REPORT_IT,
        },
  )
}

/**
 * Probes a backend without an init by running a sandbox and attacking from inside it; a backend
 * that fails runs nothing.
 */
export interface AttackCheck {
  readonly name: string
  readonly detail: string
  /** bash 3.2; exit status 0 means that the attack worked. `$P` project, `$O` a place outside, `$PORT` a server outside, `$KERNEL` the release of the machine's own, `$HOSTPID` this process. */
  readonly attack: string
}

/** The checks of every sandbox. */
export const COMMON_CHECKS: readonly AttackCheck[] = [
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

/** Facts about a backend beyond its attacks. */
interface ProbeRest extends Pick<Support, 'cgroup' | 'unheld' | 'shareByGroup'> {
  readonly checks: readonly AttackCheck[]
  /** Protections that it cannot give; reported, so that nobody relies on them. */
  readonly lacking: readonly Assurance[]
}

function scriptOf(checks: readonly AttackCheck[]): string {
  return [...attackLines(checks), 'echo written > "$P/new" && cat "$P/new" > /dev/null && echo writable'].join('\n')
}

/** Throws nothing: what failed is in the result. */
export async function probeByAttack(
  backend: Pick<Backend, 'name' | 'launch'>,
  { checks, lacking, ...rest }: ProbeRest,
): Promise<Support> {
  const support = (usable: boolean, assurances: readonly Assurance[]): Support => ({
    backend: backend.name,
    usable,
    assurances,
    numbered: false,
    ...rest,
  })
  try {
    const output = await attackFromInside(backend, scriptOf(checks))
    const assurances = assurancesOf(checks, output)
    return support(
      assurances.every(({ status }) => status === 'enforced'),
      [...assurances, ...lacking],
    )
  } catch (error) {
    const remedy = error instanceof SandboxFault ? (error.remedy ?? REPORT_IT) : REPORT_IT
    return support(false, [{ name: 'sandbox', status: 'absent', detail: messageOf(error), remedy }])
  }
}

async function attackFromInside(backend: Pick<Backend, 'launch'>, script: string): Promise<string> {
  const base = mkdtempSync(join(realpathSync.native(tmpdir()), 'cordon-probe-'))
  const server = createServer((socket) => socket.end())
  try {
    furnishProbe(base)
    const port = await portOf(server)
    const plan = planProbe(base, {
      argv: ['/bin/bash', '-c', script],
      env: { PORT: String(port), KERNEL: release(), HOSTPID: String(process.pid) },
      network: 'none',
      limits: { timeoutMs: 10_000 },
    })
    const result = await backend.launch(plan, { stdout: 'capture', stderr: 'capture' })
    const output = result.stdout?.bytes.toString('utf8') ?? ''
    const said = `${output}${result.stderr?.bytes.toString('utf8', 0, 500) ?? ''}`
    if (result.exitCode !== 0 || !output.includes('writable'))
      throw new SandboxFault(
        'sandbox-failed',
        `the probe ended with ${result.exitCode} and said ${JSON.stringify(said)}`,
        {
          remedy: REPORT_IT,
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

/** Probes once, before the first command; a failed check closes it. */
export function provenBy(title: string, probe: () => Promise<Support>): () => Promise<void> {
  let proved: Promise<void> | null = null
  return () => {
    proved ??= probe().then(({ usable, assurances }) => {
      if (usable) return
      const { name, detail, remedy } = assurances.find(({ status }) => status === 'absent')!
      throw new SandboxFault(
        'no-sandbox',
        `${title} does not protect this machine (${name}: ${detail}), so nothing runs`,
        {
          ...(remedy !== undefined && { remedy }),
        },
      )
    })
    return proved
  }
}
