/** Sandboxes that runc prepares for the init instead of bubblewrap. Nothing of one is ever on the host's disk. */

import { SandboxFault } from '../backend.ts'
import { PASSED_FDS, type SandboxLayer } from '../bwrap/args.ts'
import type { SandboxLayout } from '../layout.ts'
import { ENGINE_STATE, joinWords, namespaceWords } from './confined.ts'
import { layoutSpec } from './layout-spec.ts'
import { findEngineProgram } from './local-engine.ts'

/** The kernel takes 128 KiB in one word. */
const WORD_CHARACTERS = 30_000

/**
 * Prepares the bundle in its own memory, which ends with the namespaces: the configuration in
 * pieces, then the links of the layout as pairs, then the engine's words.
 */
const LAY_OUT = `umask 022
mkdir -p ${ENGINE_STATE}/layout/rootfs && cd ${ENGINE_STATE}/layout || exit 125
while [ "$1" != -- ]; do printf %s "$1" || exit 125; shift; done >config.json
shift
while [ "$1" != -- ]; do
  mkdir -p "rootfs\${1%/*}" && ln -s "$2" "rootfs$1" || exit 125
  shift 2
done
shift
cd / && exec "$@"`

/**
 * runc moves a container into a new control group wherever it can write one, out of the group with
 * the limits, and removes that with all below it. It leaves read-only ones alone.
 */
const SEAL = `while read -r _ at type _; do
  case $type in cgroup | cgroup2) mount -o remount,bind,ro,nosuid,nodev,noexec "$at" || exit 125 ;; esac
done </proc/self/mounts
exec "$@"`

/** The words that lay a bundle out in `ENGINE_STATE` and go on with the engine's. */
export function layOutWords(spec: object, links: SandboxLayout['links'], engine: readonly string[]): string[] {
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

export function runcLayer(): SandboxLayer {
  const install = 'apt install runc, dnf install runc, pacman -S runc'
  const program = requireProgram('runc', install)
  const unshare = requireProgram('unshare', 'it is part of util-linux')
  const engine = [
    ...[program, '--root', `${ENGINE_STATE}/state`, 'run', '--preserve-fds', String(PASSED_FDS)],
    ...['--bundle', `${ENGINE_STATE}/layout`, 'cordon'],
  ]
  return {
    title: 'runc',
    program,
    install,
    own: { processes: 40, memoryBytes: 24 * MIB },
    enter: joinWords,
    words: (layout, channel) => [
      ...namespaceWords(unshare),
      '/bin/sh',
      '-c',
      SEAL,
      'seal',
      ...layOutWords(layoutSpec(layout, channel), layout.links, engine),
    ],
  }
}
