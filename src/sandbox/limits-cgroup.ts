/**
 * Control groups: finds where this user may create some, creates one for a sandbox, and removes it
 * and stale ones.
 */

import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdir,
  rmdirSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { isAlive } from '../system/processes.ts'
import { type CgroupSupport, type CgroupValue, cgroupValues, type Limits } from './limits.ts'

const FOLDER = 'cordon'
const CONTROLLERS = ['memory', 'pids', 'cpu'] as const

/** The folders in which each controller's groups are created. */
export interface CgroupHost {
  readonly support: CgroupSupport
  readonly roots: ReadonlyMap<CgroupValue['controller'], string>
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Where this process is, in the version 2 tree: `/` or `/user.slice/…/app-x.scope`. */
function ownPath(): string {
  const line = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith('0::'))
  return line?.slice(3) ?? '/'
}

/**
 * Version 2: a folder beside this process's own, or at the top. To move a process there its mover must be allowed to
 * write the procs file of the folder above both, and the controllers must be handed down to that one already or be
 * ours to hand down.
 */
function findVersion2(mountRoot: string, own: string): CgroupHost | null {
  for (const base of new Set([mountRoot, join(mountRoot, dirname(own))])) {
    try {
      accessSync(join(base, 'cgroup.procs'), constants.W_OK)
      const available = readFileSync(join(base, 'cgroup.controllers'), 'utf8').trim().split(' ')
      const wanted = CONTROLLERS.filter((controller) => available.includes(controller))
      const enable = wanted.map((controller) => `+${controller}`).join(' ')
      const enabled = readFileSync(join(base, 'cgroup.subtree_control'), 'utf8').trim().split(' ')
      if (wanted.some((controller) => !enabled.includes(controller)))
        writeFileSync(join(base, 'cgroup.subtree_control'), enable)
      const folder = join(base, FOLDER)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'cgroup.subtree_control'), enable)
      const roots = new Map(wanted.map((controller) => [controller, folder] as const))
      if (roots.size > 0) return { support: supportOf(2, roots), roots }
    } catch {
      // Not version 2, or not ours to change.
    }
  }
  return null
}

/** Version 1 has a tree for each controller. */
function findVersion1(mountRoot: string): CgroupHost | null {
  const roots = new Map<CgroupValue['controller'], string>()
  for (const controller of CONTROLLERS) {
    const mount = join(mountRoot, controller)
    if (!isWritable(mount)) continue
    try {
      mkdirSync(join(mount, FOLDER), { recursive: true })
      roots.set(controller, join(mount, FOLDER))
    } catch {
      // Without this one, the report says so.
    }
  }
  return roots.size > 0 ? { support: supportOf(1, roots), roots } : null
}

function supportOf(version: 1 | 2, roots: ReadonlyMap<string, string>): CgroupSupport {
  return { version, memory: roots.has('memory'), pids: roots.has('pids'), cpu: roots.has('cpu') }
}

/** Removes groups of dead creators. One with processes cannot be removed, so nothing is hurt. */
function reapDead(host: CgroupHost): void {
  for (const root of new Set(host.roots.values()))
    for (const name of readdirSync(root)) {
      const pid = /^run-(\d+)-\d+$/.exec(name)?.[1]
      if (pid === undefined || isAlive(Number(pid))) continue
      try {
        rmdirSync(join(root, name))
      } catch {
        // Busy: the next start tries again.
      }
    }
}

/** The control groups that this process can use, looked for once, or null. */
export function openCgroups(mountRoot = '/sys/fs/cgroup', own: string = ownPath()): CgroupHost | null {
  const host = findVersion2(mountRoot, own) ?? findVersion1(mountRoot)
  if (host) reapDead(host)
  return host
}

let serial = 0

/** A group of a process that is gone and had this number may still be there. */
function freeName(host: CgroupHost): string {
  for (;;) {
    const name = `run-${process.pid}-${serial++}`
    if (![...host.roots.values()].some((root) => existsSync(join(root, name)))) return name
  }
}

/** A group for one sandbox. */
export interface Cgroup {
  /** `cgroup.procs` files to join before bubblewrap starts. */
  readonly procs: readonly string[]
  /** One that cannot be removed is reaped at the next start. */
  remove(): void
  /** The same, while this process goes on: the kernel can take milliseconds. */
  removeLater(): void
  /** The limits that the kernel enforced; after the removal, those of that moment. */
  hits(): readonly ('memory' | 'processes')[]
}

/** Makes a group with these limits; null when none of them needs one. */
export function makeCgroup(host: CgroupHost, limits: Limits): Cgroup | null {
  const values = cgroupValues(limits, host.support)
  if (values.length === 0) return null
  const name = freeName(host)
  const folders = new Set<string>()
  for (const { controller, file, value, optional } of values) {
    const folder = join(host.roots.get(controller)!, name)
    if (!folders.has(folder)) mkdirSync(folder)
    folders.add(folder)
    try {
      writeFileSync(join(folder, file), value)
    } catch (error) {
      if (!optional) throw error
    }
  }
  let last: ReturnType<Cgroup['hits']> | null = null
  const hits = (): ReturnType<Cgroup['hits']> => {
    if (last) return last
    const all = [...folders]
    const killed = all.some((folder) => countOf(folder, ['memory.events', 'memory.oom_control'], 'oom_kill') > 0)
    const refused = all.some((folder) => countOf(folder, ['pids.events'], 'max') > 0)
    return [...(killed ? ['memory' as const] : []), ...(refused ? ['processes' as const] : [])]
  }
  return {
    procs: [...folders].map((folder) => join(folder, 'cgroup.procs')),
    remove: () => {
      last ??= hits()
      for (const folder of folders)
        try {
          rmdirSync(folder)
        } catch {
          // Busy.
        }
    },
    removeLater: () => {
      last ??= hits()
      for (const folder of folders) removeOnceEmpty(folder, FIRST_PAUSE_MS)
    },
    hits,
  }
}

/** One counter of the first of these files that is there. */
function countOf(folder: string, files: readonly string[], key: string): number {
  for (const file of files)
    try {
      const line = readFileSync(join(folder, file), 'latin1')
        .split('\n')
        .find((text) => text.startsWith(`${key} `))
      if (line !== undefined) return Number(line.slice(key.length + 1))
    } catch {
      // The other version's, or another controller's.
    }
  return 0
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 10_000

/** The last process of a sandbox that was killed may take a moment to be gone, and on a busy machine seconds. */
function removeOnceEmpty(folder: string, pause: number): void {
  rmdir(folder, (error) => {
    if (error?.code === 'EBUSY' && pause <= LONGEST_PAUSE_MS)
      setTimeout(() => removeOnceEmpty(folder, pause * 1.5), pause).unref()
  })
}
