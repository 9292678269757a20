/** Probes an engine by running it, and the words for podman and docker. */

import { messageOf } from '../../system/fault.ts'
import type { LimitReport, ResourceLimit } from '../limits.ts'
import { ENGINE_STATE } from './confined.ts'
import type { ContainerRoot } from './container-root.ts'
import type { ContainerEngine, ContainerLimits, ContainerRun, EngineSupport } from './engine.ts'
import { CONTAINER_PLACES, ENTRY_ENVIRONMENT, WORK } from './layout-spec.ts'
import type { Stage } from './stage.ts'

/** Each line that it prints is something that should not be so. */
const ATTACKS = `
case $(grep -h CapEff /proc/self/status) in *[1-9a-f]*) case $(grep -h CapEff /proc/self/status | tr -d 'CapEf:[:space:]0') in '') ;; *) echo 'has capabilities' ;; esac ;; esac
if touch /usr/cordon-probe 2>/dev/null; then echo 'can write /usr'; fi
if [ -r /etc/shadow ]; then echo 'can read /etc/shadow'; fi
if grep -hv -e '|' -e '^ *lo:' /proc/net/dev 2>/dev/null | grep -q ':' ; then echo 'has a network device'; fi
if (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null; then echo 'reaches the host'; fi
if [ "$(cat asked)" != in ]; then echo 'is not given its files'; fi
echo out >given
echo probed
`

/** tail keeps all of a line without an end. */
const HOG = 'head -c $1 /dev/zero | tail >/dev/null; exit $?'

const PROBE_MS = 20_000
/** Less than the request, so that exceeding it takes little time. */
const PROBE_MEMORY: number = 96 * 1024 ** 2

function probeRun(code: string, words: readonly string[], limits: ContainerLimits): ContainerRun {
  return {
    argv: ['/bin/bash', '{in}/probe', ...words],
    source: { name: 'probe', bytes: Buffer.from(code) },
    files: [{ name: 'asked', bytes: Buffer.from('in') }],
    stdin: new Uint8Array(),
    outputs: ['given'],
    limits: { ...limits, timeoutMs: PROBE_MS },
    image: null,
    signal: new AbortController().signal,
  }
}

/** The protections of an engine. `promised`: how to enforce each limit; memory is tried. */
export async function probeEngine(
  engine: Pick<ContainerEngine, 'name' | 'run'>,
  limits: ContainerLimits,
  wall: string,
  promised: readonly LimitReport[],
): Promise<EngineSupport> {
  const { name } = engine
  try {
    const seen = await engine.run(probeRun(ATTACKS, [], limits))
    const lines = seen.stdout.bytes.toString('utf8').trim().split('\n')
    const given = seen.files[0] && Buffer.from(seen.files[0].bytes).toString('utf8')
    if (seen.exitCode !== 0 || lines.at(-1) !== 'probed') {
      return {
        works: false,
        why: `${name} runs nothing here: ${seen.stderr.bytes.toString('utf8').trim().slice(0, 300)}`,
      }
    }
    if (lines.length > 1)
      return { works: false, why: `${name} does not confine a program here: it ${lines.slice(0, -1).join(', ')}` }
    if (given !== 'out\n') return { works: false, why: `${name} hands no files out here` }
    const hog = await engine.run(probeRun(HOG, [String(3 * PROBE_MEMORY)], { ...limits, memoryBytes: PROBE_MEMORY }))
    // Only an end by that limit counts: on a busy machine it may be the clock's.
    if (hog.hit?.limit === 'memory') return { works: true, wall, limits: promised }
    const absent = {
      limit: 'memory',
      status: 'absent',
      how: 'a program that took three times as much was not ended for it',
    } as const
    return { works: true, wall, limits: promised.map((one) => (one.limit === 'memory' ? absent : one)) }
  } catch (error) {
    return { works: false, why: messageOf(error) }
  }
}

/** The words of podman, and of docker, for one container. */
interface PodmanRequest {
  readonly program: string
  readonly runtime: string
  readonly bundle: string
  readonly argv: readonly string[]
  readonly layout: ContainerRoot
  readonly stage: Pick<Stage, 'in' | 'outs'>
  readonly fileBytes: number
  readonly rlimits: readonly ResourceLimit[]
}

/**
 * The common words of podman and docker: no network, no capability, a read-only root, private
 * directories, input and output files.
 */
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

/** Makes podman believe that its user namespace was created for it, to spare control groups. */
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
 * Its own store for each call, in memory: the user's containers and images are not touched, and a
 * killed call leaves no record. The container stays in the control group that Cordon created.
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
