/** PURE. A plan as arguments for bubblewrap: the namespaces and baseline of a sandbox layer. */

import type { SandboxLayout } from '../layout.ts'

/** Where every user of the sandbox may make files, as programs expect it. */
export const SHARED_FOLDERS: ReadonlySet<string> = new Set(['/tmp', '/var/tmp', '/dev/shm'])

/** Descriptors that bubblewrap passes on to the init. */
export const CONTROL_FD = 3
export const INIT_FD = 4
/** The command's stdin; stdout and stderr follow. bubblewrap's own 0 to 2 stay with its monitor. */
export const STDIO_FD = 5
export const IPC_FD = 8
/** The host's root directory: through it the init finds the folder for undo. */
export const HOST_FD = 9
/** All of them, from 3 on. */
export const PASSED_FDS: number = HOST_FD - CONTROL_FD + 1

/** bubblewrap takes at most 9,000 arguments; one bind takes three. */
export const MAX_BINDS = 1000

/**
 * What the init needs for mounts, limits, the second user namespace and the name service's ports;
 * it drops all of it before the command starts.
 */
export const INIT_CAPABILITIES: readonly string[] = [
  'CAP_SYS_ADMIN',
  'CAP_SETPCAP',
  'CAP_SYS_RESOURCE',
  'CAP_SETFCAP',
  'CAP_NET_BIND_SERVICE',
]

export function requireFewBinds({ binds }: Pick<SandboxLayout, 'binds'>): void {
  if (binds.length > MAX_BINDS)
    throw new RangeError(
      `the grants show ${binds.length} separate places, at most ${MAX_BINDS} are possible; grant the directories that contain them`,
    )
}

/** Compiles the arguments, without the program's own name; `channel`: the init has sockets to hand out. */
export function compileArguments(plan: SandboxLayout, channel: boolean): string[] {
  requireFewBinds(plan)
  const args = [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    '--unshare-cgroup',
    '--unshare-net',
  ]
  // uid 0 keeps bubblewrap from creating its own second user namespace, which would take the mount
  // rights from the init. Not --die-with-parent: a bubblewrap killed between its clone and its user
  // map leaves a child that waits forever. The init ends with the connection to its parent, and
  // bubblewrap with the init.
  args.push('--uid', '0', '--gid', '0', '--hostname', plan.hostname, '--as-pid-1')
  for (const capability of INIT_CAPABILITIES) args.push('--cap-add', capability)

  const size = String(plan.scratchBytes)
  const layers: { path: string; args: string[] }[] = [
    ...plan.binds.map(({ path, mode }) => ({
      path,
      args: [mode === 'read-only' ? '--ro-bind' : '--bind', path, path],
    })),
    ...plan.links.map(({ path, target }) => ({ path, args: ['--symlink', target, path] })),
    ...plan.scratch.map((path) => ({
      path,
      args: ['--perms', SHARED_FOLDERS.has(path) ? '1777' : '0700', '--size', size, '--tmpfs', path],
    })),
    ...plan.standIns.map(({ path, source }) => ({ path, args: ['--ro-bind', source, path] })),
    ...plan.emptied.map((path) => ({ path, args: ['--perms', '0555', '--size', '4096', '--tmpfs', path] })),
    { path: '/proc', args: ['--proc', '/proc'] },
    { path: '/dev', args: ['--dev', '/dev'] },
  ]
  layers.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  for (const layer of layers) args.push(...layer.args)

  return [...args, '--chdir', '/', '--', ...initWords(channel)]
}

/** The init, as the layout's first process, with where its descriptors are. */
export function initWords(channel: boolean): string[] {
  const sockets = channel ? [String(IPC_FD)] : []
  return [`/proc/self/fd/${INIT_FD}`, String(CONTROL_FD), String(STDIO_FD), ...sockets, `h${HOST_FD}`]
}

/** The program that prepares a layout for cordon-init: bubblewrap, or a container engine. */
export interface SandboxLayer {
  /** What people call it. */
  readonly title: string
  /** The program; never one that a command could write. */
  readonly program: string
  /** Can be prepared without a command: the streams come with the setup message. */
  readonly ahead?: true
  /** There are not namespaces: the init runs beside its parent, and sees to everything itself (native/bare/). */
  readonly bare?: true
  /** How it is installed. */
  readonly install: string
  /** Its own usage of a control group; absent: almost none. */
  readonly own?: { readonly processes: number; readonly memoryBytes: number }
  /**
   * The words that join control groups and run the rest; absent: the init's own, which join while
   * the layout is prepared.
   */
  enter?(procs: readonly string[]): readonly [program: string, ...args: string[]]
  /** The words that make a layout and start the init in it. `channel`: the init has sockets to hand out. Throws a RangeError for one that it cannot make. */
  words(layout: SandboxLayout, channel: boolean): readonly [program: string, ...args: string[]]
}
