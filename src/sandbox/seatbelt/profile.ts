/** PURE. A plan as a profile for macOS's sandbox-exec. The last rule that matches decides, so denials come last. */

import { posix } from 'node:path'
import type { SandboxPlan } from '../plan.ts'

/** What programs need of the system to start at all, read-only. */
const SYSTEM_READS: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/System',
  '/Library/Apple',
  '/Library/Developer/CommandLineTools',
  '/Applications/Xcode.app/Contents/Developer',
  '/opt',
  '/nix',
  '/private/etc',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/select',
]

const DEVICES: readonly string[] = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/dtracehelper']

/** Services without which the C library cannot look up users or localise; none of them starts a program. */
const SERVICES: readonly string[] = [
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.notification_center',
  'com.apple.system.logger',
  'com.apple.trustd.agent',
]

/** A string of the profile's language. */
export function quote(text: string): string {
  if (text.includes('\0')) throw new RangeError('a path holds a NUL character, which no path can')
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

const subpath = (path: string): string => `(subpath ${quote(path)})`
const literal = (path: string): string => `(literal ${quote(path)})`

/** Strict ancestors of every path, the root included: each by its exact name, so that a listing of them stays denied. */
export function ancestorsOf(paths: readonly string[]): string[] {
  const found = new Set<string>()
  for (const path of paths)
    for (let at = posix.dirname(path); !found.has(at); at = posix.dirname(at)) {
      found.add(at)
      if (at === '/') break
    }
  return [...found].sort()
}

function rule(verb: 'allow' | 'deny', operations: string, filters: readonly string[]): string[] {
  return filters.length === 0 ? [] : [`(${verb} ${operations}`, ...filters.map((filter) => `  ${filter}`), ')']
}

/** Compiles the profile. */
export function compileProfile(plan: SandboxPlan): string {
  const system = plan.baseline === 'none' ? [] : SYSTEM_READS
  const reads = plan.binds.map((bind) => bind.path)
  const writes = plan.binds.filter((bind) => bind.mode === 'read-write').map((bind) => bind.path)
  const pinned = plan.pins.filter((pin) => pin.mode === 'read-only').map((pin) => pin.path)
  // A rename needs the right to unlink its source, of the thing itself and of everything above it.
  const held = [...plan.pins.map((pin) => pin.path), ...plan.masks]
  const lines = [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow process-info* signal (target same-sandbox))',
    '(allow sysctl-read)',
    ...rule(
      'allow',
      'mach-lookup',
      SERVICES.map((name) => `(global-name ${quote(name)})`),
    ),
    ...rule('allow', 'file-read* file-write-data file-ioctl', DEVICES.map(literal)),
    ...rule('allow', 'file-read*', [...system, ...reads].map(subpath)),
    ...rule('allow', 'file-read-metadata', ancestorsOf([...system, ...reads, ...DEVICES, plan.cwd]).map(literal)),
    ...rule('allow', 'file-write*', writes.map(subpath)),
    ...(plan.terminal
      ? ['(allow pseudo-tty)', '(allow file-read* file-write* file-ioctl (regex #"^/dev/(tty|ptmx|ttys[0-9]+)$"))']
      : []),
    ...network(plan),
    ...rule('deny', 'file-write*', pinned.map(subpath)),
    ...rule('deny', 'file-write-unlink', [...new Set(held)].sort().map(literal)),
    ...rule('deny', 'file-read* file-write*', plan.masks.map(subpath)),
  ]
  return `${lines.join('\n')}\n`
}

/** One way out: the loopback port of Cordon's proxy. Names are resolved there, so DNS stays denied. */
function network(plan: SandboxPlan): string[] {
  const lines = ['(deny network*)']
  if (plan.network.kind === 'listener')
    lines.push(`(allow network-outbound (remote ip ${quote(`localhost:${plan.network.port}`)}))`)
  if (plan.unixSockets) {
    const places = plan.binds.filter((bind) => bind.mode === 'read-write').map((bind) => subpath(bind.path))
    lines.push(...rule('allow', 'network-bind network-outbound', places))
  }
  return lines
}
