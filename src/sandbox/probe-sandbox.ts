/** The layout that probes attack from inside: a project with a secret and protected paths, and a place outside. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { planSandbox, type SandboxPlan, type SandboxRequest } from './plan.ts'
import type { Assurance } from './report.ts'
import { readHostFacts } from './session.ts'

/** What a probe tells of a promise that does not hold. */
export const REPORT_IT =
  'This machine does not keep a promise of the sandbox: please report it with the output of `cordon doctor --json`.'

/** Makes the files in a folder of the probe's own. */
export function furnishProbe(base: string): void {
  for (const folder of ['project/pinned', 'project/above/pinned', 'outside'])
    mkdirSync(join(base, folder), { recursive: true })
  for (const path of ['project/.env', 'outside/secret']) writeFileSync(join(base, path), 'secret')
}

/** What a probe runs there, and what else it asks for. */
export interface ProbeAttack extends Pick<SandboxRequest, 'argv' | 'network' | 'limits' | 'changes' | 'programs'> {
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

/** One line for each attack: `3 held` or `3 broken`. */
export function attackLines(checks: readonly { readonly attack: string }[]): readonly string[] {
  return checks.map(
    ({ attack }, i) => `if ( ${attack} ) >/dev/null 2>&1; then echo "${i} broken"; else echo "${i} held"; fi`,
  )
}

/** What the lines say of the promises. */
export function heldBy(
  checks: readonly { readonly name: string; readonly detail: string }[],
  output: string,
): readonly Assurance[] {
  return checks.map(({ name, detail }, i) =>
    output.includes(`${i} held`)
      ? { name, status: 'enforced', detail }
      : {
          name,
          status: 'absent',
          detail: `an attack from inside succeeded (${detail} was expected)`,
          remedy: REPORT_IT,
        },
  )
}
