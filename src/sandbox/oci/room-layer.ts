/** Container engines that lay out rooms for the init in the place of bubblewrap. Nothing of a room is ever on the host's disk. */

import { PASSED_FDS } from '../bwrap/args.ts'
import type { RoomLayer } from '../bwrap/layer.ts'
import type { SandboxRoom } from '../room.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import { ENGINE_STATE, joinWords, namespaceWords } from './confined.ts'
import { findEngineProgram } from './local-engine.ts'
import { podmanEnvironment, podmanStore } from './podman.ts'
import { roomSpec } from './room-spec.ts'

/** The kernel takes 128 KiB in one word. */
const WORD_CHARACTERS = 30_000

/**
 * Lays the bundle out in memory of its own, which goes with the namespaces, whoever is killed: the configuration in pieces, then the links
 * of the room as pairs, then the engine's words.
 */
const LAY_OUT = `umask 022
mkdir -p ${ENGINE_STATE}/room/rootfs && cd ${ENGINE_STATE}/room || exit 125
while [ "$1" != -- ]; do printf %s "$1" || exit 125; shift; done >config.json
shift
while [ "$1" != -- ]; do
  mkdir -p "rootfs\${1%/*}" && ln -s "$2" "rootfs$1" || exit 125
  shift 2
done
shift
cd / && exec "$@"`

/**
 * runc moves a container into a control group of its own making wherever it can write one, out of the group that holds the limits, and
 * removes that with all below it. Read-only ones it leaves alone.
 */
const SEAL = `while read -r _ at type _; do
  case $type in cgroup | cgroup2) mount -o remount,bind,ro,nosuid,nodev,noexec "$at" || exit 125 ;; esac
done </proc/self/mounts
exec "$@"`

/** The words that lay a bundle out in `ENGINE_STATE` and go on with the engine's. */
export function layOutWords(spec: object, links: SandboxRoom['links'], engine: readonly string[]): string[] {
  const text = JSON.stringify(spec)
  const pieces = Array.from({ length: Math.ceil(text.length / WORD_CHARACTERS) }, (_, at) =>
    text.slice(at * WORD_CHARACTERS, (at + 1) * WORD_CHARACTERS),
  )
  const pairs = links.flatMap(({ path, target }) => [path, target])
  return ['/bin/sh', '-c', LAY_OUT, 'layout', ...pieces, '--', ...pairs, '--', ...engine]
}

/** Finds it, or says that nothing runs. */
export function requireProgram(name: string, install: string): string {
  const program = findEngineProgram(name)
  if (program !== null) return program
  throw new SandboxFault(
    'sandbox-missing',
    `[sandbox.os] backend asks for ${name}, which is not installed: nothing runs`,
    {
      remedy: `Install it (${install}), or write backend = "bwrap".`,
    },
  )
}

const MIB = 1024 ** 2

/** Where podman looks for what is to be done before it makes a container: it takes the configuration that lies beside. */
const HOOKS = `${ENGINE_STATE}/room/hooks`
const HOOK = JSON.stringify({
  version: '1.0.0',
  hook: { path: '/bin/cat', args: ['cat', `${ENGINE_STATE}/room/config.json`] },
  when: { always: true },
  stages: ['precreate'],
})

/**
 * podman has no words for all of a room (a place that is read-only with all that is mounted below it, no mask that the init has to look
 * through), but it lets a hook write the configuration that it hands to its runtime: the one that runc is given.
 */
export function podmanLayer(): RoomLayer {
  const install = 'apt install podman runc, dnf install podman runc, pacman -S podman runc'
  const program = requireProgram('podman', install)
  const runtime = requireProgram('runc', install)
  const unshare = requireProgram('unshare', 'it is part of util-linux')
  const uid = String(process.getuid?.() ?? 0)
  const hooked = `mkdir ${HOOKS} && printf %s "$1" >${HOOKS}/room.json || exit 125; shift; exec "$@"`
  const engine = [
    ...['/bin/sh', '-c', hooked, 'hooked', HOOK],
    ...['/usr/bin/env', '-i', ...Object.entries(podmanEnvironment(uid)).map(([name, value]) => `${name}=${value}`)],
    ...[program, ...podmanStore(runtime), '--hooks-dir', HOOKS],
    ...['run', '--rm', '--log-driver', 'none', '--pull=never', '--network', 'none', '--systemd=false'],
    ...['--ulimit', 'host', '--preserve-fds', String(PASSED_FDS), '--rootfs', `${ENGINE_STATE}/room/rootfs`, 'true'],
  ]
  return {
    title: 'podman',
    program,
    install,
    own: { processes: 100, memoryBytes: 96 * MIB },
    enter: joinWords,
    words: (room, channel) => {
      const spec = roomSpec(room, channel, `${ENGINE_STATE}/room/rootfs`)
      return [...namespaceWords(unshare), '/bin/sh', '-c', SEAL, 'seal', ...layOutWords(spec, room.links, engine)]
    },
  }
}

/** runc. */
export function runcLayer(): RoomLayer {
  const install = 'apt install runc, dnf install runc, pacman -S runc'
  const program = requireProgram('runc', install)
  const unshare = requireProgram('unshare', 'it is part of util-linux')
  const engine = [
    ...[program, '--root', `${ENGINE_STATE}/state`, 'run', '--preserve-fds', String(PASSED_FDS)],
    ...['--bundle', `${ENGINE_STATE}/room`, 'cordon'],
  ]
  return {
    title: 'runc',
    program,
    install,
    own: { processes: 40, memoryBytes: 24 * MIB },
    enter: joinWords,
    words: (room, channel) => [
      ...namespaceWords(unshare),
      '/bin/sh',
      '-c',
      SEAL,
      'seal',
      ...layOutWords(roomSpec(room, channel), room.links, engine),
    ],
  }
}
