/** Random policies and paths of a Mac, and what the bubblewrap plan of each allows: the measure of the profile. */

import { isInside } from '../../../src/files/baseline.ts'
import { SYSTEM_READS } from '../../../src/sandbox/experimental/seatbelt/profile.ts'
import type { PathFact } from '../../../src/sandbox/layout.ts'
import { planSandbox, type SandboxPlan, type SandboxRequest } from '../../../src/sandbox/plan.ts'

/** Numbers below a bound, the same in every run. */
export type Chance = (below: number) => number

export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 4294967296) * below)
  }
}

export const HOME = '/Users/ada'

/** Folders that grants name, from above the home down into the project. */
const FOLDERS: readonly string[] = [
  '/Users/ada/work',
  '/Users/ada/work/src',
  '/Users/ada/work/src/deep/er',
  '/Users/ada/work "quoted" \\ folder',
  '/Users/ada/docs',
  '/Users/ada/Library/Caches/tool',
  '/private/tmp/project',
  '/private/tmp/project/sub',
  '/private/var/folders/xy/T/cordon-1',
  '/opt/tool',
  '/Volumes/disk/project',
  '/Users/ada',
]

/** What is hidden in them, and what is protected. */
const LEAVES: readonly string[] = [
  '.env',
  'id_rsa',
  '.git/hooks',
  '.git/config',
  'a.txt',
  'x/server.key',
  'node_modules/p/.npmrc',
]

const STRANGERS: readonly string[] = [
  '/',
  '/Users',
  '/Users/bob/.ssh/id_ed25519',
  '/Users/ada/.ssh/id_ed25519',
  '/Users/ada/Library/Keychains/login.keychain-db',
  '/Users/ada/Library/Cookies/Cookies.binarycookies',
  '/Users/ada/.aws/credentials',
  '/private/etc/master.passwd',
  '/private/etc/sudoers',
  '/private/tmp',
  '/private/tmp/other/file',
  '/private/var/tmp/x',
  '/private/var/db/dslocal/nodes/Default/users/ada.plist',
  '/private/var/run/mDNSResponder',
  '/System/Volumes/Data/Users/ada/.ssh/id_ed25519',
  '/Volumes/disk/secret',
  '/dev/disk0',
  '/dev/ttys003',
  '/dev/null',
  '/usr/bin/git',
  '/opt/homebrew/bin/node',
  '/Library/Preferences/com.apple.loginwindow.plist',
]

/** Hidden under every baseline, as the secret places of the home and the system are. */
const ALWAYS_MASKED: readonly string[] = [
  '/Users/ada/.ssh',
  '/Users/ada/.aws/credentials',
  '/Users/ada/Library/Keychains',
  '/Users/ada/Library/Cookies',
  '/private/etc/master.passwd',
  '/private/etc/sudoers',
  '/private/var/db/dslocal',
]

const pick = <T>(chance: Chance, among: readonly T[]): T => among[chance(among.length)]!
const some = <T>(chance: Chance, among: readonly T[], odds: number): T[] => among.filter(() => chance(odds) === 0)

export function randomRequest(chance: Chance): SandboxRequest {
  const writes = some(chance, FOLDERS.slice(0, -1), 4)
  const reads = some(chance, FOLDERS, 5)
  const leaves = [...writes, ...reads].flatMap((folder) => LEAVES.map((leaf) => `${folder}/${leaf}`))
  const directories = ['/usr', '/bin', '/sbin', '/opt', HOME, ...FOLDERS]
  return {
    argv: ['true'],
    cwd: pick(chance, [...writes, ...reads, HOME]),
    env: {},
    baseline: pick(chance, ['system', 'none', 'permissive', 'all'] as const),
    home: HOME,
    uid: 501,
    gid: 20,
    reads,
    writes,
    masks: [...ALWAYS_MASKED, ...some(chance, leaves, 3)],
    pinned: chance(2) === 0 ? [] : some(chance, leaves, 3),
    pins: some(chance, leaves, 4).map((path) => ({ path, mode: chance(3) === 0 ? 'in-place' : 'read-only' })),
    network: pick(chance, ['none', 'listener'] as const),
    port: 40000 + chance(1000),
    servers: chance(4) === 0 ? [5173] : [],
    unixSockets: chance(6) === 0,
    ...(chance(3) === 0 ? { terminal: { rows: 24, columns: 80 } } : {}),
    limits: {},
    facts: {
      paths: new Map<string, PathFact>([
        ...directories.map((real) => [real, { kind: 'directory' as const, real }] as const),
        ['/etc', { kind: 'directory' as const, real: '/private/etc', link: 'private/etc' }],
      ]),
      sockets: [],
      kernelMounts: [],
    },
  }
}

export function randomPath(chance: Chance, plan: SandboxPlan): string {
  const known = [
    ...plan.binds.map(({ path }) => path),
    ...plan.masks,
    ...plan.pins.map(({ path }) => path),
    ...FOLDERS,
    ...STRANGERS,
  ]
  const base = pick(chance, known)
  const join = (name: string) => (base === '/' ? `/${name}` : `${base}/${name}`)
  switch (chance(5)) {
    case 0:
      return join(pick(chance, LEAVES))
    case 1:
      return join('below/it')
    case 2:
      return base === '/' ? base : `${base}x`
    default:
      return base
  }
}

export const OPERATIONS: readonly string[] = [
  'file-read-data',
  'file-read-metadata',
  'file-write-data',
  'file-write-create',
  'file-write-unlink',
  'file-write-mode',
  'process-exec',
  'file-map-executable',
]

/** Devices are given by bubblewrap as well, and metadata of what lies above a grant shows nothing. */
const FREE_DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/dtracehelper']

/** What the bubblewrap plan allows of the host's own file at a path. */
export function planAllows(plan: SandboxPlan, operation: string, path: string): boolean {
  if (FREE_DEVICES.includes(path)) return /^file-(?:read|write-data)/.test(operation)
  if (plan.terminal && /^\/dev\/(?:tty|ttys[0-9]+)$/.test(path)) return /^file-(?:read|write-data)/.test(operation)
  if (plan.masks.some((mask) => isInside(path, mask))) return false
  const layers = [
    ...plan.binds.map(({ path: at, mode }) => ({ at, mode })),
    ...[...plan.scratch, ...plan.emptied, '/dev', '/proc'].map((at) => ({ at, mode: 'private' as const })),
    ...(plan.baseline === 'none' ? [] : SYSTEM_READS.map((at) => ({ at, mode: 'read-only' as const }))),
  ].filter(({ at }) => isInside(path, at))
  const nearest = layers.sort((a, b) => b.at.length - a.at.length)[0]
  if (nearest === undefined || nearest.mode === 'private') return false
  if (!operation.startsWith('file-write')) return true
  if (nearest.mode !== 'read-write') return false
  if (plan.pins.some((pin) => pin.mode === 'read-only' && isInside(path, pin.path))) return false
  return operation !== 'file-write-unlink' || !plan.pins.some((pin) => pin.path === path)
}

export const planOf = (request: SandboxRequest): SandboxPlan => planSandbox(request)
