/** PURE. The system calls that a sandbox refuses, with their numbers, as data. */

export type Architecture = 'x64' | 'arm64'

/** `EPERM` where a program should see a refusal, `ENOSYS` where it should fall back as on an older kernel. */
type RefusalErrno = 'EPERM' | 'ENOSYS'

interface RefusedCall {
  readonly name: string
  /** Null where the architecture does not have the call. */
  readonly x64: number | null
  readonly arm64: number | null
  readonly errno: RefusalErrno
  readonly why: string
}

const row = (
  name: string,
  x64: number | null,
  arm64: number | null,
  errno: RefusalErrno,
  why: string,
): RefusedCall => ({ name, x64, arm64, errno, why })

/** Calls that are refused whatever their arguments. */
export const REFUSED_CALLS: readonly RefusedCall[] = [
  row('ptrace', 101, 117, 'EPERM', 'takes over other processes'),
  row('process_vm_readv', 310, 270, 'EPERM', 'reads the memory of other processes'),
  row('process_vm_writev', 311, 271, 'EPERM', 'writes the memory of other processes'),
  row('process_madvise', 440, 440, 'EPERM', 'changes the memory of other processes'),
  row('kcmp', 312, 272, 'EPERM', 'reveals kernel objects of other processes'),
  row('pidfd_getfd', 438, 438, 'EPERM', 'takes descriptors from other processes'),
  row('bpf', 321, 280, 'EPERM', 'loads programs into the kernel'),
  row('perf_event_open', 298, 241, 'EPERM', 'observes other processes and the kernel'),
  row('userfaultfd', 323, 282, 'EPERM', 'stops the kernel in mid-copy, a step of many exploits'),
  row('add_key', 248, 217, 'EPERM', 'kernel keyrings are not namespaced by session'),
  row('request_key', 249, 218, 'EPERM', 'kernel keyrings are not namespaced by session'),
  row('keyctl', 250, 219, 'EPERM', 'kernel keyrings are not namespaced by session'),
  row('io_uring_setup', 425, 425, 'ENOSYS', 'does system calls that this filter does not see'),
  row('io_uring_enter', 426, 426, 'ENOSYS', 'does system calls that this filter does not see'),
  row('io_uring_register', 427, 427, 'ENOSYS', 'does system calls that this filter does not see'),
  row('clone3', 435, 435, 'ENOSYS', 'its flags lie in memory, out of sight; libc falls back to clone'),
  row('mount', 165, 40, 'EPERM', 'changes the mounts'),
  row('umount2', 166, 39, 'EPERM', 'changes the mounts'),
  row('pivot_root', 155, 41, 'EPERM', 'changes the root'),
  row('chroot', 161, 51, 'EPERM', 'changes the root'),
  row('open_tree', 428, 428, 'EPERM', 'clones mounts'),
  row('open_tree_attr', 467, 467, 'EPERM', 'clones mounts'),
  row('move_mount', 429, 429, 'EPERM', 'changes the mounts'),
  row('fsopen', 430, 430, 'EPERM', 'makes file systems'),
  row('fsconfig', 431, 431, 'EPERM', 'makes file systems'),
  row('fsmount', 432, 432, 'EPERM', 'makes file systems'),
  row('fspick', 433, 433, 'EPERM', 'changes file systems'),
  row('mount_setattr', 442, 442, 'EPERM', 'changes the mounts'),
  row('statmount', 457, 457, 'ENOSYS', 'reveals the mounts'),
  row('listmount', 458, 458, 'ENOSYS', 'reveals the mounts'),
  row('setns', 308, 268, 'EPERM', 'enters other namespaces'),
  row('name_to_handle_at', 303, 264, 'EPERM', 'the first half of opening by handle'),
  row('open_by_handle_at', 304, 265, 'EPERM', 'opens files past the mounts'),
  row('fanotify_init', 300, 262, 'EPERM', 'observes files past the mounts'),
  row('kexec_load', 246, 104, 'EPERM', 'replaces the kernel'),
  row('kexec_file_load', 320, 294, 'EPERM', 'replaces the kernel'),
  row('init_module', 175, 105, 'EPERM', 'loads kernel code'),
  row('finit_module', 313, 273, 'EPERM', 'loads kernel code'),
  row('delete_module', 176, 106, 'EPERM', 'unloads kernel code'),
  row('create_module', 174, null, 'ENOSYS', 'obsolete'),
  row('query_module', 178, null, 'ENOSYS', 'obsolete'),
  row('get_kernel_syms', 177, null, 'ENOSYS', 'obsolete'),
  row('nfsservctl', 180, 42, 'ENOSYS', 'obsolete'),
  row('_sysctl', 156, null, 'ENOSYS', 'obsolete'),
  row('uselib', 134, null, 'ENOSYS', 'obsolete'),
  row('ustat', 136, null, 'ENOSYS', 'obsolete'),
  row('sysfs', 139, null, 'ENOSYS', 'obsolete'),
  row('lookup_dcookie', 212, 18, 'ENOSYS', 'obsolete'),
  row('vserver', 236, null, 'ENOSYS', 'obsolete'),
  row('reboot', 169, 142, 'EPERM', 'the machine is not the sandbox’s'),
  row('swapon', 167, 224, 'EPERM', 'the machine is not the sandbox’s'),
  row('swapoff', 168, 225, 'EPERM', 'the machine is not the sandbox’s'),
  row('acct', 163, 89, 'EPERM', 'the machine is not the sandbox’s'),
  row('quotactl', 179, 60, 'EPERM', 'the machine is not the sandbox’s'),
  row('quotactl_fd', 443, 443, 'EPERM', 'the machine is not the sandbox’s'),
  row('settimeofday', 164, 170, 'EPERM', 'the clock is the machine’s'),
  row('clock_settime', 227, 112, 'EPERM', 'the clock is the machine’s'),
  row('clock_adjtime', 305, 266, 'EPERM', 'the clock is the machine’s'),
  row('adjtimex', 159, 171, 'EPERM', 'the clock is the machine’s'),
  row('sethostname', 170, 161, 'EPERM', 'names are set by the plan'),
  row('setdomainname', 171, 162, 'EPERM', 'names are set by the plan'),
  row('iopl', 172, null, 'EPERM', 'reaches hardware'),
  row('ioperm', 173, null, 'EPERM', 'reaches hardware'),
  row('modify_ldt', 154, null, 'EPERM', 'old and often broken kernel code'),
  row('vhangup', 153, 58, 'EPERM', 'hangs up terminals'),
  row('syslog', 103, 116, 'EPERM', 'reads the kernel log'),
  row('migrate_pages', 256, 238, 'EPERM', 'moves the memory of other processes'),
  row('move_pages', 279, 239, 'EPERM', 'reveals where memory lies'),
  row(
    'openat2',
    437,
    437,
    'ENOSYS',
    'its mode lies in memory, out of sight, and may make setuid files; openat remains',
  ),
  row('setxattrat', 463, 463, 'ENOSYS', 'its arguments lie in memory, out of sight; setxattr remains'),
  row('removexattrat', 466, 466, 'ENOSYS', 'beside setxattrat; removexattr remains'),
  row('file_setattr', 469, 469, 'ENOSYS', 'its arguments lie in memory, out of sight'),
  row('memfd_secret', 447, 447, 'ENOSYS', 'memory that no other process can read'),
]

interface ChangingCall {
  readonly name: string
  readonly x64: number | null
  readonly arm64: number | null
}

const changing = (name: string, x64: number | null, arm64: number | null): ChangingCall => ({ name, x64, arm64 })

/**
 * Calls that change the tree, and are sent to the init where changes go through it (native/broker/broker.c has the same list; those that
 * open or set a mode are among the inspected ones). `listen` changes nothing of it: it is how the init hears of a server.
 */
export const CHANGING_CALLS: readonly ChangingCall[] = [
  changing('mkdir', 83, null),
  changing('mkdirat', 258, 34),
  changing('symlink', 88, null),
  changing('symlinkat', 266, 36),
  changing('link', 86, null),
  changing('linkat', 265, 37),
  changing('unlink', 87, null),
  changing('unlinkat', 263, 35),
  changing('rmdir', 84, null),
  changing('rename', 82, null),
  changing('renameat', 264, 38),
  changing('renameat2', 316, 276),
  changing('truncate', 76, 45),
  changing('chown', 92, null),
  changing('fchown', 93, 55),
  changing('lchown', 94, null),
  changing('fchownat', 260, 54),
  changing('utime', 132, null),
  changing('utimes', 235, null),
  changing('futimesat', 261, null),
  changing('utimensat', 280, 88),
  changing('umask', 95, 166),
  changing('setxattr', 188, 5),
  changing('lsetxattr', 189, 6),
  changing('fsetxattr', 190, 7),
  changing('removexattr', 197, 14),
  changing('lremovexattr', 198, 15),
  changing('fremovexattr', 199, 16),
  changing('connect', 42, 203),
  changing('bind', 49, 200),
  changing('listen', 50, 201),
]

/** Calls that start a program, sent to the init where it judges what runs (native/programs/). */
export const STARTING_CALLS: readonly ChangingCall[] = [changing('execve', 59, 221), changing('execveat', 322, 281)]

/** Calls that make or signal processes, sent to the init where there are not namespaces (native/bare/tree.c). */
export const PROCESS_CALLS: readonly ChangingCall[] = [
  changing('fork', 57, null),
  changing('vfork', 58, null),
  changing('kill', 62, 129),
  changing('tkill', 200, 130),
  changing('tgkill', 234, 131),
  changing('rt_sigqueueinfo', 129, 138),
  changing('rt_tgsigqueueinfo', 297, 240),
  changing('pidfd_send_signal', 424, 424),
]

/** Objects of the whole machine, by number or name: refused without a namespace for them. */
export const SHARED_CALLS: readonly ChangingCall[] = [
  changing('shmget', 29, 194),
  changing('shmat', 30, 196),
  changing('shmctl', 31, 195),
  changing('semget', 64, 190),
  changing('semop', 65, 193),
  changing('semtimedop', 220, 192),
  changing('semctl', 66, 191),
  changing('msgget', 68, 186),
  changing('msgsnd', 69, 189),
  changing('msgrcv', 70, 188),
  changing('msgctl', 71, 187),
  changing('mq_open', 240, 180),
  changing('mq_unlink', 241, 181),
]

/**
 * Calls that only look or run, also sent to the init if it reports what a command looks for
 * (native/init/learn.c has the same list).
 */
export const LOOKING_CALLS: readonly ChangingCall[] = [
  changing('stat', 4, null),
  changing('lstat', 6, null),
  changing('newfstatat', 262, 79),
  changing('statx', 332, 291),
  changing('access', 21, null),
  changing('faccessat', 269, 48),
  changing('faccessat2', 439, 439),
  changing('readlink', 89, null),
  changing('readlinkat', 267, 78),
  changing('chdir', 80, 49),
  ...STARTING_CALLS,
]

export type InspectedCall =
  | 'clone'
  | 'unshare'
  | 'socket'
  | 'socketpair'
  | 'ioctl'
  | 'personality'
  | 'setrlimit'
  | 'prlimit64'
  | 'chmod'
  | 'fchmod'
  | 'fchmodat'
  | 'fchmodat2'
  | 'open'
  | 'creat'
  | 'openat'
  | 'mknod'
  | 'mknodat'

/** Calls with checked arguments. Null if the architecture lacks the call. */
export const INSPECTED_CALLS: Readonly<Record<InspectedCall, Readonly<Record<Architecture, number | null>>>> = {
  clone: { x64: 56, arm64: 220 },
  unshare: { x64: 272, arm64: 97 },
  socket: { x64: 41, arm64: 198 },
  socketpair: { x64: 53, arm64: 199 },
  ioctl: { x64: 16, arm64: 29 },
  personality: { x64: 135, arm64: 92 },
  setrlimit: { x64: 160, arm64: 164 },
  prlimit64: { x64: 302, arm64: 261 },
  chmod: { x64: 90, arm64: null },
  fchmod: { x64: 91, arm64: 52 },
  fchmodat: { x64: 268, arm64: 53 },
  fchmodat2: { x64: 452, arm64: 452 },
  open: { x64: 2, arm64: null },
  creat: { x64: 85, arm64: null },
  openat: { x64: 257, arm64: 56 },
  mknod: { x64: 133, arm64: null },
  mknodat: { x64: 259, arm64: 33 },
}

export type BareCall = 'prctl' | 'fcntl' | 'sendto' | 'sendmsg' | 'sendmmsg'

/** Calls with checked arguments: without namespaces, and those that send also with them. */
export const BARE_CALLS: Readonly<Record<BareCall, Readonly<Record<Architecture, number>>>> = {
  prctl: { x64: 157, arm64: 167 },
  fcntl: { x64: 72, arm64: 25 },
  sendto: { x64: 44, arm64: 206 },
  sendmsg: { x64: 46, arm64: 211 },
  sendmmsg: { x64: 307, arm64: 269 },
}

/** The last call this table was checked against (file_setattr): newer ones are answered as by an older kernel. */
export const LAST_KNOWN_CALL = 469
