/** PURE. The sandbox of one command as data: what it sees, what it may change, what it may reach. */

import { posix } from 'node:path'
import { isInside } from '../files/baseline.ts'
import type { ChangePlan } from './changes.ts'
import { DEFAULT_SCRATCH_BYTES, type Limits } from './limits.ts'

/** `[sandbox.os] command_fs`. */
export type Baseline = 'system' | 'none' | 'permissive' | 'all'

/** What the host has at a path that the plan may show. */
export interface PathFact {
  readonly kind: 'directory' | 'file' | 'other'
  /** The canonical path; differs from the path asked about when there is a symlink on the way. */
  readonly real: string
  /** The text of the link when the path itself is a symlink. */
  readonly link?: string
}

/** The host as it was looked at just before planning; a path that is not a key does not exist. */
export interface HostFacts {
  readonly paths: ReadonlyMap<string, PathFact>
  /** Bound unix sockets of the host, by path. Needed only when unix sockets are granted. */
  readonly sockets: readonly string[]
  /** Mount points of kernel file systems (proc, sysfs, cgroup …). Needed only for the `all` baseline. */
  readonly kernelMounts: readonly string[]
}

/** A file, whatever its name. */
export interface MaskIdentity {
  readonly device: bigint
  readonly inode: bigint
}

/**
 * What a mask shows in place of nothing: the text that was committed, so that git sees no change, or `closed`, which cannot be
 * opened: an empty file could be committed in the place of the real one.
 */
export type MaskFace =
  | { readonly kind: 'text'; readonly bytes: Uint8Array; readonly executable: boolean }
  | { readonly kind: 'closed' }

/** A protected path that exists: read-only, or only held in place so that it cannot be moved away. */
export interface Pin {
  readonly path: string
  readonly mode: 'read-only' | 'in-place'
}

/** A file that the command sees, read-only, in the place of one of the host's. */
export interface StandIn {
  readonly path: string
  readonly source: string
}

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/** A name, and its address of 127.0.0.0/8. */
export interface NamedAddress {
  readonly name: string
  readonly address: string
}

/** A port of the sandbox's loopback; null for every address of it. */
export interface DoorPort {
  readonly address: string | null
  readonly port: number
}

/** `lookup`: read, listed or looked at; `change`: made or written; `program`: started. All in vain, but for `run`: a program that was. */
export type SoughtKind = 'lookup' | 'change' | 'program' | 'run'

/** A path that the command named, absolute, as it wrote it: nothing is judged by it. */
export interface Sought {
  readonly what: SoughtKind
  readonly path: string
}

/** A unix socket of the host that may be used. */
export interface GrantedSocket {
  /** The path that was written, and the real one. */
  readonly paths: readonly string[]
  /** Links on the way from the one to the other. */
  readonly links: readonly string[]
  readonly target: string
}

/** Connections to `path` inside are handed out, to be connected to `target`. */
export interface LocalSocket {
  readonly path: string
  readonly target: string
}

export interface SandboxRequest {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly baseline: Baseline
  readonly home: string
  readonly uid: number
  readonly gid: number
  /** Canonical directories or files, shown read-only. */
  readonly reads: readonly string[]
  /** Canonical directories or files, shown read-write. */
  readonly writes: readonly string[]
  /** Canonical files or directories that appear empty. */
  readonly masks: readonly string[]
  /**
   * Which file was seen at a mask's path. With it the launch faults rather than mask another one that was moved there
   * in between, as a command that is still running could do to leave the secret open elsewhere.
   */
  readonly maskIdentities?: ReadonlyMap<string, MaskIdentity>
  /** What masks show; those that are not listed are empty files that can be opened, and an open is observed. */
  readonly maskFaces?: ReadonlyMap<string, MaskFace>
  /** Files of the project that the command sees with another text, read-only: git's list of what is not to be added. */
  readonly replaced?: ReadonlyMap<string, MaskFace>
  /**
   * Masks that are there because of their path, not their name: the directories above them stay in place. Moved along with
   * one, the secret would have another path for the next command, and no mask.
   */
  readonly held?: readonly string[]
  readonly pins: readonly Pin[]
  /** With it, changes in the writable places go through the init, which judges and keeps. */
  readonly changes?: ChangePlan | null
  /** Further private in-memory directories. */
  readonly scratch?: readonly string[]
  /** Further names of what is shown, made as links where nothing of the host is in the way. */
  readonly aliases?: readonly { readonly path: string; readonly target: string }[]
  /** Used where the host has a file at the path and the command would see it. */
  readonly standIns?: readonly StandIn[]
  readonly network: 'none' | 'listener'
  /** The port of the listener inside; 3128 unless told. */
  readonly port?: number
  /** Names that have an address inside; every other one does not exist there. */
  readonly names?: readonly NamedAddress[]
  /** With `network: 'listener'`: further ports that are served by whoever serves the listener. */
  readonly doors?: readonly DoorPort[]
  /** Ports of servers inside that may be reached from the host's loopback (`dev_server_ports`). */
  readonly servers?: readonly number[]
  /** Told of every other port on which the command listens as well, which stays closed. */
  readonly tellsPorts?: boolean
  /** What it looks for and does not find is told at the end, and which programs it ran. Needs `changes`. */
  readonly learns?: boolean
  readonly unixSockets: boolean
  /** With `network: 'listener'` and `unixSockets`. */
  readonly sockets?: readonly GrantedSocket[]
  readonly terminal?: TerminalSize
  readonly limits: Limits
  readonly facts: HostFacts
}

export interface Bind {
  readonly path: string
  readonly mode: 'read-only' | 'read-write'
}

/** A grant that could not be shown, and why. */
export interface Skipped {
  readonly path: string
  readonly grant: 'read' | 'write' | 'scratch' | 'socket'
  readonly reason: 'missing' | 'kernel path' | 'whole file system' | 'in a place that commands see'
}

/** The part of a request that decides what bubblewrap lays out. */
export type RoomRequest = Pick<
  SandboxRequest,
  'baseline' | 'home' | 'reads' | 'writes' | 'cwd' | 'scratch' | 'aliases' | 'standIns' | 'limits' | 'facts'
>

/** The namespaces' file system before it is furnished: what bubblewrap makes, while the rest is still being thought out. */
export interface SandboxRoom {
  readonly hostname: string
  readonly baseline: Baseline
  /** Parents before children; the root itself is among them only for the `all` baseline. */
  readonly binds: readonly Bind[]
  /** Links of the baseline that are made again, such as /bin -> usr/bin. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** Private in-memory directories, /tmp first. */
  readonly scratch: readonly string[]
  /** Host directories of the `all` baseline that are replaced by empty ones. */
  readonly emptied: readonly string[]
  readonly standIns: readonly StandIn[]
  readonly skipped: readonly Skipped[]
  /** The most that each private directory holds. */
  readonly scratchBytes: number
}

export interface SandboxPlan extends SandboxRoom {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly uid: number
  readonly gid: number
  readonly masks: readonly string[]
  readonly maskIdentities: ReadonlyMap<string, MaskIdentity>
  readonly maskFaces: ReadonlyMap<string, MaskFace>
  readonly replaced: ReadonlyMap<string, MaskFace>
  /** Parents before children, ancestors of read-only pins included. */
  readonly pins: readonly Pin[]
  readonly changes: ChangePlan | null
  readonly network:
    | { readonly kind: 'none' }
    | { readonly kind: 'listener'; readonly port: number; readonly doors: readonly DoorPort[] }
  readonly names: readonly NamedAddress[]
  /** Each once, ascending. */
  readonly servers: readonly number[]
  readonly tellsPorts: boolean
  readonly learns: boolean
  readonly unixSockets: boolean
  readonly sockets: readonly LocalSocket[]
  readonly terminal: TerminalSize | null
  readonly limits: Limits
}

/** What the `system` baseline shows where it exists. */
export const SYSTEM_PATHS: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/opt',
  '/nix',
  '/snap',
  '/run/current-system',
]

/** Made anew in every sandbox, never shown from the host. */
const KERNEL_PATHS = ['/proc', '/sys', '/dev']

/** Where the proxy is, and where it is said that there is none. */
export const DEFAULT_PORT = 3128

/** From here on the kernel hands ports out by itself: nobody was meant to know one. */
export const FIRST_UNCHOSEN_PORT = 32_768

/** True when the plan needs a channel over which sockets are handed out of the sandbox. */
export function handsOutSockets(plan: Pick<SandboxPlan, 'network' | 'servers' | 'tellsPorts' | 'terminal'>): boolean {
  return plan.network.kind === 'listener' || plan.servers.length > 0 || (plan.tellsPorts && plan.terminal !== null)
}

const byPath = (a: { path: string }, b: { path: string }): number => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)

/** Strict ancestors of a path, nearest first, without the root. */
function* ancestors(path: string): Generator<string> {
  for (let at = posix.dirname(path); at !== '/' && at !== '.'; at = posix.dirname(at)) yield at
}

/** Every path whose facts the plan of this request needs. */
export function pathsToLookAt(
  request: Pick<SandboxRequest, 'baseline' | 'home' | 'reads' | 'writes' | 'cwd' | 'standIns'>,
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
function layerOf(layers: ReadonlyMap<string, Layer>, path: string): Layer | undefined {
  const own = layers.get(path)
  if (own) return own
  for (const above of ancestors(path)) {
    const layer = layers.get(above)
    if (layer) return layer
  }
  return layers.get('/')
}

interface Layout extends Pick<SandboxRoom, 'binds' | 'links' | 'scratch' | 'emptied' | 'standIns' | 'skipped'> {
  readonly layers: ReadonlyMap<string, Layer>
}

/** True where something of the host lies at a path. */
function isHosts(layers: ReadonlyMap<string, Layer>, path: string): boolean {
  const layer = layerOf(layers, path)
  return layer !== undefined && layer.mode !== 'private'
}

function layOut(request: RoomRequest): Layout {
  const { baseline, facts, home } = request
  const skipped: Skipped[] = []
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
  // Where it is a link it leads to /tmp, or to what is shown anyway; beside a project that lies there, nothing can be written.
  const held = [home, ...wanted.keys()].some((path) => isInside(path, LONGER_TMP))
  const longer = held || facts.paths.get(LONGER_TMP)?.link !== undefined ? [] : [LONGER_TMP]
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
      // Below something of the host a mount point would have to be made there: only where one exists already.
      if (above !== undefined && above.mode !== 'private' && facts.paths.get(item.path)?.kind !== 'directory') {
        if (item.path !== LONGER_TMP) skipped.push({ path: item.path, grant: 'scratch', reason: 'missing' })
        continue
      }
      if (KERNEL_PATHS.some((kernel) => isInside(item.path, kernel))) continue
      layers.set(item.path, item)
      scratch.push(item.path)
    }
  }

  // A mount point is never made on the host: only a file that is there can be stood in for.
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

function roomOf(layout: Layout, { baseline, limits }: RoomRequest): SandboxRoom {
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

/** What bubblewrap lays out. Whatever cannot be shown is skipped and named; nothing is ever made on the host. */
export function planRoom(request: RoomRequest): SandboxRoom {
  return roomOf(layOut(request), request)
}

function isHeld({ path, mode }: Bind, changes: ChangePlan | null | undefined): boolean {
  return mode === 'read-write' && !changes?.free.includes(path)
}

/** Turns a request into a plan: the room, and what the init puts into it. */
export function planSandbox(request: SandboxRequest): SandboxPlan {
  const { baseline, facts } = request
  const layout = layOut(request)
  const { layers } = layout
  const isShown = (path: string) => isHosts(layers, path)
  const isWritable = (path: string) => layerOf(layers, path)?.mode === 'read-write'

  const pins = new Map<string, Pin['mode']>()
  const hold = (path: string) => {
    for (const above of ancestors(path)) {
      if (layers.has(above)) break
      if (!pins.has(above)) pins.set(above, 'in-place')
    }
  }
  for (const pin of request.pins) {
    if (!isWritable(pin.path)) continue
    if (pin.mode === 'read-only' || !pins.has(pin.path)) pins.set(pin.path, pin.mode)
    hold(pin.path)
  }

  const hidden = [
    ...request.masks,
    ...(request.unixSockets ? facts.sockets : []),
    ...(baseline === 'all' ? facts.kernelMounts : []),
  ]
  const masks: string[] = []
  for (const path of [...new Set(hidden)].sort()) {
    if (!isShown(path) || layers.get(path)?.mode === 'private') continue
    masks.push(path)
  }
  const maskSet = new Set(masks)
  const outermost = masks.filter((path) => {
    for (const above of ancestors(path)) if (maskSet.has(above)) return false
    return true
  })
  // Nothing is made on the host, and where a command could put a link Cordon would be led to another socket.
  const sockets = request.network === 'none' ? [] : (request.sockets ?? [])
  const served = sockets.flatMap(({ paths, links, target }): LocalSocket[] =>
    [...paths, ...links, target].some(isWritable)
      ? []
      : paths.filter((path) => !isShown(path)).map((path) => ({ path, target })),
  )
  const unserved = sockets.filter(({ target }) => !served.some((one) => one.target === target))

  const held = new Set(request.held)
  for (const path of outermost) if (held.has(path) && isWritable(path)) hold(path)

  return {
    argv: request.argv,
    cwd: request.cwd,
    env: request.env,
    uid: request.uid,
    gid: request.gid,
    ...roomOf(layout, request),
    skipped: [
      ...layout.skipped,
      ...unserved.map(
        ({ paths }): Skipped => ({ path: paths[0]!, grant: 'socket', reason: 'in a place that commands see' }),
      ),
    ],
    masks: outermost,
    maskIdentities: request.maskIdentities ?? new Map(),
    maskFaces: request.maskFaces ?? new Map(),
    replaced: new Map([...(request.replaced ?? [])].filter(([path]) => isShown(path) && !maskSet.has(path))),
    pins: [...pins].map(([path, mode]) => ({ path, mode })).sort(byPath),
    // Where nothing can be changed there is nothing to hold.
    changes:
      ((request.learns || layout.binds.some((bind) => isHeld(bind, request.changes))) && request.changes) || null,
    network:
      request.network === 'none'
        ? { kind: 'none' }
        : { kind: 'listener', port: request.port ?? DEFAULT_PORT, doors: request.doors ?? [] },
    names: request.names ?? [],
    servers: [...new Set(request.servers)].sort((a, b) => a - b),
    tellsPorts: request.tellsPorts ?? false,
    learns: request.learns ?? false,
    unixSockets: request.unixSockets,
    sockets: served,
    terminal: request.terminal ?? null,
    limits: request.limits,
  }
}
