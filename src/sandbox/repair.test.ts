import { describe, expect, it } from 'vitest'
import { findCause, installBwrap, type MachineTraces, raiseInstances } from './repair.ts'

/** A machine with these files, as a user. */
function machine(files: Readonly<Record<string, string>>, more: Partial<MachineTraces> = {}): MachineTraces {
  return {
    release: '6.8.0-31-generic',
    uid: 1000,
    read: (path) => files[path] ?? null,
    exists: (path) => path in files,
    isRootsAlone: (path) => path.startsWith('/usr/'),
    ...more,
  }
}

const APPARMOR = {
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1',
  '/etc/apparmor.d/abi/4.0': '',
}

describe('what keeps a machine from running sandboxes', () => {
  it.each([
    ['nothing that is known', machine({}), '/usr/bin/bwrap', null, []],
    ['an old kernel', machine({}, { release: '5.11.0' }), '/usr/bin/bwrap', 'Upgrade', []],
    [
      'no user namespaces',
      machine({ '/proc/sys/user/max_user_namespaces': '0' }),
      '/usr/bin/bwrap',
      'switched off',
      ['/proc/sys/user/max_user_namespaces', '/etc/sysctl.d/60-cordon-user.max_user_namespaces.conf'],
    ],
    [
      'none for users',
      machine({ '/proc/sys/kernel/unprivileged_userns_clone': '0' }),
      '/usr/bin/bwrap',
      'closed to users',
      ['/proc/sys/kernel/unprivileged_userns_clone', '/etc/sysctl.d/60-cordon-kernel.unprivileged_userns_clone.conf'],
    ],
    [
      'AppArmor',
      machine(APPARMOR),
      '/usr/bin/bwrap',
      'AppArmor',
      ['/etc/apparmor.d/cordon-bwrap', 'apparmor_parser --replace /etc/apparmor.d/cordon-bwrap'],
    ],
    ['AppArmor, and a bubblewrap of the user’s', machine(APPARMOR), '/home/me/bin/bwrap', 'AppArmor', []],
    ['AppArmor, and no plain path', machine(APPARMOR), '/usr/a b/{bwrap}', 'AppArmor', []],
    ['AppArmor, and no bubblewrap', machine(APPARMOR), null, 'AppArmor', []],
    [
      'AppArmor, and its own profile of bubblewrap',
      machine({ ...APPARMOR, '/etc/apparmor.d/bwrap-userns-restrict': '' }),
      '/usr/bin/bwrap',
      'AppArmor',
      [],
    ],
    ['a container', machine({ '/.dockerenv': '' }), '/usr/bin/bwrap', 'container', []],
  ])('%s', (_name, traces, program, remedy, steps) => {
    const cause = findCause(traces, program)
    if (remedy === null) expect(cause).toBeNull()
    else expect(cause?.remedy).toContain(remedy)
    expect((cause?.repair ?? []).map((step) => (step.kind === 'write' ? step.path : step.argv.join(' ')))).toEqual(
      steps,
    )
  })

  it('names in its profile the very program that is started', () => {
    const [write] = findCause(machine(APPARMOR), '/usr/lib/cordon/dist/native/bwrap-x64')!.repair
    expect(write).toMatchObject({
      text: expect.stringContaining('profile cordon-bwrap /usr/lib/cordon/dist/native/bwrap-x64 flags=(unconfined) {'),
    })
  })
})

it('installs bubblewrap with the installer of the system, or not at all', () => {
  expect(installBwrap(machine({ '/usr/bin/apt-get': '' }))).toEqual([
    { kind: 'run', argv: ['apt-get', 'install', '-y', 'bubblewrap'] },
  ])
  expect(installBwrap(machine({}))).toEqual([])
})

it('raises the number of watches only where it is low', () => {
  const path = '/proc/sys/fs/inotify/max_user_instances'
  expect(raiseInstances(machine({ [path]: '128' }))).toHaveLength(2)
  expect(raiseInstances(machine({ [path]: '8192' }))).toEqual([])
  expect(raiseInstances(machine({}))).toEqual([])
})
