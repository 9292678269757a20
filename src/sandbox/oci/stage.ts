/**
 * The files of one container on the host: created for it, owned by its user, and deleted with it or
 * at the next start.
 */

import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { unwritable } from '../../system/fault.ts'
import { isSameProcess, startOf } from '../../system/processes.ts'
import type { ContainerRoot } from './container-root.ts'
import type { ContainerRun, InputFile } from './engine.ts'
import { WORK } from './layout-spec.ts'

export interface Stage {
  /** Owned by whom the container runs as. */
  readonly path: string
  readonly in: string
  readonly out: string
  /** The files of `out`, by the names they have there. */
  readonly outs: readonly { readonly path: string; readonly name: string }[]
  /** Makes the root file system of links and empty mount points, and answers its bundle's directory. */
  bundle(layout: ContainerRoot, mountPoints: readonly string[]): string
  /** The output files, in the requested order; each at most the largest file. */
  collect(maxBytes: number): InputFile[]
  remove(): void
}

const NAME = /^run-(\d+)-(\d+)-\d+$/
let serial = 0

/**
 * Each container of root runs as its own unprivileged user: a process that escapes owns nothing on
 * the host, not even another container's files. The numbers lie above those that distributions
 * assign.
 */
const FIRST_USER = 1_879_048_192 + 65_536
const USERS = 65_536

/** Whom a container of this process runs as: itself, unless it is root. */
export function containerUser(): number | null {
  if (process.getuid?.() !== 0) return null
  const user = FIRST_USER + ((process.pid * 251 + serial) % USERS)
  return isMapped(user) ? user : 65_533
}

/** Inside a user namespace not every number is there. */
function isMapped(user: number): boolean {
  try {
    return readFileSync('/proc/self/uid_map', 'latin1')
      .trim()
      .split('\n')
      .some((line) => {
        const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number)
        return user >= first && user < first + count
      })
  } catch {
    return false
  }
}

/** Where stages lie: for root in a place that the users of containers can pass through. */
export function stagePlace(cacheDir: string): string {
  return process.getuid?.() === 0 ? '/run/cordon-containers' : join(cacheDir, 'containers')
}

/** Prepares the input and output files. */
export function openStage(place: string, run: ContainerRun, user: number | null): Stage {
  const path = join(place, `run-${process.pid}-${startOf(process.pid) ?? 0}-${serial++}`)
  const [input, output] = [join(path, 'in'), join(path, 'out')]
  const own = (file: string) => user !== null && chownSync(file, user, user)
  const file = (at: string, bytes: Uint8Array, mode: number) => {
    writeFileSync(at, bytes, { flag: 'wx', mode })
    chmodSync(at, mode)
  }
  const names = [...run.outputs.map((_, index) => String(index)), 'written']
  try {
    mkdirSync(place, { recursive: true, mode: 0o711 })
    for (const folder of [path, input, join(input, 'files'), output]) {
      mkdirSync(folder)
      chmodSync(folder, folder === path ? 0o700 : 0o755)
    }
    file(join(input, run.source.name), run.source.bytes, 0o644)
    file(join(input, 'stdin'), run.stdin, 0o644)
    for (const { name, bytes } of run.files) file(join(input, 'files', name), bytes, 0o644)
    for (const name of names) {
      file(join(output, name), new Uint8Array(), 0o600)
      own(join(output, name))
    }
    own(path)
  } catch (error) {
    rmSync(path, { recursive: true, force: true })
    throw unwritable(path, error)
  }
  return {
    path,
    in: input,
    out: output,
    outs: names.map((name) => ({ path: join(output, name), name })),
    bundle: (layout, mountPoints) => {
      const bundle = join(path, 'bundle')
      const root = join(bundle, 'rootfs')
      for (const folder of ['/proc', '/dev', '/tmp', '/etc', ...mountPoints, ...layout.shown.filter(isFolder)]) {
        mkdirSync(join(root, folder), { recursive: true, mode: 0o755 })
      }
      // Runtimes give a private directory the mode of what lies below it.
      for (const folder of ['/tmp', WORK]) chmodSync(join(root, folder), 0o1777)
      // podman adds to it: /etc/mtab, /run. It is this call's alone.
      for (const folder of ['', '/etc']) own(join(root, folder))
      for (const shown of layout.shown.filter((one) => !isFolder(one))) writeFileSync(join(root, shown), '')
      for (const name of names) writeFileSync(join(root, 'out', name), '')
      for (const link of layout.links) {
        mkdirSync(dirname(join(root, link.path)), { recursive: true })
        symlinkSync(link.target, join(root, link.path))
      }
      return bundle
    },
    collect: (maxBytes) => {
      const created = new Set(readOwn(join(output, 'written'), 4096).toString('latin1').split('\n'))
      return run.outputs.flatMap((name, index) =>
        created.has(String(index)) ? [{ name, bytes: readOwn(join(output, String(index)), maxBytes) }] : [],
      )
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** A file that a container could write: never through a link, never beyond a size. */
function readOwn(path: string, maxBytes: number): Buffer {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    if (!fstatSync(fd).isFile()) return Buffer.alloc(0)
    const buffer = Buffer.alloc(Math.min(maxBytes, fstatSync(fd).size))
    let at = 0
    while (at < buffer.length) {
      const count = readSync(fd, buffer, at, buffer.length - at, at)
      if (count === 0) break
      at += count
    }
    return buffer.subarray(0, at)
  } finally {
    closeSync(fd)
  }
}

/** Removes what killed processes left. */
export function reapStages(place: string): void {
  let names: readonly string[]
  try {
    names = readdirSync(place)
  } catch {
    return
  }
  for (const name of names) {
    const [, pid, started] = NAME.exec(name) ?? []
    if (pid === undefined || isSameProcess(Number(pid), started === '0' ? null : started!)) continue
    try {
      rmSync(join(place, name), { recursive: true, force: true })
    } catch {
      // Another start is at it, or it is another user's.
    }
  }
}
