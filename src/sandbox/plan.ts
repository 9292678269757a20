/**
 * PURE. The sandbox of one command as data: what it sees, what it may change, what it may reach.
 */

import type { ChangePlan } from './changes.ts'
import {
  ancestors,
  type Bind,
  byPath,
  isHosts,
  type LayoutRequest,
  layerOf,
  layOut,
  layoutOf,
  type SandboxLayout,
  type SkippedPath,
} from './layout.ts'
import type { Limits } from './limits.ts'
import type { ProgramPlan } from './programs.ts'

/** A file, whatever its name. */
export interface MaskIdentity {
  readonly device: bigint
  readonly inode: bigint
}

/**
 * A mask's content other than empty: the committed text, so that git sees no change, or `closed`,
 * which cannot be opened: an empty file could be committed instead of the real one.
 */
export type MaskFace =
  | { readonly kind: 'text'; readonly bytes: Uint8Array; readonly executable: boolean }
  | { readonly kind: 'closed' }

/** A protected path that exists: read-only, or only pinned so that it cannot be moved away. */
export interface Pin {
  readonly path: string
  readonly mode: 'read-only' | 'in-place'
}

export interface TerminalSize {
  readonly rows: number
  readonly columns: number
}

/** An address of 127.0.0.0/8 and its name. */
interface NamedAddress {
  readonly name: string
  readonly address: string
}

/** A port of the sandbox's loopback; null for every address of it. */
interface ProxyPort {
  readonly address: string | null
  readonly port: number
}

/**
 * `lookup`: read, listed or checked; `change`: created or written; `program`: started. All failed,
 * except `run`: a program that ran.
 */
export type SoughtKind = 'lookup' | 'change' | 'program' | 'run'

/** A path that the command named, absolute, as it wrote it: nothing is judged by it. */
export interface SoughtPath {
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
interface LocalSocket {
  readonly path: string
  readonly target: string
}

export interface SandboxRequest extends LayoutRequest {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly uid: number
  readonly gid: number
  /** Canonical files or directories that appear empty. */
  readonly masks: readonly string[]
  /**
   * The file seen at a mask's path. If another file was moved there meanwhile, the launch faults: a
   * running command could do that to leave the secret open elsewhere.
   */
  readonly maskIdentities?: ReadonlyMap<string, MaskIdentity>
  /** What masks show; those that are not listed are empty files that can be opened, and an open is observed. */
  readonly maskFaces?: ReadonlyMap<string, MaskFace>
  /** Files of the project with another text for the command, read-only: git's ignore lists. */
  readonly replaced?: ReadonlyMap<string, MaskFace>
  /**
   * Masks that are there because of their path, not their name: the directories above them stay in place. Moved along with
   * one, the secret would have another path for the next command, and no mask.
   */
  readonly pinned?: readonly string[]
  readonly pins: readonly Pin[]
  /** With it, changes in the writable places go through the init, which judges and keeps. */
  readonly changes?: ChangePlan | null
  readonly network: 'none' | 'listener'
  /** The port of the listener inside; default 3128. */
  readonly port?: number
  /** Names that have an address inside; every other one does not exist there. */
  readonly names?: readonly NamedAddress[]
  /** With `network: 'listener'`: further ports that are served by the process that serves the listener. */
  readonly proxyPorts?: readonly ProxyPort[]
  /** Ports of servers inside that may be reached from the host's loopback (`dev_server_ports`). */
  readonly servers?: readonly number[]
  /** Reports every other port on which the command listens, which stays closed. */
  readonly reportsPorts?: boolean
  /** Reports at the end what it looked for in vain, and which programs it ran. Needs `changes`. */
  readonly learns?: boolean
  /** With it, program starts of the table go through the init. Needs `changes`. */
  readonly programs?: ProgramPlan | null
  readonly unixSockets: boolean
  /** With `network: 'listener'` and `unixSockets`. */
  readonly sockets?: readonly GrantedSocket[]
  readonly terminal?: TerminalSize
}

export interface SandboxPlan extends SandboxLayout {
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
    | { readonly kind: 'listener'; readonly port: number; readonly proxyPorts: readonly ProxyPort[] }
  readonly names: readonly NamedAddress[]
  /** Each once, ascending. */
  readonly servers: readonly number[]
  readonly reportsPorts: boolean
  readonly learns: boolean
  readonly programs: ProgramPlan | null
  readonly unixSockets: boolean
  readonly sockets: readonly LocalSocket[]
  readonly terminal: TerminalSize | null
  readonly limits: Limits
}

/** The port of the proxy, or of the message that there is none. */
export const DEFAULT_PORT = 3128

/** From here on the kernel assigns ports itself: nobody chose them. */
export const FIRST_UNCHOSEN_PORT = 32_768

/** Whether the plan needs a channel that passes sockets out of the sandbox. */
export function handsOutSockets(plan: Pick<SandboxPlan, 'network' | 'servers' | 'reportsPorts' | 'terminal'>): boolean {
  return plan.network.kind === 'listener' || plan.servers.length > 0 || (plan.reportsPorts && plan.terminal !== null)
}

function isJudged({ path, mode }: Bind, changes: ChangePlan | null | undefined): boolean {
  return mode === 'read-write' && !changes?.free.includes(path)
}

/** Turns a request into a plan: the layout, and the init's part. */
export function planSandbox(request: SandboxRequest): SandboxPlan {
  const { baseline, facts } = request
  const layout = layOut(request)
  const { layers } = layout
  const isShown = (path: string) => isHosts(layers, path)
  const isWritable = (path: string) => layerOf(layers, path)?.mode === 'read-write'

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
  const isBelowMask = (path: string) => {
    for (const above of ancestors(path)) if (maskSet.has(above)) return true
    return false
  }
  const outermost = masks.filter((path) => !isBelowMask(path))
  const pins = new Map<string, Pin['mode']>()
  const hold = (path: string) => {
    for (const above of ancestors(path)) {
      if (layers.has(above)) break
      if (!pins.has(above)) pins.set(above, 'in-place')
    }
  }
  for (const pin of request.pins) {
    // Below a mask there is nothing.
    if (!isWritable(pin.path) || isBelowMask(pin.path)) continue
    if (pin.mode === 'read-only' || !pins.has(pin.path)) pins.set(pin.path, pin.mode)
    hold(pin.path)
  }

  // Nothing is created on the host, and where a command could put a link, Cordon would reach
  // another socket.
  const sockets = request.network === 'none' ? [] : (request.sockets ?? [])
  const served = sockets.flatMap(({ paths, links, target }): LocalSocket[] =>
    [...paths, ...links, target].some(isWritable)
      ? []
      : paths.filter((path) => !isShown(path)).map((path) => ({ path, target })),
  )
  const unserved = sockets.filter(({ target }) => !served.some((one) => one.target === target))

  const changes =
    ((request.learns || request.programs || layout.binds.some((bind) => isJudged(bind, request.changes))) &&
      request.changes) ||
    null

  const pinned = new Set(request.pinned)
  for (const path of outermost) if (pinned.has(path) && isWritable(path)) hold(path)

  return {
    argv: request.argv,
    cwd: request.cwd,
    env: request.env,
    uid: request.uid,
    gid: request.gid,
    ...layoutOf(layout, request),
    skipped: [
      ...layout.skipped,
      ...unserved.map(
        ({ paths }): SkippedPath => ({ path: paths[0]!, grant: 'socket', reason: 'in a place that commands see' }),
      ),
    ],
    masks: outermost,
    maskIdentities: request.maskIdentities ?? new Map(),
    maskFaces: request.maskFaces ?? new Map(),
    replaced: new Map([...(request.replaced ?? [])].filter(([path]) => isShown(path) && !maskSet.has(path))),
    pins: [...pins].map(([path, mode]) => ({ path, mode })).sort(byPath),
    // Without changes there is nothing to judge.
    changes,
    network:
      request.network === 'none'
        ? { kind: 'none' }
        : { kind: 'listener', port: request.port ?? DEFAULT_PORT, proxyPorts: request.proxyPorts ?? [] },
    names: request.names ?? [],
    servers: [...new Set(request.servers)].sort((a, b) => a - b),
    reportsPorts: request.reportsPorts ?? false,
    learns: request.learns ?? false,
    programs: (request.changes && request.programs) || null,
    unixSockets: request.unixSockets || changes !== null,
    sockets: served,
    terminal: request.terminal ?? null,
    limits: request.limits,
  }
}
