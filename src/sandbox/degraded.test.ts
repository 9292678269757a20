/** What a sandbox cannot give is said, by `cordon doctor` and `cordon run --plan`: a sandbox that lacks something and keeps quiet fails here. */

import { constants } from 'node:os'
import { describe, expect, test } from 'vitest'
import { type Backend, type Capability, SandboxFault } from './backend.ts'
import { faultOfStep } from './bwrap/launch-progress.ts'
import { probeSandbox } from './bwrap/probe.ts'
import { createSeatbeltBackend, probeSeatbelt } from './experimental/seatbelt/backend.ts'
import { createGvisorBackend, probeGvisor } from './oci/gvisor-backend.ts'
import { planSandbox, type SandboxPlan } from './plan.ts'
import { NUMBERS } from './protocol.ts'
import { describePlan, formatPlan, type Support } from './report.ts'

/** A sandbox that runs the probe and says nothing of its attacks. */
const saying = (refuses: (plan: SandboxPlan) => boolean = () => false) =>
  ({
    name: 'stand-in',
    launch: async (plan: SandboxPlan) => {
      if (refuses(plan)) throw new SandboxFault('changes-broker', 'no Landlock')
      return { exitCode: 0, stdout: { bytes: Buffer.from('writable\n') }, violations: [], masksWatched: false }
    },
  }) as unknown as Backend

/** Under what name the lack of a capability is said. */
const SAID: Readonly<Partial<Record<Capability, string>>> = {
  'held-changes': 'changes',
  listener: 'network listener',
  terminal: 'terminal',
  'observed-masks': 'mask watch',
}
const ON_MACOS = { 'observed-masks': 'observed violations' }

const degraded = ({ assurances }: Support) =>
  assurances.filter(({ status }) => status === 'degraded').map(({ name }) => name)

const PLAN = planSandbox({
  argv: ['true'],
  cwd: '/work',
  env: {},
  baseline: 'system',
  home: '/home/ada',
  uid: 1000,
  gid: 1000,
  reads: [],
  writes: ['/work'],
  masks: [],
  pins: [],
  network: 'none',
  unixSockets: false,
  limits: {},
  facts: { paths: new Map([['/work', { kind: 'directory', real: '/work' }]]), sockets: [], kernelMounts: [] },
})

test('only what the kernel lacks is done without: a machine that is used up is a fault', () => {
  const code = (errno: number) => faultOfStep({ step: NUMBERS.step.BROKER, errno, index: 0 }, PLAN).code
  const { ENOSYS, EOPNOTSUPP, EAGAIN, ENOSPC, EMFILE } = constants.errno
  // A kernel without Landlock, and one where it is disabled at boot.
  for (const errno of [ENOSYS, EOPNOTSUPP]) expect(code(errno)).toBe('changes-broker')
  for (const errno of [EAGAIN, ENOSPC, EMFILE]) expect(code(errno)).toBe('sandbox-processes')
})

describe.each([
  ['gVisor', () => probeGvisor(saying(), null), createGvisorBackend(), SAID],
  ['Seatbelt', () => probeSeatbelt(saying()), createSeatbeltBackend(), { ...SAID, ...ON_MACOS }],
] as const)('%s', (_, probe, { capabilities }, said) => {
  test('says what it lacks', async () => {
    const lacking = Object.entries(said).filter(([capability]) => !capabilities.has(capability as Capability))
    expect(lacking.length).toBeGreaterThan(0)
    expect(degraded(await probe())).toEqual(expect.arrayContaining(lacking.map(([, name]) => name)))
  })

  test('says which limits it does not hold', async () => {
    // Whether its attacks were stopped is not the question here.
    const support = { ...(await probe()), usable: true }
    const text = formatPlan(describePlan({ ...PLAN, limits: { memoryShare: 0.5, processes: 9 } }, support))
    expect(text).toMatch(/DEGRADED {2}open files/)
    expect(text).toMatch(/ABSENT {4}limit: memory: this system has no such limit/)
    expect(text).toMatch(/ABSENT {4}limit: processes: this system has no such limit/)
  })
})

test.each([
  ['with Landlock', () => false, 'enforced'],
  ['without', (plan: SandboxPlan) => plan.changes !== null, 'degraded'],
] as const)('bubblewrap on a machine %s: changes are %s', async (_, refuses, status) => {
  const support = await probeSandbox(
    saying(refuses),
    () => null,
    () => false,
  )
  const changes = support.assurances.find(({ name }) => name === 'changes')
  expect(changes?.status).toBe(status)
  const text = formatPlan(describePlan(PLAN, { ...support, usable: true }))
  if (status === 'degraded') {
    expect(text).toMatch(/DEGRADED {2}changes: .*nothing can be undone/)
    expect(changes?.remedy).toContain('Landlock')
  } else expect(text).toMatch(/enforced {2}changes: enforced while a command runs/)
})
