/** A plan as the configuration of gVisor's runtime, which has no init of ours inside: masks and pins are mounts of it. */

import { isInside } from '../../files/baseline.ts'
import type { ResourceLimit } from '../limits.ts'
import type { SandboxPlan } from '../plan.ts'
import { layoutMounts, type SpecMount } from './layout-spec.ts'
import { refusedCalls } from './spec.ts'

/** What a mask shows, made by the launch: a folder without anything, a file that cannot be opened. */
export interface MaskSources {
  readonly folder: string
  readonly file: string
}

/** Mounts of gVisor's are the sandbox's own, and each takes it a connection: a tree with more secrets than this wants another backend. */
const MAX_MOUNTS = 1000

/** gVisor reads the rights of a mount from these words alone, and holds them for everything below it. */
function bind(source: string, destination: string, mode: 'ro' | 'rw'): SpecMount {
  return { destination, type: 'bind', source, options: ['rbind', 'nosuid', 'nodev', mode] }
}

const S_ISUID = 0o4000
const CREATING = [0o100, 0o20000000]
const bits = (index: number, mask: number) => ({ index, value: mask, valueTwo: mask, op: 'SCMP_CMP_MASKED_EQ' })
const refuseSetuid = (names: readonly string[], args: readonly object[]) => ({
  names,
  action: 'SCMP_ACT_ERRNO',
  errnoRet: 1,
  args,
})

/** Root's setuid file in a project would make any user of the machine root: the bit is never set, as in the OS sandbox. */
const SETUID_CALLS: readonly object[] = [
  refuseSetuid(['chmod', 'fchmod', 'creat', 'mknod'], [bits(1, S_ISUID)]),
  refuseSetuid(['fchmodat', 'fchmodat2', 'mknodat'], [bits(2, S_ISUID)]),
  ...CREATING.flatMap((flag) => [
    refuseSetuid(['open'], [bits(1, flag), bits(2, S_ISUID)]),
    refuseSetuid(['openat'], [bits(2, flag), bits(3, S_ISUID)]),
  ]),
]

/** Text that JSON and the runtime carry without a change. */
function requireText(path: string): void {
  if (/[\u{d800}-\u{dfff}\0]/u.test(path))
    throw new RangeError(`gVisor cannot name ${JSON.stringify(path)}: its bytes are no text; use backend = "bwrap"`)
}

function planMounts(plan: SandboxPlan, isFolder: (path: string) => boolean, sources: MaskSources): SpecMount[] {
  const layout = layoutMounts(plan).filter(({ type }) => type !== 'devpts')
  const shown = layout.map((mount) =>
    mount.type === 'bind' ? bind(mount.source, mount.destination, mount.options.includes('rro') ? 'ro' : 'rw') : mount,
  )
  const isHidden = (path: string) => plan.masks.some((mask) => isInside(path, mask))
  const held = plan.pins
    .filter(({ path }) => !isHidden(path))
    .map(({ path, mode }) => bind(path, path, mode === 'read-only' ? 'ro' : 'rw'))
  const hidden = plan.masks.map((path) => bind(isFolder(path) ? sources.folder : sources.file, path, 'ro'))
  // Parents before children; at one path what shows, then what holds, then what hides. The sort is stable.
  return [...shown, ...held, ...hidden].sort((a, b) =>
    a.destination < b.destination ? -1 : a.destination > b.destination ? 1 : 0,
  )
}

/** Throws a RangeError for a plan that gVisor cannot hold. */
export function gvisorSpec(
  plan: SandboxPlan,
  isFolder: (path: string) => boolean,
  sources: MaskSources,
  rlimits: readonly ResourceLimit[],
  softFiles: number,
): object {
  const mounts = planMounts(plan, isFolder, sources)
  if (mounts.length > MAX_MOUNTS)
    throw new RangeError(
      `gVisor would need ${mounts.length} mounts, at most ${MAX_MOUNTS} are possible; use backend = "bwrap"`,
    )
  for (const { source, destination } of mounts) for (const path of [source, destination]) requireText(path)
  for (const word of [...plan.argv, ...Object.entries(plan.env).flat()])
    if (word.includes('\0')) throw new RangeError('a word of the command, or a variable, contains a NUL character')
  // gVisor adds a HOME where there is none.
  const argv = plan.env.HOME === undefined ? ['/usr/bin/env', '-u', 'HOME', '--', ...plan.argv] : plan.argv
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: argv,
      env: Object.entries(plan.env).map(([name, value]) => `${name}=${value}`),
      cwd: plan.cwd,
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
      rlimits: rlimits.map(({ name, limit }) => ({
        type: `RLIMIT_${name}`,
        soft: name === 'NOFILE' ? Math.min(limit, softFiles) : limit,
        hard: limit,
      })),
    },
    root: { path: 'rootfs', readonly: true },
    hostname: plan.hostname,
    mounts,
    // In a user namespace of gVisor's own a program would have the rights to take a mask away.
    linux: {
      namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      seccomp: refusedCalls(SETUID_CALLS),
    },
  }
}
