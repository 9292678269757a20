/** PURE. What keeps a machine from running sandboxes, recognised by its traces, and the steps that would repair it. */

/** One step of a repair, done as root. */
export type RepairStep =
  /** The file becomes this text; below /proc/sys it is a setting of the running kernel. */
  | { readonly kind: 'write'; readonly path: string; readonly text: string }
  | { readonly kind: 'run'; readonly argv: readonly [program: string, ...args: string[]] }

export interface MachineTraces {
  /** The kernel's version. */
  readonly release: string
  readonly uid: number
  /** A file's trimmed text; null where it cannot be read. */
  read(path: string): string | null
  exists(path: string): boolean
  /** True when root alone can put something else at this path. */
  isRootsAlone(path: string): boolean
}

export interface Cause {
  readonly remedy: string
  /** Empty: Cordon cannot repair it. */
  readonly repair: readonly RepairStep[]
}

/** A setting of the kernel: now, and after the next boot. */
function setKernel(name: string, value: number): readonly RepairStep[] {
  return [
    { kind: 'write', path: `/proc/sys/${name.replaceAll('.', '/')}`, text: `${value}\n` },
    { kind: 'write', path: `/etc/sysctl.d/60-cordon-${name}.conf`, text: `${name} = ${value}\n` },
  ]
}

const PROFILE = '/etc/apparmor.d/cordon-bwrap'

/**
 * A profile that lets bubblewrap create user namespaces. Only if nobody but root can replace
 * bubblewrap: any other program could replace one in a home.
 */
function allowBwrap(program: string | null, { exists, isRootsAlone }: MachineTraces): readonly RepairStep[] {
  if (program === null || !/^\/[\w./-]+$/.test(program) || !isRootsAlone(program)) return []
  if (!exists('/etc/apparmor.d/abi/4.0') || exists('/etc/apparmor.d/bwrap-userns-restrict')) return []
  const profile = `profile cordon-bwrap ${program} flags=(unconfined) {\n  userns,\n}\n`
  return [
    { kind: 'write', path: PROFILE, text: `abi <abi/4.0>,\ninclude <tunables/global>\n\n${profile}` },
    { kind: 'run', argv: ['apparmor_parser', '--replace', PROFILE] },
  ]
}

const INSTALLERS: readonly (readonly [found: string, argv: readonly [string, ...string[]]])[] = [
  ['/usr/bin/apt-get', ['apt-get', 'install', '-y', 'bubblewrap']],
  ['/usr/bin/dnf', ['dnf', 'install', '-y', 'bubblewrap']],
  ['/usr/bin/zypper', ['zypper', '--non-interactive', 'install', 'bubblewrap']],
  ['/usr/bin/pacman', ['pacman', '-S', '--noconfirm', 'bubblewrap']],
  ['/sbin/apk', ['apk', 'add', 'bubblewrap']],
]

/** Installs bubblewrap; empty where no installer is known. */
export function installBwrap({ exists }: Pick<MachineTraces, 'exists'>): readonly RepairStep[] {
  const found = INSTALLERS.find(([path]) => exists(path))
  return found ? [{ kind: 'run', argv: found[1] }] : []
}

const ENOUGH_INSTANCES = 1024

/** Raises the limit that keeps opens of hidden files from being observed; empty where it is not the cause. */
export function raiseInstances({ read }: Pick<MachineTraces, 'read'>): readonly RepairStep[] {
  const now = Number(read('/proc/sys/fs/inotify/max_user_instances') ?? Number.NaN)
  return now < ENOUGH_INSTANCES ? setKernel('fs.inotify.max_user_instances', ENOUGH_INSTANCES) : []
}

/**
 * Why a sandbox could not be created, if the machine's settings explain it better than the error
 * does. `program`: bubblewrap.
 */
export function findCause(machine: MachineTraces, program: string | null): Cause | null {
  const { read, exists } = machine
  if (/^([0-4]\.|5\.([0-9]|1[01])\b)/.test(machine.release))
    return { remedy: 'Upgrade the kernel: Cordon needs Linux 5.12 or newer.', repair: [] }
  if (read('/proc/sys/user/max_user_namespaces') === '0')
    return {
      remedy:
        'User namespaces are switched off: sudo sysctl user.max_user_namespaces=15000 (and keep it in /etc/sysctl.d).',
      repair: setKernel('user.max_user_namespaces', 15_000),
    }
  if (read('/proc/sys/kernel/unprivileged_userns_clone') === '0')
    return {
      remedy:
        'User namespaces are closed to users: sudo sysctl kernel.unprivileged_userns_clone=1 (and keep it in /etc/sysctl.d).',
      repair: setKernel('kernel.unprivileged_userns_clone', 1),
    }
  if (read('/proc/sys/kernel/apparmor_restrict_unprivileged_userns') === '1' && machine.uid !== 0)
    return {
      remedy:
        'AppArmor keeps programs from creating user namespaces (Ubuntu 23.10 and later). Allow it to bubblewrap: put the profile ' +
        '`abi <abi/4.0>, include <tunables/global> profile bwrap /usr/bin/bwrap flags=(unconfined) { userns, }` into ' +
        '/etc/apparmor.d/bwrap and run sudo apparmor_parser -r /etc/apparmor.d/bwrap.',
      repair: allowBwrap(program, machine),
    }
  if (exists('/.dockerenv') || exists('/run/.containerenv'))
    return {
      remedy:
        'This is a container, and its runtime does not allow new namespaces or a fresh /proc. Start it with ' +
        '--security-opt seccomp=unconfined --security-opt systempaths=unconfined (and apparmor=unconfined where AppArmor is used).',
      repair: [],
    }
  return null
}
