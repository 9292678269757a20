/** PURE. A layout as the configuration of an OCI runtime, and the entry script of containers. */

import { INIT_CAPABILITIES, initWords, MAX_BINDS, SHARED_FOLDERS } from '../bwrap/args.ts'
import type { SandboxLayout } from '../layout.ts'

export interface SpecMount {
  readonly destination: string
  readonly type: string
  readonly source: string
  readonly options: readonly string[]
}

/** Recursive, so that no file system mounted below keeps rights that the place itself lost. */
function bindMount(source: string, destination: string, mode: 'read-only' | 'read-write'): SpecMount {
  const rights = mode === 'read-only' ? ['rro'] : []
  return { destination, type: 'bind', source, options: ['rbind', 'rprivate', 'rnosuid', 'rnodev', ...rights] }
}

function tmpfsMount(destination: string, mode: string, bytes: number): SpecMount {
  return { destination, type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', `mode=${mode}`, `size=${bytes}`] }
}

const byDestination = (a: SpecMount, b: SpecMount): number =>
  a.destination < b.destination ? -1 : a.destination > b.destination ? 1 : 0

/** Everything that a layout shows, parents before children. */
export function layoutMounts(layout: SandboxLayout): SpecMount[] {
  if (layout.baseline === 'all')
    throw new RangeError('a container cannot show the whole machine: command_fs = "all" needs backend = "bwrap"')
  if (layout.binds.length > MAX_BINDS)
    throw new RangeError(
      `the grants show ${layout.binds.length} separate places, at most ${MAX_BINDS} are possible; grant the directories that contain them`,
    )
  return [
    ...layout.binds.map(({ path, mode }) => bindMount(path, path, mode)),
    ...layout.standIns.map(({ path, source }) => bindMount(source, path, 'read-only')),
    ...layout.scratch.map((path) => tmpfsMount(path, SHARED_FOLDERS.has(path) ? '1777' : '0700', layout.scratchBytes)),
    ...layout.emptied.map((path) => tmpfsMount(path, '0555', 4096)),
    { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'noexec', 'mode=755', 'size=65536'] },
    {
      destination: '/dev/pts',
      type: 'devpts',
      source: 'devpts',
      options: ['nosuid', 'noexec', 'newinstance', 'ptmxmode=0666', 'mode=0620'],
    },
  ].sort(byDestination)
}

/**
 * The init gets the rights it needs, and drops them before the command starts; the user namespace
 * is the engine's own. Nothing in /proc is masked or read-only here: the init does that, and needs
 * its own writes there first.
 */
export function layoutSpec(layout: SandboxLayout, channel: boolean, rootfs = 'rootfs'): object {
  const capabilities = [...INIT_CAPABILITIES]
  return {
    ociVersion: '1.0.2',
    process: {
      terminal: false,
      user: { uid: 0, gid: 0 },
      args: initWords(channel),
      env: [],
      cwd: '/',
      capabilities: {
        bounding: capabilities,
        effective: capabilities,
        permitted: capabilities,
        inheritable: [],
        ambient: [],
      },
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    hostname: layout.hostname,
    mounts: layoutMounts(layout),
    linux: { namespaces: ['pid', 'network', 'ipc', 'uts', 'mount', 'cgroup'].map((type) => ({ type })) },
  }
}

/** A container's input and output folders. The OS sandbox shows the host's paths instead. */
interface EntryPlaces {
  readonly in: string
  readonly out: string
}

export const CONTAINER_PLACES: EntryPlaces = { in: '/in', out: '/out' }
export const WORK = '/work'

/**
 * The program may write its output files in any way. They are existing single files with a size
 * limit, so that it cannot fill the host's disk.
 */
const SCRIPT = `in=$1 out=$2 count=$3; shift 3
names=("\${@:1:count}"); shift "$count"
cd ${WORK} || exit 125
cp -R "$in/files/." . || exit 125
"$@" <"$in/stdin"
status=$?
kill -9 -1 2>/dev/null
for i in "\${!names[@]}"; do
  name=\${names[i]}
  if [ -f "$name" ] && [ ! -L "$name" ] && cat -- "$name" >"$out/$i"; then echo "$i" >>"$out/written"; fi
done 2>/dev/null
exit "$status"`

/** The words that start a program in its container. */
export function entryArgv(argv: readonly string[], outputs: readonly string[], places: EntryPlaces): string[] {
  const words = argv.map((word) => (word.startsWith('{in}') ? `${places.in}${word.slice(4)}` : word))
  return ['/bin/bash', '-c', SCRIPT, 'entry', places.in, places.out, String(outputs.length), ...outputs, ...words]
}

/** The variables of a program in a container. */
export const ENTRY_ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  HOME: WORK,
  TMPDIR: '/tmp',
  LANG: 'C.UTF-8',
}
