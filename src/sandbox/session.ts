/** Checks the host for a plan: existing paths, bound sockets, mounted kernel file systems. */

import { lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { encodePath } from '../files/path-bytes.ts'
import { type HostFacts, type PathFact, pathsToLookAt } from './layout.ts'
import type { MaskIdentity, SandboxRequest } from './plan.ts'

function factOf(path: string): PathFact | null {
  try {
    let stats = lstatSync(path)
    const link = stats.isSymbolicLink() ? readlinkSync(path) : undefined
    const real = realpathSync.native(path)
    if (link !== undefined) stats = lstatSync(real)
    const kind = stats.isDirectory() ? 'directory' : stats.isFile() ? 'file' : 'other'
    return { kind, real, ...(link === undefined ? {} : { link }) }
  } catch {
    return null
  }
}

/** Bound sockets with a path, of this network namespace. Only such sockets can be reached through a file. */
function boundSockets(): string[] {
  const sockets = new Set<string>()
  for (const line of readFileSync('/proc/net/unix', 'utf8').split('\n').slice(1)) {
    const path = line.split(' ').slice(7).join(' ').trim() || line.replace(/^(?:\S+\s+){7}/, '')
    if (!path.startsWith('/')) continue
    const fact = factOf(path)
    if (fact) sockets.add(fact.real)
  }
  return [...sockets]
}

const KERNEL_TYPES = new Set(
  'proc sysfs cgroup cgroup2 debugfs tracefs securityfs configfs bpf fusectl pstore efivarfs mqueue hugetlbfs devtmpfs devpts binfmt_misc rpc_pipefs nfsd selinuxfs'.split(
    ' ',
  ),
)

function kernelMounts(): string[] {
  const mounts: string[] = []
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [before, after] = line.split(' - ')
    const path = before?.split(' ')[4]
    if (!path || !KERNEL_TYPES.has(after?.split(' ')[0] ?? '')) continue
    // mountinfo escapes space, tab, newline and backslash in octal.
    mounts.push(path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))))
  }
  return mounts
}

/** The identities of the files at these paths; a missing file has none, and its mask will fault. */
export function readIdentities(paths: readonly string[]): Map<string, MaskIdentity> {
  const identities = new Map<string, MaskIdentity>()
  for (const path of paths) {
    const stat = lstatSync(Buffer.from(encodePath(path)), { bigint: true, throwIfNoEntry: false })
    if (stat) identities.set(path, { device: stat.dev, inode: stat.ino })
  }
  return identities
}

/** The facts that `planSandbox` needs for a request. */
export function readHostFacts(
  request: Pick<SandboxRequest, 'baseline' | 'home' | 'reads' | 'writes' | 'cwd' | 'standIns' | 'unixSockets'> & {
    readonly scratch?: readonly string[]
  },
): HostFacts {
  const paths = new Map<string, PathFact>()
  for (const path of [...pathsToLookAt(request), ...(request.scratch ?? [])]) {
    const fact = factOf(path)
    if (fact) paths.set(path, fact)
  }
  return {
    paths,
    sockets: request.unixSockets ? boundSockets() : [],
    kernelMounts: request.baseline === 'all' ? kernelMounts() : [],
  }
}
