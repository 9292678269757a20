/** The words of podman, and of docker, for one container. */

import type { ResourceLimit } from '../limits.ts'
import { ENGINE_STATE } from './confined.ts'
import type { ContainerRoot } from './container-root.ts'
import { CONTAINER_PLACES, ENTRY_ENVIRONMENT, WORK } from './entry.ts'
import type { Stage } from './stage.ts'

export interface PodmanRequest {
  readonly program: string
  readonly runtime: string
  readonly bundle: string
  readonly argv: readonly string[]
  readonly layout: ContainerRoot
  readonly stage: Pick<Stage, 'in' | 'outs'>
  readonly fileBytes: number
  readonly rlimits: readonly ResourceLimit[]
}

/** What podman and docker call alike: no network, no capability, a read-only root, private directories, what is handed in and out. */
export function commonWords(request: Pick<PodmanRequest, 'layout' | 'stage' | 'fileBytes' | 'rlimits'>): string[] {
  const { layout, stage, fileBytes, rlimits } = request
  const scratch = (path: string) => ['--tmpfs', `${path}:rw,nosuid,nodev,size=${fileBytes},mode=1777`]
  const limited = rlimits.filter(({ name }) => name !== 'CORE')
  return [
    ...['--network', 'none', '--read-only', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges'],
    ...['--ulimit', 'nofile=1024:1024', '--ulimit', 'core=0:0', '--hostname', 'localhost', '--workdir', WORK],
    ...limited.flatMap(({ name, limit }) => ['--ulimit', `${name.toLowerCase()}=${limit}:${limit}`]),
    ...scratch('/tmp'),
    ...scratch(WORK),
    ...layout.shown.flatMap((path) => ['--volume', `${path}:${path}:ro`]),
    ...['--volume', `${stage.in}:${CONTAINER_PLACES.in}:ro`],
    ...stage.outs.flatMap(({ path, name }) => ['--volume', `${path}:${CONTAINER_PLACES.out}/${name}:rw`]),
    ...Object.entries(ENTRY_ENVIRONMENT).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
  ]
}

/** It is told that the user namespace it is in was made for it, so that it leaves control groups alone as for any user. */
export function podmanEnvironment(uid: string): Record<string, string> {
  return {
    PATH: '/usr/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin:/bin:/sbin',
    ...{ HOME: ENGINE_STATE, XDG_RUNTIME_DIR: ENGINE_STATE, TMPDIR: ENGINE_STATE },
    ...{ _CONTAINERS_USERNS_CONFIGURED: 'done', _CONTAINERS_ROOTLESS_UID: uid, _CONTAINERS_ROOTLESS_GID: uid },
  }
}

/** Its own store, in memory. */
function podmanStore(runtime: string): string[] {
  const own = `${ENGINE_STATE}/podman`
  return [
    ...['--root', `${own}/root`, '--runroot', `${own}/run`, '--tmpdir', `${own}/tmp`, '--storage-driver', 'vfs'],
    ...['--cgroup-manager', 'cgroupfs', '--events-backend', 'none', '--runtime', runtime, '--log-level', 'error'],
  ]
}

/**
 * Its own store for each call, in memory, gone with it: the user's containers and images are not touched, and a killed call
 * leaves no record in them. The container stays in the control group that Cordon made.
 */
export function podmanArgv(request: PodmanRequest): string[] {
  const { program, runtime, bundle, argv, rlimits } = request
  return [
    program,
    ...podmanStore(runtime),
    ...['run', '--rm', '--log-driver', 'none', '--pull=never', '--entrypoint', ''],
    // Without an explicit one podman asks for more than a user may have, and fails.
    ...(rlimits.some(({ name }) => name === 'NPROC') ? [] : ['--ulimit', 'nproc=1024:1024']),
    ...commonWords(request),
    ...['--rootfs', `${bundle}/rootfs`, ...argv],
  ]
}
