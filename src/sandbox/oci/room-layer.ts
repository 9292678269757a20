/** Container engines that lay out rooms for the init in the place of bubblewrap. Nothing of a room is ever on the host's disk. */

import { PASSED_FDS } from '../bwrap/args.ts'
import type { RoomLayer } from '../bwrap/layer.ts'
import type { SandboxRoom } from '../plan.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import { ENGINE_STATE } from './confined.ts'
import { findEngineProgram } from './local-engine.ts'
import { roomSpec } from './room-spec.ts'

/** The kernel takes 128 KiB in one word. */
const WORD_CHARACTERS = 30_000

/**
 * Lays the bundle out in memory of its own, which goes with the namespaces, whoever is killed: the configuration in pieces, then the links
 * of the room as pairs, then the engine's words.
 */
export const LAY_OUT = `PATH=/usr/bin:/bin:/usr/sbin:/sbin
umask 022
mount -t tmpfs -o mode=0755,size=67108864 cordon ${ENGINE_STATE} && mkdir -p ${ENGINE_STATE}/room/rootfs && cd ${ENGINE_STATE}/room || exit 125
while [ "$1" != -- ]; do printf %s "$1" || exit 125; shift; done >config.json
shift
while [ "$1" != -- ]; do
  mkdir -p "rootfs\${1%/*}" && ln -s "$2" "rootfs$1" || exit 125
  shift 2
done
shift
cd / && exec "$@"`

/** Namespaces of the engine's own: its mounts, its state and its processes end with it. */
export function layOutWords(
  unshare: string,
  spec: object,
  links: SandboxRoom['links'],
  engine: readonly string[],
): [string, ...string[]] {
  const text = JSON.stringify(spec)
  const pieces = Array.from({ length: Math.ceil(text.length / WORD_CHARACTERS) }, (_, at) =>
    text.slice(at * WORD_CHARACTERS, (at + 1) * WORD_CHARACTERS),
  )
  return [
    unshare,
    ...['--user', '--map-root-user', '--mount', '--pid', '--fork', '--kill-child=KILL', '--mount-proc', '--'],
    ...['/bin/sh', '-c', LAY_OUT, 'layout', ...pieces, '--', ...links.flatMap(({ path, target }) => [path, target])],
    ...['--', ...engine],
  ]
}

/** Finds it, or says that nothing runs. */
export function requireProgram(name: string, install: string): string {
  const program = findEngineProgram(name)
  if (program !== null) return program
  throw new SandboxFault('sandbox-missing', `[sandbox.os] backend asks for ${name}, which is not installed: nothing runs`, {
    remedy: `Install it (${install}), or write backend = "bwrap".`,
  })
}

const MIB = 1024 ** 2

/** runc. */
export function runcLayer(): RoomLayer {
  const install = 'apt install runc, dnf install runc, pacman -S runc'
  const program = requireProgram('runc', install)
  const unshare = requireProgram('unshare', 'it is part of util-linux')
  const engine = [program, '--root', `${ENGINE_STATE}/state`, 'run', '--preserve-fds', String(PASSED_FDS)]
  return {
    title: 'runc',
    program,
    install,
    own: { processes: 40, memoryBytes: 24 * MIB },
    words: (room, channel) =>
      layOutWords(unshare, roomSpec(room, channel), room.links, [
        ...engine,
        '--bundle',
        `${ENGINE_STATE}/room`,
        'cordon',
      ]),
  }
}
