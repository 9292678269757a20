/**
 * PURE. A plan as the setup message for cordon-init: what to bind, hide, pin and limit before the
 * command runs. `sandbox/protocol.ts` describes the records.
 */

import { isInside } from '../../files/baseline.ts'
import { encodePath } from '../../files/path-bytes.ts'
import type { ChangePlan } from '../changes.ts'
import { RESOURCE_NUMBERS, type ResourceLimit } from '../limits.ts'
import { DEFAULT_PORT, type MaskFace, type MaskIdentity, type SandboxPlan } from '../plan.ts'
import { NUMBERS } from '../protocol.ts'
import { pathBytes, SetupWriter, text, u16, u32, u64 } from './init-messages.ts'

/** About seven weeks: anything longer is not a limit. */
const MAX_MILLISECONDS = 0xffff_ffff

const { max, mask_flag: MASK, face_flag: FACE, place_kind: PLACE } = NUMBERS

/** Parts of /proc that show root the whole machine. Hidden as container runtimes do it. */
export const HIDDEN_PROC: readonly string[] = [
  'acpi',
  'asound',
  'dynamic_debug',
  'interrupts',
  'kcore',
  'key-users',
  'keys',
  'kallsyms',
  'kpagecgroup',
  'kpagecount',
  'kpageflags',
  'latency_stats',
  'sched_debug',
  'scsi',
  'slabinfo',
  'sysrq-trigger',
  'timer_list',
  'vmallocinfo',
].map((name) => `/proc/${name}`)

interface SetupInput {
  readonly plan: SandboxPlan
  readonly filter: Uint8Array
  readonly limits: readonly ResourceLimit[]
  /** The end of the process numbers inside; null leaves it as it is. */
  readonly processNumbers: number | null
  /** Which of stdin (1), stdout (2) and stderr (4) are the sandbox's own terminal. */
  readonly terminalFds: number
  /** True: the init waits for a word between the masks and the command. */
  readonly gate: boolean
  /** What must be at the places that bubblewrap binds. */
  readonly bound: ReadonlyMap<string, MaskIdentity>
  /** True: there are not namespaces, and what mounts would do the init does. */
  readonly bare?: boolean
}

function identityBytes({ device, inode }: MaskIdentity): Uint8Array[] {
  return [u64(device), u64(inode)]
}

function maskHead(identity: MaskIdentity | undefined, flags: number): Uint8Array[] {
  return identity ? [Uint8Array.of(flags | MASK.EXACT), ...identityBytes(identity)] : [Uint8Array.of(flags)]
}

function faceBytes(face: MaskFace): Uint8Array {
  if (face.kind === 'closed') return Uint8Array.of(FACE.CLOSED)
  const bytes = new Uint8Array(1 + face.bytes.length)
  bytes[0] = face.executable ? FACE.EXECUTABLE : 0
  bytes.set(face.bytes, 1)
  return bytes
}

/**
 * Compiles the setup message. Masks of the plan are numbered first, so that a reported index is an
 * index into `plan.masks`.
 */
export function compileSetupMessage({
  plan,
  filter,
  limits,
  processNumbers,
  terminalFds,
  gate,
  bound,
  bare = false,
}: SetupInput): Uint8Array {
  const writer = new SetupWriter()
  for (const argument of plan.argv) writer.record('argument', text(argument, 'an argument'))
  for (const [name, value] of Object.entries(plan.env)) {
    if (name === '' || name.includes('=')) throw new RangeError(`${JSON.stringify(name)} is not a variable name`)
    writer.record('environment', text(`${name}=${value}`, `the variable ${name}`))
  }
  writer.record('directory', pathBytes(plan.cwd))

  for (const [path, identity] of bound) writer.record('bound', ...identityBytes(identity), pathBytes(path))
  // Parents before children: later binds cover earlier ones.
  const places = [
    ...plan.pins.map((pin) => ({
      path: pin.path,
      mask: false,
      head: [Uint8Array.of(pin.mode === 'read-only' ? NUMBERS.pin_flag.READONLY : 0)],
    })),
    ...plan.masks.map((path) => {
      // Reading committed content needs no report, and a failing open cannot be seen.
      const flags = plan.maskFaces.has(path) ? MASK.UNWATCHED : 0
      return { path, mask: true, head: maskHead(plan.maskIdentities.get(path), flags) }
    }),
  ].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : Number(a.mask) - Number(b.mask)))
  for (const place of places) {
    writer.record(place.mask ? 'mask' : 'pin', ...place.head, pathBytes(place.path))
    const face = place.mask ? plan.maskFaces.get(place.path) : undefined
    if (face) writer.record('face', faceBytes(face))
  }
  for (const [path, face] of plan.replaced) {
    writer.record('mask', ...maskHead(plan.maskIdentities.get(path), MASK.OPTIONAL | MASK.UNWATCHED), pathBytes(path))
    writer.record('face', faceBytes(face))
  }
  for (const path of HIDDEN_PROC) writer.record('mask', Uint8Array.of(MASK.OPTIONAL | MASK.UNWATCHED), pathBytes(path))

  if (plan.changes) writeChanges(writer, plan, plan.changes, bare)
  if (bare) writeWall(writer, plan)
  if (plan.learns) writeLearning(writer, plan)
  if (plan.programs)
    writer.record('programs', ...plan.programs.lines.map((line) => text(line, 'a line about programs')))

  // The whole of /proc: to root started here, every file in it that belongs to root is the host's.
  if (!bare) {
    writer.record('readOnly', Uint8Array.of(1), pathBytes('/proc'))
    writer.record('readOnly', Uint8Array.of(0), pathBytes('/dev'))
    writer.record('readOnly', Uint8Array.of(0), pathBytes('/'))
  }
  for (const { name, limit } of limits)
    writer.record('limit', u32(RESOURCE_NUMBERS[name]), u64(BigInt(Math.floor(limit))))
  const { memoryBytes, memoryShare } = plan.limits
  if (memoryBytes === undefined && memoryShare !== undefined)
    writer.record('memory', u32(Math.min(1000, Math.max(1, Math.round(memoryShare * 1000)))))
  if (processNumbers !== null) writer.record('processNumbers', u32(processNumbers))
  writer.record('ids', u32(plan.uid), u32(plan.gid))
  if (terminalFds) {
    const { rows, columns } = plan.terminal ?? { rows: 24, columns: 80 }
    writer.record('terminal', Uint8Array.of(terminalFds), u16(rows), u16(columns))
  }
  if (plan.network.kind === 'listener') {
    writer.record('listener', u16(plan.network.port))
  }
  if (!bare) writeNames(writer, plan)
  if (plan.limits.timeoutMs !== undefined && plan.limits.timeoutMs <= MAX_MILLISECONDS)
    writer.record('time', u32(Math.max(1, Math.ceil(plan.limits.timeoutMs))))
  if (plan.servers.length > 0) writer.record('servers', ...serverPorts(plan))
  if (plan.sockets.length > max.SOCKETS)
    throw new RangeError(
      `${plan.sockets.length} paths of unix sockets are granted, at most ${max.SOCKETS} are possible`,
    )
  for (const { path } of plan.sockets) writer.record('socket', pathBytes(path))
  if (plan.reportsPorts) writer.record('anyPort')
  if (!bare && plan.env.HOME !== undefined && plan.scratch.includes(plan.env.HOME))
    writer.record('home', pathBytes(plan.env.HOME))
  if (gate) writer.record('gate')
  writer.record('seccomp', filter)
  return writer.finish()
}

const MUST = {
  nothing: NUMBERS.must.NOTHING,
  'but-appends': NUMBERS.must.BUT_APPENDS,
  everything: NUMBERS.must.EVERYTHING,
} as const

/** Which changes go through the init, its rules, and the folder for undo. */
function writeChanges(
  writer: SetupWriter,
  plan: SandboxPlan,
  { rules, gitKeys, keep, free }: ChangePlan,
  bare: boolean,
): void {
  const place = (kind: number, path: string) => writer.record('place', Uint8Array.of(kind), pathBytes(path))
  const writable = plan.binds.filter(({ mode }) => mode === 'read-write').map(({ path }) => path)
  const roots = writable.filter((path) => !free.includes(path))
  for (const path of bare ? [] : ['/dev', '/proc', ...plan.scratch])
    place(writable.some((one) => isInside(one, path)) ? PLACE.LOOSE : PLACE.FREE, path)
  // Stores of packages share their files with other projects, by hard links.
  for (const path of writable.filter((one) => free.includes(one))) place(PLACE.LOOSE, path)
  for (const path of roots) place(PLACE.ROOT, path)
  for (const part of rules) if (part !== '') writer.record('rules', encodePath(part))
  if (gitKeys !== '') writer.record('gitKeys', new TextEncoder().encode(gitKeys))
  if (!keep) return
  const limits = [u64(BigInt(keep.fileBytes)), u64(BigInt(keep.totalBytes)), Uint8Array.of(MUST[keep.must])]
  writer.record('keep', ...limits, pathBytes(keep.folder))
}

/**
 * Shown paths may be read and run, nothing else; private places inside them are hidden, because
 * nothing can be mounted there.
 */
function writeWall(writer: SetupWriter, { binds, scratch, emptied }: SandboxPlan): void {
  if (binds.length === 0)
    throw new RangeError('a command that is shown nothing can only run where there are namespaces')
  for (const { path } of binds) writer.record('wall', pathBytes(path))
  for (const path of [...scratch, ...emptied]) {
    if (!binds.some((bind) => isInside(path, bind.path))) continue
    if (binds.some((bind) => bind.path !== path && isInside(bind.path, path)))
      throw new RangeError(
        `${path} lies in a shown folder, contains a shown path, and can be private only with namespaces`,
      )
    writer.record('mask', Uint8Array.of(MASK.OPTIONAL | MASK.UNWATCHED), pathBytes(path))
  }
}

/** A bound path has the same content as outside, so a path missing in it is missing. */
function writeLearning(writer: SetupWriter, { binds, changes }: SandboxPlan): void {
  if (!changes) throw new RangeError('reads can be reported only where changes go through the init')
  writer.record('learn', ...['/proc', '/dev', '/sys', ...binds.map(({ path }) => path)].map(pathBytes))
}

/**
 * The name service always answers, and so does the proxy's port: the parent, or the init, which
 * reports that there is no proxy.
 */
function writeNames(writer: SetupWriter, { network, names, servers }: SandboxPlan): void {
  const refused = network.kind === 'none' && !servers.includes(DEFAULT_PORT) ? DEFAULT_PORT : 0
  writer.record('names', u16(refused))
  for (const { name, address } of names) writer.record('name', u32(addressNumber(address)), text(name, 'a name'))
  if (network.kind === 'none') return
  for (const { address, port } of network.proxyPorts)
    writer.record('proxyPort', u32(address === null ? 0 : addressNumber(address)), u16(port))
}

function addressNumber(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
}

function serverPorts({ servers, network }: SandboxPlan): Uint8Array[] {
  if (servers.length > max.SERVERS)
    throw new RangeError(`dev_server_ports contains ${servers.length} ports, at most ${max.SERVERS} are possible`)
  const taken = network.kind === 'listener' ? [network.port, ...network.proxyPorts.map((broker) => broker.port)] : []
  const both = servers.find((port) => taken.includes(port))
  if (both !== undefined)
    throw new RangeError(
      `dev_server_ports contains ${both}, which the proxy uses inside the sandbox: let the server use another port`,
    )
  return servers.map(u16)
}
