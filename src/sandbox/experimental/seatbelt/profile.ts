/**
 * PURE. A plan as a profile for macOS's sandbox-exec. The later of two matching rules does not
 * always win: a specific denial beats a later wider allow. So every order means the same here:
 * first denials of whole operations, then allows that name their exceptions, last denials that
 * nothing follows.
 */

import { posix } from 'node:path'
import { isInside } from '../../../files/baseline.ts'
import { isGlob } from '../../../files/glob.ts'
import { secretPlaces } from '../../../files/secret-places.ts'
import { visible } from '../../../scan/visible-text.ts'
import type { SandboxPlan } from '../../plan.ts'
import type { Violation } from '../../violation.ts'

/** What programs need of the system to start at all, read-only. */
export const SYSTEM_READS: readonly string[] = [
  '/usr',
  '/bin',
  '/sbin',
  '/System',
  // Where the shared library cache lies since macOS 13.
  '/System/Volumes/Preboot/Cryptexes',
  '/private/preboot/Cryptexes',
  '/Library/Apple',
  '/Library/Developer/CommandLineTools',
  '/Applications/Xcode.app/Contents/Developer',
  '/opt',
  '/nix',
  '/private/etc',
  '/private/var/db/dyld',
  '/private/var/db/timezone',
  '/private/var/select',
]

/** Parts of shown folders that reach everything else: the data volume lies below /System. */
const LEFT_OUT: readonly string[] = ['/System/Volumes']

/** Links of the system that paths go through; each is read as a link, and no more. */
const SYSTEM_LINKS: readonly string[] = ['/etc', '/tmp', '/var']

/** What bubblewrap makes anew in every sandbox: the host's is not shown, whatever lies above it. */
const PRIVATE: readonly string[] = ['/dev', '/private/tmp', '/private/var/tmp', '/private/var/run', '/Volumes']

const DEVICES: readonly string[] = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/dtracehelper']

/** Services for users, locales and TLS verification; none starts a program. */
const SERVICES: readonly string[] = [
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
  'com.apple.system.notification_center',
  'com.apple.system.logger',
  'com.apple.trustd.agent',
]

/** These lie outside `(deny default)`, so they are denied by name. */
const OUTSIDE_DEFAULT: readonly string[] = ['process-info*', 'nvram*', 'iokit-get-properties', 'file-map-executable']

/** A string of the profile's language. */
export function quote(text: string): string {
  if (text.includes('\0')) throw new RangeError('a path contains a NUL character, which no path can')
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
}

const subpath = (path: string): string => `(subpath ${quote(path)})`
const literal = (path: string): string => `(literal ${quote(path)})`

/** Strict ancestors of every path, the root included: each by its exact name, so that a listing of them stays denied. */
export function ancestorsOf(paths: readonly string[]): string[] {
  const found = new Set<string>()
  for (const path of paths)
    for (let at = posix.dirname(path); !found.has(at); at = posix.dirname(at)) {
      found.add(at)
      if (at === '/') break
    }
  return [...found].sort()
}

function rule(verb: 'allow' | 'deny', operations: string, filters: readonly string[]): string[] {
  return filters.length === 0 ? [] : [`(${verb} ${operations}`, ...filters.map((filter) => `  ${filter}`), ')']
}

/** A denial of these paths. Without any it is not a rule at all: one without filters would deny everything. */
function denial(operations: string, filters: readonly string[], message: string): string[] {
  return filters.length === 0 ? [] : rule('deny', operations, message === '' ? filters : [...filters, message])
}

/** Secrets among what every command is shown of the system, by the names they have behind the links of macOS. */
function systemSecrets(): string[] {
  return secretPlaces.flatMap(({ path }) => {
    if (!path.startsWith('/')) return []
    const real = /^\/(?:etc|var|tmp)\//.test(path) ? `/private${path}` : path
    if (!isGlob(real)) return [subpath(real)]
    const source = real
      .replace(/[.+^$|()[\]{}\\]/g, '\\$&')
      .replaceAll('*', '[^/]*')
      .replaceAll('?', '[^/]')
    return [`(regex #"^${source}$")`]
  })
}

/** What lies below a path, without what lies below the excluded ones. */
function below(path: string, excluded: readonly string[]): string {
  const without = excluded.filter((part) => isInside(part, path))
  if (without.length === 0) return subpath(path)
  return `(require-all ${subpath(path)} ${without.map((part) => `(require-not ${subpath(part)})`).join(' ')})`
}

/** Compiles the profile. The kernel appends the mark to its log of a refusal. */
export function compileProfile(plan: SandboxPlan, mark: RefusalMark | null = null): string {
  const message = mark === null ? '' : `(with message ${quote(mark)})`
  const system = plan.baseline === 'none' ? [] : SYSTEM_READS
  const writes = plan.binds.filter((bind) => bind.mode === 'read-write').map((bind) => bind.path)
  const hidden = [...new Set([...LEFT_OUT, ...PRIVATE, ...plan.scratch, ...plan.emptied])]
  // A shown path below something private is a separate allow, again without private paths below it.
  const around = (path: string) =>
    below(
      path,
      hidden.filter((part) => part !== path),
    )
  const reads = [...new Set([...system, ...plan.binds.map((bind) => bind.path)])]
  const readFilters = reads.map(around)
  const pinned = plan.pins.filter((pin) => pin.mode === 'read-only').map((pin) => pin.path)
  // A denial is bound to a path. Whatever can be moved takes its contents out of it, so all that lies above stays in place.
  const kept = [...plan.pins.map((pin) => pin.path), ...plan.masks]
  const inPlace = [...kept, ...ancestorsOf(kept).filter((path) => writes.some((write) => isInside(path, write)))]
  const lines = [
    '(version 1)',
    `(deny default${message && ` ${message}`})`,
    ...OUTSIDE_DEFAULT.map((operation) => `(deny ${operation})`),
    '(allow process-fork)',
    ...rule('allow', 'process-exec', readFilters),
    ...rule('allow', 'file-map-executable', readFilters),
    '(allow process-info* (target same-sandbox))',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read)',
    ...rule(
      'allow',
      'mach-lookup',
      SERVICES.map((name) => `(global-name ${quote(name)})`),
    ),
    ...rule('allow', 'file-read* file-write-data file-ioctl', DEVICES.map(literal)),
    ...rule('allow', 'file-read*', readFilters),
    ...rule(
      'allow',
      'file-read-metadata',
      [
        ...new Set([
          ...ancestorsOf([...reads, ...DEVICES, plan.cwd]),
          ...SYSTEM_LINKS,
          ...plan.links.map(({ path }) => path),
        ]),
      ].map(literal),
    ),
    ...rule('allow', 'file-write*', writes.map(around)),
    ...(plan.terminal ? rule('allow', 'file-read* file-write-data file-ioctl', [TERMINALS]) : []),
    ...network(plan, writes.map(around)),
    ...denial('file-write*', pinned.map(subpath), message),
    ...denial('file-write-unlink', [...new Set(inPlace)].sort().map(literal), message),
    ...denial(
      'file-read* file-write* process-exec file-map-executable',
      [...new Set([...systemSecrets(), ...plan.masks.map(subpath)])],
      message,
    ),
  ]
  return `${lines.join('\n')}\n`
}

/** The terminal exists already: it may be used, and no other can be opened. */
const TERMINALS = '(regex #"^/dev/(tty|ttys[0-9]+)$")'

/**
 * One way out: the loopback port of Cordon's proxy, on 127.0.0.1 and ::1 (the language knows no other word for them). Names
 * are resolved there, so DNS stays denied. No `(local ip …)` on outbound: it admits everything.
 */
function network(plan: SandboxPlan, places: readonly string[]): string[] {
  const served = plan.servers.map((port) => `(local ip ${quote(`localhost:${port}`)})`)
  return [
    ...(plan.network.kind === 'listener'
      ? rule('allow', 'network-outbound', [`(remote ip ${quote(`localhost:${plan.network.port}`)})`])
      : []),
    ...rule('allow', 'network-bind network-inbound', served),
    ...(plan.unixSockets ? rule('allow', 'network-bind network-outbound', places) : []),
  ]
}

/** Words behind every denial of one launch; no other command's refusals end with them. */
export type RefusalMark = `cordon-${string}`

/** Only refusals by Seatbelt that bear the mark; other mechanisms of the system write under the same sender. */
export function refusalPredicate(mark: RefusalMark): string {
  return `sender == "Sandbox" AND eventMessage BEGINSWITH "Sandbox: " AND eventMessage ENDSWITH "${mark}"`
}

const MAX_LINE = 16 * 1024
/** The longest path of macOS. */
const MAX_PATH = 1024
const MAX_REFUSALS = 50

const KEXT = '/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox'
/**
 * `Sandbox: cat(1234) deny(1) file-read-data /private/etc/x`, and the mark on a separate line. A
 * name contains no brackets, which could forge the rest.
 */
const REFUSAL =
  /^Sandbox: [^()\n]{1,64}\(\d{1,10}\) deny\(\d{1,3}\) (?<operation>[a-z][a-z-]{2,40}\*?) (?<subject>.+)$/s

const SAYS: readonly (readonly [operation: RegExp, says: string])[] = [
  [/^file-read-data$/, 'was not read'],
  [/^file-write-/, 'was not changed'],
  [/^process-exec/, 'was not started'],
]

/** Every program of macOS asks for these at its start, and works without them. */
const NOISE = /^\/dev\/|\/\.CFUserTextEncoding$/
const READ_NOISE =
  /^\/(?:System|usr|AppleInternal|Library\/(?:Preferences|Caches|Managed Preferences)|private\/var\/(?:db|folders|run))(?:\/|$)|\/Library\/Preferences(?:\/|$)/

/** Reads lines of `log show --style ndjson`. Whatever is not exactly a refusal of this command is left out. */
export function readRefusals(text: string, mark: RefusalMark): readonly Violation[] {
  const found = new Map<string, Violation>()
  for (const line of text.split('\n')) {
    if (found.size >= MAX_REFUSALS) break
    const violation = line.length > MAX_LINE ? null : refusalOf(messageOf(line), mark)
    if (violation !== null) found.set(violation.message, violation)
  }
  return [...found.values()]
}

/** The message of a line, if the kernel's sandbox wrote it: any program can log the same words. */
function messageOf(line: string): string {
  let entry: Readonly<Record<string, unknown>> | null
  try {
    entry = JSON.parse(line)
  } catch {
    return ''
  }
  if (entry?.processID !== 0 || entry.processImagePath !== '/kernel' || entry.senderImagePath !== KEXT) return ''
  return typeof entry.eventMessage === 'string' ? entry.eventMessage : ''
}

function refusalOf(message: string, mark: RefusalMark): Violation | null {
  const end = `\n${mark}`
  if (!message.endsWith(end)) return null
  const { operation, subject } = REFUSAL.exec(message.slice(0, -end.length))?.groups ?? {}
  if (operation === undefined || subject === undefined || subject.length > MAX_PATH) return null
  if (operation === 'network-outbound' && !subject.startsWith('/'))
    return { kind: 'call-refused', certainty: 'observed', message: `a connection to ${visible(subject)} was refused` }
  const says = SAYS.find(([of]) => of.test(operation))?.[1]
  if (says === undefined || !subject.startsWith('/') || NOISE.test(subject)) return null
  if (operation === 'file-read-data' && READ_NOISE.test(subject)) return null
  const path = visible(subject)
  return { kind: 'path-denied', certainty: 'observed', path, message: `${path} ${says}: the sandbox refused it` }
}
