/** The controls: throw-away namespaces in which one protection is missing, so that an attack can be seen to work. */

import type { Control } from './attack.ts'

const SYSTEM = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']
const PLAIN = [
  ...['--ro-bind', '/usr', '/usr', '--ro-bind', '/etc', '/etc', '--symlink', 'usr/bin', '/bin'],
  ...[
    '--symlink',
    'usr/lib',
    '/lib',
    '--symlink',
    'usr/lib64',
    '/lib64',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--tmpfs',
    '/tmp',
  ],
]
const OWN_USER = ['--unshare-user', '--uid', '0', '--gid', '0', '--cap-add', 'ALL']
const REAL_ROOT = ['--cap-add', 'ALL']
const PID = '--unshare-pid'
const NET = '--unshare-net'
const IPC = '--unshare-ipc'
const UTS = '--unshare-uts'
const EMPTY_SYSTEM = ['/etc', '/usr/local', '/opt', '/var', '/srv'].flatMap((path) => ['--tmpfs', path])

const ARGUMENTS: Readonly<Record<Control, readonly string[]>> = {
  open: [...SYSTEM, ...OWN_USER, PID, NET, IPC, UTS],
  system: [...SYSTEM, ...EMPTY_SYSTEM, ...OWN_USER, PID, NET, IPC, UTS],
  plain: [...PLAIN, ...OWN_USER, PID, NET, IPC, UTS],
  'host-pid': [...SYSTEM, '--ro-bind', '/proc', '/proc', ...REAL_ROOT, NET, IPC, UTS],
  'host-ipc': [...SYSTEM, ...REAL_ROOT, PID, NET, UTS],
  'host-net': [...SYSTEM, ...REAL_ROOT, PID, IPC, UTS],
  'host-dev': [...SYSTEM, '--dev-bind', '/dev', '/dev', ...REAL_ROOT, PID, NET, IPC, UTS],
  privileged: [...SYSTEM, ...REAL_ROOT, PID, NET, IPC, UTS],
  'host-proc': [...SYSTEM, '--bind', '/proc', '/proc', ...REAL_ROOT, NET, IPC, UTS],
}

export const CONTROLS: readonly Control[] = Object.keys(ARGUMENTS) as Control[]

/** bubblewrap's arguments for a control: only the fixture is writable. */
export function controlArguments(control: Control, root: string): string[] {
  return [...ARGUMENTS[control], '--bind', root, root, '--die-with-parent', '--new-session']
}
