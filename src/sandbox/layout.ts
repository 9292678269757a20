/**
 * PURE. The file system of a sandbox before the init completes it: which paths of the host are
 * shown, private or left out.
 */

import { posix } from 'node:path'
import { isInside, SYSTEM_PATHS } from '../files/baseline.ts'
import { DEFAULT_SCRATCH_BYTES, type Limits } from './limits.ts'

/** `[sandbox.os] command_fs`. */
type Baseline = 'system' | 'none' | 'permissive' | 'all'

/** The host's state of a path that the plan may show. */
export interface PathFact {
  readonly kind: 'directory' | 'file' | 'other'
  /** The canonical path; differs from the path asked about when there is a symlink on the way. */
  readonly real: string
  /** The text of the link when the path itself is a symlink. */
  readonly link?: string
}

/** The host as it was checked just before planning; a path that is not a key does not exist. */
export interface HostFacts {
  readonly paths: ReadonlyMap<string, PathFact>
  /** Bound unix sockets of the host, by path. Needed only when unix sockets are granted. */
  readonly sockets: readonly string[]
  /** Mount points of kernel file systems (proc, sysfs, cgroup …). Needed only for the `all` baseline. */
  readonly kernelMounts: readonly string[]
}

/** A file that the command sees, read-only, instead of one of the host's. */
export interface StandIn {
  readonly path: string
  readonly source: string
}

export interface Bind {
  readonly path: string
  readonly mode: 'read-only' | 'read-write'
}

/** A grant that could not be shown, and why. */
export interface SkippedPath {
  readonly path: string
  readonly grant: 'read' | 'write' | 'scratch' | 'socket'
  readonly reason: 'missing' | 'kernel path' | 'whole file system' | 'in a place that commands see'
}

/** The part of a request that decides the layout, before anything is hidden or pinned. */
export interface LayoutRequest {
  readonly baseline: Baseline
  readonly home: string
  readonly cwd: string
  /** Canonical directories or files, shown read-only. */
  readonly reads: readonly string[]
  /** Canonical directories or files, shown read-write. */
  readonly writes: readonly string[]
  /** Further private in-memory directories. */
  readonly scratch?: readonly string[]
  /** More names of shown paths, created as links if nothing of the host is in the way. */
  readonly aliases?: readonly { readonly path: string; readonly target: string }[]
  /** Used where the host has a file at the path and the command would see it. */
  readonly standIns?: readonly StandIn[]
  readonly limits: Limits
  readonly facts: HostFacts
}

/** The namespaces' file system: a backend may create it before the plan is complete. */
export interface SandboxLayout {
  readonly hostname: string
  readonly baseline: Baseline
  /** Parents before children; the root itself is among them only for the `all` baseline. */
  readonly binds: readonly Bind[]
  /** Links of the baseline that are created again, such as /bin -> usr/bin. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** Private in-memory directories, /tmp first. */
  readonly scratch: readonly string[]
  /** Host directories of the `all` baseline that are replaced by empty ones. */
  readonly emptied: readonly string[]
  readonly standIns: readonly StandIn[]
  readonly skipped: readonly SkippedPath[]
  /** The size limit of each private directory. */
  readonly scratchBytes: number
}

/** Created anew in every sandbox, never shown from the host. */
const KERNEL_PATHS = ['/proc', '/sys', '/dev']

export const byPath = (a: { path: string }, b: { path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0

/** Strict ancestors of a path, nearest first, without the root. */
export function* ancestors(path: string): Generator<string> {
  for (let at = posix.dirname(path); at !== '/' && at !== '.'; at = posix.dirname(at)) yield at
}

/** Every path whose facts the plan of this request needs. */
export function pathsToLookAt(
  request: Pick<LayoutRequest, 'baseline' | 'home' | 'reads' | 'writes' | 'cwd' | 'standIns'>,
): string[] {
  const paths = new Set([...request.reads, ...request.writes, request.home, request.cwd, LONGER_TMP])
  for (const { path } of request.standIns ?? []) paths.add(path)
  for (const path of SYSTEM_PATHS) paths.add(path)
  return [...paths]
}

/** The other folder for temporary files: as private as /tmp, and gone with the command like it. */
const LONGER_TMP = '/var/tmp'

type Layer = { readonly path: string; readonly mode: Bind['mode'] | 'private' }

/** The nearest layer at or above a path. */
export function layerOf(layers: ReadonlyMap<string, Layer>, path: string): Layer | undefined {
  const own = layers.get(path)
  if (own) return own
  for (const above of ancestors(path)) {
    const layer = layers.get(above)
    if (layer) return layer
  }
  return layers.get('/')
}

interface Layout extends Pick<SandboxLayout, 'binds' | 'links' | 'scratch' | 'emptied' | 'standIns' | 'skipped'> {
  readonly layers: ReadonlyMap<string, Layer>
}

/** True where something of the host lies at a path. */
export function isHosts(layers: ReadonlyMap<string, Layer>, path: string): boolean {
  const layer = layerOf(layers, path)
  return layer !== undefined && layer.mode !== 'private'
}

export function layOut(request: LayoutRequest): Layout {
  const { baseline, facts, home } = request
  const skipped: SkippedPath[] = []
  const links: { path: string; target: string }[] = []
  const wanted = new Map<string, Bind['mode']>()

  const show = (path: string, mode: Bind['mode']) => {
    if (mode === 'read-write' || !wanted.has(path)) wanted.set(path, mode)
  }
  const grant = (path: string, kind: 'read' | 'write') => {
    const fact = facts.paths.get(path)
    const real = fact?.real ?? path
    if (real === '/') skipped.push({ path, grant: kind, reason: 'whole file system' })
    else if (KERNEL_PATHS.some((kernel) => isInside(real, kernel)))
      skipped.push({ path, grant: kind, reason: 'kernel path' })
    else if (!fact) skipped.push({ path, grant: kind, reason: 'missing' })
    else {
      show(real, kind === 'write' ? 'read-write' : 'read-only')
      if (fact.link !== undefined) links.push({ path, target: real })
    }
  }

  if (baseline === 'all') show('/', 'read-only')
  else if (baseline !== 'none')
    for (const path of SYSTEM_PATHS) {
      const fact = facts.paths.get(path)
      if (fact?.link !== undefined) links.push({ path, target: fact.link })
      else if (fact) show(path, 'read-only')
    }
  if (baseline === 'permissive' && home !== '/' && facts.paths.has(home)) show(home, 'read-only')
  for (const path of request.reads) grant(path, 'read')
  for (const path of request.writes) grant(path, 'write')
  // Programs name their interpreter by the old place: /bin and /lib64 lead where a grant shows something of /usr.
  if (baseline === 'none')
    for (const path of SYSTEM_PATHS) {
      const fact = facts.paths.get(path)
      if (fact?.link === undefined || wanted.has(path) || links.some((link) => link.path === path)) continue
      const { real } = fact
      if ([...wanted.keys()].some((shown) => isInside(real, shown) || isInside(shown, real)))
        links.push({ path, target: fact.link })
    }

  const emptied = baseline === 'all' ? ['/sys', '/run'] : []
  const layers = new Map<string, Layer>()
  for (const path of ['/dev', '/proc', '/tmp', ...emptied]) layers.set(path, { path, mode: 'private' })
  const homeIsShown = baseline === 'all' || wanted.has(home) || home === '/'
  const scratch = ['/tmp', '/dev/shm']
  // As a link it points to /tmp, or to something shown anyway; beside a project there, nothing can
  // be written.
  const isUsed = [home, ...wanted.keys()].some((path) => isInside(path, LONGER_TMP))
  const longer = isUsed || facts.paths.get(LONGER_TMP)?.link !== undefined ? [] : [LONGER_TMP]
  const extra = [...(request.scratch ?? []), ...(homeIsShown ? [] : [home]), ...longer]
  const order = [...wanted].map(([path, mode]) => ({ path, mode })).sort(byPath)

  const binds: Bind[] = []
  const keep = (bind: Bind) => {
    const above = layerOf(layers, bind.path)
    // A read grant below something shown adds nothing, and below a write grant it takes nothing away.
    const covered =
      above !== undefined && above.mode !== 'private' && (bind.mode === 'read-only' || above.mode === 'read-write')
    if (covered) return
    layers.set(bind.path, bind)
    binds.push(bind)
  }
  const ordered: (Bind | { path: string; mode: 'private' })[] = [
    ...order,
    ...extra.map((path) => ({ path, mode: 'private' as const })),
  ].sort(byPath)
  for (const item of ordered) {
    if (item.mode !== 'private') keep(item)
    else if (!layers.has(item.path)) {
      const above = layerOf(layers, item.path)
      // A mount point below a path of the host must exist already.
      if (above !== undefined && above.mode !== 'private' && facts.paths.get(item.path)?.kind !== 'directory') {
        if (item.path !== LONGER_TMP) skipped.push({ path: item.path, grant: 'scratch', reason: 'missing' })
        continue
      }
      if (KERNEL_PATHS.some((kernel) => isInside(item.path, kernel))) continue
      layers.set(item.path, item)
      scratch.push(item.path)
    }
  }

  // A mount point is never created on the host: only an existing file can be replaced.
  const standIns = (request.standIns ?? []).flatMap(({ path, source }) => {
    const fact = facts.paths.get(path)
    return fact?.kind === 'file' && isHosts(layers, fact.real) ? [{ path: fact.real, source }] : []
  })

  return {
    layers,
    binds,
    links: [...links, ...(request.aliases ?? []).filter(({ path }) => !layers.has(path))].filter(
      (link) => !isHosts(layers, posix.dirname(link.path)),
    ),
    scratch,
    emptied,
    standIns,
    skipped,
  }
}

export function layoutOf(layout: Layout, { baseline, limits }: LayoutRequest): SandboxLayout {
  const { binds, links, scratch, emptied, standIns, skipped } = layout
  return {
    // A name that resolves: Java and others look up their own.
    hostname: 'localhost',
    baseline,
    binds,
    links,
    scratch,
    emptied,
    standIns,
    skipped,
    scratchBytes: limits.scratchBytes ?? DEFAULT_SCRATCH_BYTES,
  }
}

/** The layout of a request. Paths that cannot be shown are listed; the host is never changed. */
export function planLayout(request: LayoutRequest): SandboxLayout {
  return layoutOf(layOut(request), request)
}
