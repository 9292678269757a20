/**
 * Runs commands without namespaces, for containers and systems that refuse them. cordon-init runs
 * as an ordinary process under Landlock, and every open, change and connection goes through it
 * (native/bare/bare.h).
 */

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Arrangement, type Backend, type Capability, type PlanUnderway, SandboxFault } from '../backend.ts'
import { initWords, requireFewBinds, type SandboxLayer } from '../bwrap/args.ts'
import { createInitBackend, INIT_CAPABILITIES, type InitBackendOptions } from '../bwrap/backend.ts'
import type { SandboxPlan } from '../plan.ts'

/** Capabilities that need mounts, or a private network or pid namespace. */
const WITHOUT: ReadonlySet<Capability> = new Set([
  'refusals',
  'stand-ins',
  'unix-sockets',
  'watched-limits',
  'sought-paths',
  'lifted-masks',
  'reported-callers',
])

const LAYER: SandboxLayer = {
  title: 'cordon-init',
  program: '/proc/self/exe',
  install: 'native/build.sh makes it',
  bare: true,
  words: (layout, channel) => {
    requireFewBinds(layout)
    const [program = '', ...rest] = initWords(channel)
    return [program, 'bare', ...rest]
  },
}

export interface LandlockOptions extends Pick<InitBackendOptions, 'init' | 'stateDir'> {
  /** Why namespaces are unavailable, if that is why this backend was chosen. */
  readonly refused?: string | null
}

/** The backend for systems without bubblewrap. */
export function createLandlockBackend({ refused = null, init, stateDir }: LandlockOptions = {}): Backend {
  const inner = createInitBackend('landlock', () => LAYER, {
    ...(init !== undefined && { init }),
    ...(stateDir !== undefined && { stateDir }),
    cgroups: false,
  })
  const backend: Backend = {
    name: inner.name,
    ...(refused !== null && { notice: noticeOf(refused) }),
    capabilities: new Set([...INIT_CAPABILITIES].filter((one) => !WITHOUT.has(one))),
    probe: async () => (await import('./probe.ts')).probeLandlock(backend, refused),
    compile: (plan) => inner.compile(barePlan(plan, '/tmp')),
    arrange: async () => arrangePlace(),
    launch: async (planned, io = {}) => {
      const plan = 'complete' in planned ? planned.complete() : planned
      const arranged = 'complete' in planned ? arrangementOf(planned) : null
      const place = arranged ?? arrangePlace()
      try {
        return await inner.launch(barePlan(plan, place.temporary), io)
      } finally {
        if (!arranged) place.dispose()
      }
    },
    release: inner.release,
  }
  return backend
}

function noticeOf(refused: string): string {
  return `this machine refuses namespaces (${refused}), so commands run behind Landlock, which leaves more open: \`cordon doctor\` says what, and how to allow them`
}

function arrangementOf({ arrangement }: PlanUnderway): Arrangement | null {
  return arrangement ?? null
}

/** A private folder for temporary files: /tmp is shared here. */
function arrangePlace(): Arrangement {
  const temporary = mkdtempSync(join(realpathSync.native(tmpdir()), 'cordon-command-'))
  const home = join(temporary, 'home')
  mkdirSync(home)
  return { temporary, home, proxy: null, dispose: () => rmSync(temporary, { recursive: true, force: true }) }
}

/** The plan without mounts: one private folder, and every change through the init. */
export function barePlan(plan: SandboxPlan, temporary: string): SandboxPlan {
  if (plan.baseline === 'all')
    throw new SandboxFault('sandbox-unable', 'command_fs = "all" needs namespaces, which this machine refuses', {
      remedy: 'Write another command_fs, or allow user namespaces: `cordon doctor` says how.',
    })
  const writable = plan.binds.filter(({ mode }) => mode === 'read-write').map(({ path }) => path)
  const changes = plan.changes ?? { rules: [], gitKeys: '', keep: null, free: writable }
  const { memoryShare: _, ...limits } = plan.limits
  return {
    ...plan,
    env: plan.scratch.includes(plan.env.TMPDIR ?? '') ? { ...plan.env, TMPDIR: temporary } : plan.env,
    binds: writable.includes(temporary) ? plan.binds : [...plan.binds, { path: temporary, mode: 'read-write' }],
    changes: { ...changes, free: [...changes.free, temporary] },
    network: plan.network.kind === 'none' ? plan.network : { ...plan.network, proxyPorts: [] },
    names: [],
    // Its servers are on the machine's loopback already.
    servers: [],
    reportsPorts: false,
    limits,
  }
}
